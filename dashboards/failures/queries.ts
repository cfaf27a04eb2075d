import { STAGES } from '../../schemas/dictionary.ts';
import { isKnown, ratio, sqlText } from '../../schemas/measures.ts';
import { microsOfItem, outcomeOfDecision, timeOfMicros } from '../../schemas/order-quarters.ts';
import { CHOSEN_FAILURES, REASON, WITH_WATERMARKS, bucket } from '../house/filters.ts';
import {
  anyFailure,
  chosenQuarters,
  DETAIL_OF_CODE,
  failures,
  GROUP_OF_CODE,
  ORDERS,
  QUARTERS,
  quartersAndFailures,
  WHERE_AND_WHY,
} from '../house/quarters.ts';

/**
 * SQL about failing items: operation failed (C=2) or payment failed (B=4). n is always a count of distinct
 * orders.
 */

/** share 0..1 of orders with a chosen failing item, failing_orders, seen_orders. One row. */
export const FAILING_SHARE_SQL = `SELECT ${ratio('failing_orders', 'seen_orders')} AS share, countIf(failing) AS failing_orders, count() AS seen_orders
FROM
(
  SELECT max(${anyFailure(`(${CHOSEN_FAILURES})`)}) AS failing
  FROM ${QUARTERS}
  GROUP BY order_number
)`;

/** time, reason (`11 TIMEOUT`), orders. */
export const FAILURES_BY_REASON_SQL = `SELECT ${bucket('event_time')} AS time, concat(${REASON}, ' ', ${DETAIL_OF_CODE}) AS reason, ${ORDERS} AS orders
FROM ${failures('event_time', ...WHERE_AND_WHY)}
WHERE ${CHOSEN_FAILURES}
GROUP BY time, reason_code
ORDER BY time, reason`;

/** reason_group, reason (two digits), one column of orders a stage, orders in all. Most frequent first. */
export const FAILURES_BY_STAGE_AND_REASON_SQL = `SELECT ${GROUP_OF_CODE} AS reason_group, ${REASON} AS reason,
  ${STAGES.map(({ name }) => `uniqExactIf(order_number, stage = ${sqlText(name)}) AS ${name}`).join(',\n  ')},
  ${ORDERS} AS orders
FROM ${failures(...WHERE_AND_WHY)}
WHERE ${CHOSEN_FAILURES}
GROUP BY reason_code
ORDER BY orders DESC, reason
LIMIT 50`;

/** The same window of a week before, cut where today's is cut, so that like is compared with like. */
const WEEK = 'INTERVAL 7 DAY';
const LAST_WEEK = chosenQuarters(`$__fromTime - ${WEEK}`, `$__toTime - ${WEEK}`);
const isKnownLastWeek = (time: string): string => isKnown(`${time} + ${WEEK}`);

/** What orders of a window count as: seen, or with a chosen failing item of a code, or nothing. */
const SEEN = 512;
const CHOSEN = 256;

/**
 * Orders of a window by what they count as: each quarter of an order counts as seen and as what its failing
 * items say, so that one reading tells both.
 */
const ordersIn = (quarters: string, then: 0 | 1, where: string, until: string): string =>
  `SELECT ${then} AS then, counted, ${ORDERS} AS n
  FROM
  (
    SELECT order_number, arrayJoin(arrayPushFront(
      arrayDistinct(arrayMap((event_time, stage, reason_group, reason_code) -> if(${CHOSEN_FAILURES}${until}, toUInt16(${CHOSEN} + reason_code), toUInt16(0)), failures.at, failures.stage, failures.reason_group, failures.reason_code)),
      toUInt16(${SEEN}))) AS counted
    FROM ${quarters}${where}
  )
  GROUP BY counted`;
const seenWhen = (then: 0 | 1): string => `max(if(counted = ${SEEN}, sumIf(n, then = ${then}), 0)) OVER ()`;

