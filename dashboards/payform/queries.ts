import { ORDER_KEY, ratio, sqlText } from '../../schemas/measures.ts';
import {
  CONFIRM_FAILURE_CODES,
  FORM_EXITS,
  FORM_STEPS,
  formOrders,
  formStepNumber,
} from '../../schemas/payform.ts';
import { ITEMS, WITH_WATERMARKS, bucket } from '../house/filters.ts';

/** SQL about payers on the payment form. n is always a count of distinct orders. */

const ON_FORM = formOrders(ITEMS);
const SUBMITTED = `reached >= ${formStepNumber('submitted')}`;
const CONFIRM_FAILED = `hasAny(exits, [${CONFIRM_FAILURE_CODES.map(sqlText).join(', ')}])`;

/** step, orders: one row a step, in the funnel's order. */
export const FUNNEL_SQL = `${WITH_WATERMARKS}
SELECT step, orders
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
export const SUBMITTED_SQL = `${WITH_WATERMARKS}
SELECT ${ratio(`countIf(${SUBMITTED})`, 'count()')} AS submitted_share, count() AS form_orders
FROM
(
  ${ON_FORM}
)`;

/** confirm_failure_share 0..1 of the submitted orders, submitted_orders. One row. */
export const CONFIRM_FAILURES_SQL = `${WITH_WATERMARKS}
SELECT ${ratio(`countIf(${SUBMITTED} AND ${CONFIRM_FAILED})`, `countIf(${SUBMITTED})`)} AS confirm_failure_share, countIf(${SUBMITTED}) AS submitted_orders
FROM
(
  ${ON_FORM}
)`;

/** cancelled_share 0..1 of the orders on the form, form_orders. One row. */
export const CANCELLED_SQL = `${WITH_WATERMARKS}
SELECT ${ratio(`countIf(has(exits, '3.0.4.54'))`, 'count()')} AS cancelled_share, count() AS form_orders
FROM
(
  ${ON_FORM}
)`;

/** time (first on the form), submitted_share 0..1, form_orders. */
export const SUBMITTED_OVER_TIME_SQL = `${WITH_WATERMARKS}
SELECT ${bucket('on_form_at')} AS time, ${ratio(`countIf(${SUBMITTED})`, 'count()')} AS submitted_share, count() AS form_orders
FROM
(
  ${ON_FORM}
)
GROUP BY time
ORDER BY time`;

/** time (first on the form), exit (in words), orders. */
export const EXITS_SQL = `${WITH_WATERMARKS}
SELECT time, transform(code, [${FORM_EXITS.map(({ code }) => sqlText(code)).join(', ')}], [${FORM_EXITS.map(({ label }) => sqlText(label)).join(', ')}], code) AS exit, count() AS orders
FROM
(
  SELECT ${bucket('on_form_at')} AS time, arrayJoin(exits) AS code
  FROM
  (
    ${ON_FORM}
  )
)
GROUP BY time, exit
ORDER BY time, exit`;

/** time (first on the form), p50 and p95 seconds from there to the click on submit, submitted_orders. */
export const TIME_ON_FORM_SQL = `${WITH_WATERMARKS}
SELECT ${bucket('on_form_at')} AS time, quantileExact(0.5)(seconds) AS p50, quantileExact(0.95)(seconds) AS p95, count() AS submitted_orders
FROM
(
  SELECT on_form_at, dateDiff('microsecond', on_form_at, assumeNotNull(submitted_at)) / 1000000 AS seconds
  FROM
  (
    ${ON_FORM}
  )
  WHERE submitted_at IS NOT NULL
)
GROUP BY time
ORDER BY time`;

/** exited orders, newest first: on_form_at, order_id, gateway, order_type, reached (step), exits. */
export const EXITED_ORDERS_SQL = `${WITH_WATERMARKS}
SELECT on_form_at, external_id AS order_id, toString(gateway) AS gateway, toString(order_type) AS order_type,
  transform(reached, [${FORM_STEPS.map((_, index) => index + 1).join(', ')}], [${FORM_STEPS.map(({ step }) => sqlText(step)).join(', ')}], '') AS last_step,
  arrayStringConcat(arrayMap(code -> transform(code, [${FORM_EXITS.map(({ code }) => sqlText(code)).join(', ')}], [${FORM_EXITS.map(({ label }) => sqlText(label)).join(', ')}], code), arraySort(exits)), ', ') AS what_happened
FROM
(
  ${ON_FORM}
)
WHERE notEmpty(exits)
ORDER BY on_form_at DESC, ${ORDER_KEY}
LIMIT 100`;
