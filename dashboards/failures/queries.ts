import { STAGES } from '../../schemas/dictionary.ts';
import {
  detailOfReason,
  DISTINCT_ORDERS,
  FAILING,
  groupOfReason,
  ORDER_KEY,
  ratio,
  sqlText,
  UNKNOWN_CODE,
  view,
} from '../../schemas/measures.ts';
import { bucket, CHOSEN_FAILURES, ITEMS, REASON, WITH_WATERMARKS } from '../house/filters.ts';
import {
  FAILURES,
  FAILURES_LAST_WEEK,
  ITEMS_OF_ORDERS,
  ORDERS,
  ordersIf,
  SEEN_LAST_WEEK,
  SEEN_ORDERS,
} from '../house/orders.ts';

/**
 * SQL about failing items: operation failed (C=2) or payment failed (B=4). n is always a count of distinct
 * orders.
 */

const GROUP = groupOfReason('reason_code');

/** share 0..1 of orders with a chosen failing item, failing_orders, seen_orders. One row. */
export const FAILING_SHARE_SQL = `${WITH_WATERMARKS}
SELECT ${ratio('failing_orders', 'seen_orders')} AS share, ${ordersIf(`${FAILING} AND ${CHOSEN_FAILURES}`)} AS failing_orders, ${ORDERS} AS seen_orders
FROM ${ITEMS_OF_ORDERS}`;

/** time, reason (`11 TIMEOUT`), orders. */
export const FAILURES_BY_REASON_SQL = `${WITH_WATERMARKS}
SELECT ${bucket('event_time')} AS time, concat(${REASON}, ' ', ${detailOfReason('reason_code')}) AS reason, ${ORDERS} AS orders
FROM ${FAILURES} AND ${CHOSEN_FAILURES}
GROUP BY time, reason_code
ORDER BY time, reason`;

/** reason_group, reason (two digits), one column of orders a stage, orders in all. Most frequent first. */
export const FAILURES_BY_STAGE_AND_REASON_SQL = `${WITH_WATERMARKS}
SELECT ${GROUP} AS reason_group, ${REASON} AS reason,
  ${STAGES.map(({ name }) => `${ordersIf(`stage = ${sqlText(name)}`)} AS ${name}`).join(',\n  ')},
  ${ORDERS} AS orders
FROM ${FAILURES} AND ${CHOSEN_FAILURES}
GROUP BY reason_code
ORDER BY orders DESC, reason
LIMIT 50`;

/** Orders by the reason of a chosen failing item. @param columns one of two weeks, 0 for the other */
const byReason = (failures: string, columns: string): string => `SELECT reason_code, ${columns}
  FROM ${failures} AND ${CHOSEN_FAILURES}
  GROUP BY reason_code`;

/**
 * reason_group, reason, orders and share 0..1 of the orders seen, the same of the window a week before,
 * change of the share, orders seen then and now. Greatest rise first.
 */
export const REASONS_AGAINST_LAST_WEEK_SQL = `${WITH_WATERMARKS},
  (SELECT count() FROM ${SEEN_ORDERS}) AS seen_orders,
  (SELECT count() FROM ${SEEN_LAST_WEEK}) AS seen_orders_last_week
SELECT ${GROUP} AS reason_group, ${REASON} AS reason, sum(this_week) AS orders, ${ratio('orders', 'seen_orders')} AS share,
  sum(last_week) AS orders_last_week, ${ratio('orders_last_week', 'seen_orders_last_week')} AS share_last_week,
  share - share_last_week AS change, seen_orders, seen_orders_last_week
FROM
(
  ${byReason(FAILURES, `${ORDERS} AS this_week, 0 AS last_week`)}
  UNION ALL
  ${byReason(FAILURES_LAST_WEEK, `0 AS this_week, ${ORDERS} AS last_week`)}
)
GROUP BY reason_code
ORDER BY ifNull(change, share) DESC, orders DESC, reason
LIMIT 30`;

/**
 * code, code_format, first_seen_at, last_seen_at, orders, example_order, gateway, order_type. Newest first.
 */
export const UNKNOWN_CODES_SQL = `${WITH_WATERMARKS}
SELECT code, format, first_seen_at, last_seen_at, orders, newest.1 AS example_order, newest.2 AS gateway, newest.3 AS order_type
FROM
(
  SELECT toString(action) AS code, toString(code_format) AS format, min(event_time) AS first_seen_at, max(event_time) AS last_seen_at, ${DISTINCT_ORDERS} AS orders,
    argMax((external_id, toString(gateway), toString(order_type)), (event_time, external_id)) AS newest
  FROM ${view('historyEvents')}
  WHERE ${ITEMS} AND ${UNKNOWN_CODE}
  GROUP BY code, format
)
ORDER BY first_seen_at DESC, code
LIMIT 50`;

/**
 * Orders with a chosen failing item: last_failure_at, order_id, gateway, order_type, channel, last_code,
 * failures, outcome.
 */
export const FAILED_ORDERS_SQL = `${WITH_WATERMARKS}
SELECT max(event_time) AS last_failure_at, external_id AS order_id, toString(gateway) AS gateway, toString(order_type) AS order_type, toString(channel) AS channel,
  argMax(toString(action), place) AS last_code, count() AS failures, ifNull(toString(outcome), 'pending') AS outcome
FROM ${FAILURES} AND ${CHOSEN_FAILURES}
GROUP BY ${ORDER_KEY}, channel, outcome
ORDER BY last_failure_at DESC, order_id
LIMIT 100`;