/**
 * reason_group, reason, orders and share 0..1 of the orders seen, the same of the window a week before,
 * change of the share, orders seen then and now. Greatest rise first.
 */
export const REASONS_AGAINST_LAST_WEEK_SQL = `${WITH_WATERMARKS}
SELECT ${GROUP_OF_CODE} AS reason_group, ${REASON} AS reason, orders, ${ratio('orders', 'seen')} AS share,
  orders_last_week, ${ratio('orders_last_week', 'seen_then')} AS share_last_week,
  share - share_last_week AS change, seen AS seen_orders, seen_then AS seen_orders_last_week
FROM
(
  SELECT counted, bitAnd(counted, 255) AS reason_code, sumIf(n, then = 0) AS orders, sumIf(n, then = 1) AS orders_last_week,
    ${seenWhen(0)} AS seen, ${seenWhen(1)} AS seen_then
  FROM
  (
    ${ordersIn(QUARTERS, 0, '', '')}
    UNION ALL
    ${ordersIn(LAST_WEEK, 1, ` WHERE ${isKnownLastWeek(timeOfMicros(microsOfItem('items[1]')))}`, ` AND ${isKnownLastWeek('event_time')}`)}
  )
  GROUP BY counted
)
WHERE bitAnd(counted, ${CHOSEN}) != 0
ORDER BY ifNull(change, share) DESC, orders DESC, reason
LIMIT 30`;

/**
 * code, code_format, first_seen_at, last_seen_at, orders, example_order, gateway, order_type. Newest first.
 */
export const UNKNOWN_CODES_SQL = `SELECT code, format, min(at) AS first_seen_at, max(at) AS last_seen_at,
  ${ORDERS} AS orders, newest.1 AS example_order, newest.2 AS gateway, newest.3 AS order_type
FROM
(
  SELECT code, format, at, order_number, argMax((external_id, gateway, order_type), (at, external_id)) OVER (PARTITION BY code, format) AS newest
  FROM
  (
    SELECT item.action AS code, item.code_format AS format, item.at AS at, order_number, external_id, toString(gateway) AS gateway, toString(order_type) AS order_type
    FROM ${QUARTERS}
    ARRAY JOIN unknown AS item
  )
)
GROUP BY code, format, newest
ORDER BY first_seen_at DESC, code
LIMIT 50`;

/** Those that failed last, found by numbers; texts are read of them alone. */
const FAILED_LAST = `SELECT order_number, max(event_time) AS newest
  FROM ${failures('event_time', ...WHERE_AND_WHY)}
  WHERE ${CHOSEN_FAILURES}
  GROUP BY order_number
  ORDER BY newest DESC
  LIMIT 100 WITH TIES`;
const IS_CHOSEN = `is_failure AND (${CHOSEN_FAILURES})`;

/**
 * Orders with a chosen failing item: last_failure_at, order_id, gateway, order_type, channel, last_code,
 * failures, outcome.
 */
export const FAILED_ORDERS_SQL = `SELECT last_failure_at, order_id, of_gateway AS gateway, of_type AS order_type, of_channel AS channel, last_code, failures,
  if(last_decision = 0, 'pending', ${outcomeOfDecision('last_decision')}) AS outcome
FROM
(
  SELECT any(external_id) AS order_id, any(toString(gateway)) AS of_gateway, any(toString(order_type)) AS of_type, max(toString(channel)) AS of_channel, max(decision) AS last_decision,
    maxIf(event_time, ${IS_CHOSEN}) AS last_failure_at, argMaxIf(action, (event_time, list_position, action), ${IS_CHOSEN}) AS last_code,
    uniqExactIf((event_time, list_position, action), ${IS_CHOSEN}) AS failures
  FROM ${quartersAndFailures('event_time', 'action', 'list_position', ...WHERE_AND_WHY)}
  WHERE order_number IN (SELECT order_number FROM (${FAILED_LAST}))
  GROUP BY order_number
)
ORDER BY last_failure_at DESC, order_id
LIMIT 100`;
