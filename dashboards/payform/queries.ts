import { sqlList, sqlText, ratio, ORDER_KEY } from '../../schemas/measures.ts';
import { CONFIRM_FAILURE_CODES, FORM_EXITS, FORM_STEPS, type FormStep } from '../../schemas/payform.ts';
import { bucket, END, WITH_WATERMARKS } from '../house/filters.ts';
import { ordersBy } from '../house/orders.ts';

/**
 * SQL about payers on the payment form, of orders that first came there within the range. n is always a count
 * of orders.
 */

const ON_FORM = ordersBy('form_shown_at');
const STEPS = FORM_STEPS.map(({ step }) => step);
/** Whether an order reached a step: its furthest one is that or a later one. */
const reached = (step: FormStep): string => `furthest_step IN (${sqlList(STEPS.slice(STEPS.indexOf(step)))})`;
const SUBMITTED = reached('submitted');
/** Whether an order has one of these codes. */
const hasAny = (codes: readonly string[]): string => `hasAny(history.action, [${sqlList(codes)}])`;
const EXIT_CODES = FORM_EXITS.map(({ code }) => code);
/** SQL of an exit in words. */
const labelOf = (code: string): string =>
  `transform(${code}, [${sqlList(EXIT_CODES)}], [${sqlList(FORM_EXITS.map(({ label }) => label))}])`;

/** step, orders: one row a step, in the funnel's order. */
export const FUNNEL_SQL = `${WITH_WATERMARKS}
SELECT step, orders
FROM
(
  SELECT [${STEPS.map((step) => `countIf(${reached(step)})`).join(', ')}] AS counts
  FROM ${ON_FORM}
)
ARRAY JOIN [${sqlList(STEPS)}] AS step, counts AS orders
LIMIT 10`;

/** submitted_share 0..1 of the orders on the form, form_orders. One row. */
export const SUBMITTED_SQL = `${WITH_WATERMARKS}
SELECT ${ratio(`countIf(${SUBMITTED})`, 'count()')} AS submitted_share, count() AS form_orders
FROM ${ON_FORM}`;

/** confirm_failure_share 0..1 of the submitted orders, submitted_orders. One row. */
export const CONFIRM_FAILURES_SQL = `${WITH_WATERMARKS}
SELECT ${ratio(`countIf(${SUBMITTED} AND ${hasAny(CONFIRM_FAILURE_CODES)})`, 'submitted_orders')} AS confirm_failure_share, countIf(${SUBMITTED}) AS submitted_orders
FROM ${ON_FORM}`;

/** cancelled_share 0..1 of the orders on the form, form_orders. One row. */
export const CANCELLED_SQL = `${WITH_WATERMARKS}
SELECT ${ratio(`countIf(has(history.action, '3.0.4.54'))`, 'count()')} AS cancelled_share, count() AS form_orders
FROM ${ON_FORM}`;

/** Who neither submitted nor left may still be typing for so long. */
const TIME_TO_SUBMIT = 'INTERVAL 30 MINUTE';
const HAD_THE_TIME = `(${SUBMITTED} OR ${hasAny(EXIT_CODES)} OR form_shown_at < ${END} - ${TIME_TO_SUBMIT})`;

/**
 * time (first on the form), submitted_share 0..1 of the orders that were submitted, left or had half an hour,
 * form_orders: all.
 */
export const SUBMITTED_OVER_TIME_SQL = `${WITH_WATERMARKS}
SELECT ${bucket('assumeNotNull(form_shown_at)')} AS time, ${ratio(`countIf(${SUBMITTED})`, `countIf(${HAD_THE_TIME})`)} AS submitted_share, count() AS form_orders
FROM ${ON_FORM}
GROUP BY time
ORDER BY time`;

/** time (first on the form), exit (in words), orders. */
export const EXITS_SQL = `${WITH_WATERMARKS}
SELECT ${bucket('assumeNotNull(form_shown_at)')} AS time, ${labelOf('code')} AS exit, countIf(has(history.action, code)) AS orders
FROM
(
  SELECT form_shown_at, history.action, arrayJoin([${sqlList(EXIT_CODES)}]) AS code
  FROM ${ON_FORM}
)
GROUP BY time, exit
HAVING orders > 0
ORDER BY time, exit`;

/** time (first on the form), p50 and p95 seconds from there to the click on submit, submitted_orders. */
export const TIME_ON_FORM_SQL = `${WITH_WATERMARKS}
SELECT ${bucket('on_form_at')} AS time, quantileExact(0.5)(seconds) AS p50, quantileExact(0.95)(seconds) AS p95, count() AS submitted_orders
FROM
(
  SELECT assumeNotNull(form_shown_at) AS on_form_at, dateDiff('microsecond', on_form_at, assumeNotNull(form_submitted_at)) / 1000000 AS seconds
  FROM ${ON_FORM}
    AND form_submitted_at IS NOT NULL
)
GROUP BY time
ORDER BY time`;

/** exited orders, newest first: on_form_at, order_id, gateway, order_type, reached (step), exits. */
export const EXITED_ORDERS_SQL = `${WITH_WATERMARKS}
SELECT assumeNotNull(form_shown_at) AS on_form_at, external_id AS order_id, toString(gateway) AS gateway, toString(order_type) AS order_type, toString(furthest_step) AS last_step,
  arrayStringConcat(arrayMap(code -> ${labelOf('code')}, arrayFilter(code -> has(history.action, code), [${EXIT_CODES.map(sqlText).toSorted().join(', ')}])), ', ') AS what_happened
FROM ${ON_FORM}
  AND ${hasAny(EXIT_CODES)}
ORDER BY on_form_at DESC, ${ORDER_KEY}
LIMIT 100`;
