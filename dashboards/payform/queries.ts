import { ORDER_KEY, ratio, sqlText } from '../../schemas/measures.ts';
import { CONFIRM_FAILURE_CODES, FORM_EXITS, FORM_STEPS, formStepNumber } from '../../schemas/payform.ts';
import { timeOfMicros } from '../../schemas/order-quarters.ts';
import { bucket, END } from '../house/filters.ts';
import { QUARTERS } from '../house/quarters.ts';

/** SQL about payers on the payment form. n is always a count of distinct orders. */

/**
 * One row per order that was on the payment form in the range: gateway, order_type, external_id, on_form_at
 * (its first item of the form in the range), submitted_at (0 when not, microseconds), reached (number of the
 * last step), bits and exits (of FORM_EXITS: a bit each, and their codes). Any item of the form shows that it
 * was presented, whichever code the flow leaves out. @param where orders
 */
const onForm = (
  where: string,
): string => `SELECT any(q.gateway) AS gateway, any(q.order_type) AS order_type, any(q.external_id) AS external_id,
    ${timeOfMicros('first_on_form')} AS on_form_at, minIf(form_at, form_at > 0) AS first_on_form,
    minIf(q.submitted_at, q.submitted_at > 0) AS submitted_at, max(form_step) AS reached, groupBitOr(form_exits) AS bits,
    arrayFilter((code, bit) -> bitTest(bits, bit), [${FORM_EXITS.map(({ code }) => sqlText(code)).join(', ')}], [${FORM_EXITS.map((_, index) => index).join(', ')}]) AS exits
  FROM ${QUARTERS} AS q
  ${where}
  GROUP BY order_number
  HAVING first_on_form > 0`;
const ON_FORM = onForm('');
const SUBMITTED = `reached >= ${formStepNumber('submitted')}`;
/** Whether an order has one of these exits: of millions of orders the bits are asked, not the codes. */
const left = (...codes: readonly string[]): string =>
  `bitAnd(bits, ${FORM_EXITS.reduce((bits, { code }, index) => (codes.includes(code) ? bits | (1 << index) : bits), 0)}) != 0`;
const CONFIRM_FAILED = left(...CONFIRM_FAILURE_CODES);

/** step, orders: one row a step, in the funnel's order. */
export const FUNNEL_SQL = `SELECT step, orders
FROM
(
  SELECT arrayJoin([${FORM_STEPS.map(({ step }, index) => `(${index + 1}, ${sqlText(step)})`).join(', ')}]) AS named, named.1 AS number, named.2 AS step,
    arraySum(arrayMap((reached, n) -> if(reached >= number, n, 0), counts.1, counts.2)) AS orders
  FROM
  (
    SELECT (groupArray(reached), groupArray(n)) AS counts FROM (SELECT toUInt64(reached) AS reached, count() AS n FROM (${ON_FORM}) GROUP BY reached)
  )
)
ORDER BY number
LIMIT 10`;

/** submitted_share 0..1 of the orders on the form, form_orders. One row. */
export const SUBMITTED_SQL = `SELECT ${ratio(`countIf(${SUBMITTED})`, 'count()')} AS submitted_share, count() AS form_orders
FROM
(
  ${ON_FORM}
)`;

/** confirm_failure_share 0..1 of the submitted orders, submitted_orders. One row. */
export const CONFIRM_FAILURES_SQL = `SELECT ${ratio(`countIf(${SUBMITTED} AND ${CONFIRM_FAILED})`, `countIf(${SUBMITTED})`)} AS confirm_failure_share, countIf(${SUBMITTED}) AS submitted_orders
FROM
(
  ${ON_FORM}
)`;

/** cancelled_share 0..1 of the orders on the form, form_orders. One row. */
export const CANCELLED_SQL = `SELECT ${ratio(`countIf(${left('3.0.4.54')})`, 'count()')} AS cancelled_share, count() AS form_orders
FROM
(
  ${ON_FORM}
)`;

/** Who neither submitted nor left may still be typing for so long. */
const TIME_TO_SUBMIT = 'INTERVAL 30 MINUTE';
const HAD_THE_TIME = `(${SUBMITTED} OR bits != 0 OR on_form_at < ${END} - ${TIME_TO_SUBMIT})`;

/**
 * time (first on the form), submitted_share 0..1 of the orders that were submitted, left or had half an hour,
 * form_orders: all.
 */
export const SUBMITTED_OVER_TIME_SQL = `SELECT ${bucket('on_form_at')} AS time, ${ratio(`countIf(${SUBMITTED})`, `countIf(${HAD_THE_TIME})`)} AS submitted_share, count() AS form_orders
FROM
(
  ${ON_FORM}
)
GROUP BY time
ORDER BY time`;

/** time (first on the form), exit (in words), orders. */
export const EXITS_SQL = `SELECT time, transform(code, [${FORM_EXITS.map(({ code }) => sqlText(code)).join(', ')}], [${FORM_EXITS.map(({ label }) => sqlText(label)).join(', ')}], code) AS exit, count() AS orders
FROM
(
  SELECT ${bucket('on_form_at')} AS time, arrayJoin(exits) AS code
  FROM
  (
    ${ON_FORM} AND bits != 0
  )
)
GROUP BY time, exit
ORDER BY time, exit`;

/** time (first on the form), p50 and p95 seconds from there to the click on submit, submitted_orders. */
export const TIME_ON_FORM_SQL = `SELECT ${bucket('on_form_at')} AS time, quantileExact(0.5)(seconds) AS p50, quantileExact(0.95)(seconds) AS p95, count() AS submitted_orders
FROM
(
  SELECT on_form_at, (toInt64(submitted_at) - toInt64(first_on_form)) / 1000000 AS seconds
  FROM
  (
    ${ON_FORM}
  )
  WHERE submitted_at > 0
)
GROUP BY time
ORDER BY time`;

/** Those that came last onto the form, found by numbers; texts are read of them alone. */
const EXITED_LAST = `SELECT order_number, minIf(form_at, form_at > 0) AS first_on_form
  FROM ${QUARTERS}
  GROUP BY order_number
  HAVING first_on_form > 0 AND groupBitOr(form_exits) != 0
  ORDER BY first_on_form DESC
  LIMIT 100 WITH TIES`;

/** exited orders, newest first: on_form_at, order_id, gateway, order_type, reached (step), exits. */
export const EXITED_ORDERS_SQL = `SELECT on_form_at, external_id AS order_id, toString(gateway) AS gateway, toString(order_type) AS order_type,
  transform(reached, [${FORM_STEPS.map((_, index) => index + 1).join(', ')}], [${FORM_STEPS.map(({ step }) => sqlText(step)).join(', ')}], '') AS last_step,
  arrayStringConcat(arrayMap(code -> transform(code, [${FORM_EXITS.map(({ code }) => sqlText(code)).join(', ')}], [${FORM_EXITS.map(({ label }) => sqlText(label)).join(', ')}], code), arraySort(exits)), ', ') AS what_happened
FROM
(
  ${onForm(`WHERE order_number IN (SELECT order_number FROM (${EXITED_LAST}))`)}
)
ORDER BY on_form_at DESC, ${ORDER_KEY}
LIMIT 100`;
