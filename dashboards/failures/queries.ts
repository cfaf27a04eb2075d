import { STAGES } from '../../schemas/dictionary.ts';
import {
  DECIDING,
  DISTINCT_ORDERS,
  distinctOrdersIf,
  FAILING,
  ORDER_KEY,
  outcome,
  ratio,
  sqlText,
  TIME_ORDER,
  UNKNOWN_CODE,
  view,
} from '../../schemas/measures.ts';
import { CHOSEN_FAILURES, CHOSEN_ITEMS, ITEMS, REASON, WITH_WATERMARKS, bucket } from '../house/filters.ts';

/**
 * SQL about failing items: operation failed (C=2) or payment failed (B=4). n is always a count of distinct
 * orders.
 */

const CHOSEN_FAILING = `${FAILING} AND ${CHOSEN_FAILURES}`;

/** share 0..1 of orders with a chosen failing item, failing_orders, seen_orders. One row. */
export const FAILING_SHARE_SQL = `${WITH_WATERMARKS}
SELECT ${ratio('failing_orders', 'seen_orders')} AS share, failing_orders, seen_orders
FROM
(
  SELECT ${distinctOrdersIf(CHOSEN_FAILING)} AS failing_orders, ${DISTINCT_ORDERS} AS seen_orders
  FROM ${view('historyEvents')}
  WHERE ${ITEMS}
)`;

/** time, reason (`11 TIMEOUT`), orders. */
export const FAILURES_BY_REASON_SQL = `${WITH_WATERMARKS}
SELECT ${bucket('event_time')} AS time, concat(assumeNotNull(${REASON}), ' ', assumeNotNull(toString(reason_detail))) AS reason, ${DISTINCT_ORDERS} AS orders
FROM ${view('historyEvents')}
WHERE ${CHOSEN_FAILING} AND ${ITEMS}
GROUP BY time, reason
ORDER BY time, reason`;

/** reason_group, reason (two digits), one column of orders a stage, orders in all. Most frequent first. */
export const FAILURES_BY_STAGE_AND_REASON_SQL = `${WITH_WATERMARKS}
SELECT ifNull(toString(reason_group), 'NONE') AS reason_group, ${REASON} AS reason,
  ${STAGES.map(({ name }) => `${distinctOrdersIf(`stage = ${sqlText(name)}`)} AS ${name}`).join(',\n  ')},
  ${DISTINCT_ORDERS} AS orders
FROM ${view('historyEvents')}
WHERE ${CHOSEN_FAILING} AND ${ITEMS}
GROUP BY reason_group, reason
ORDER BY orders DESC, reason
LIMIT 50`;

/** The same window of a week before, cut where today's is cut, so that like is compared with like. */
const WEEK = 'INTERVAL 7 DAY';
const ITEMS_LAST_WEEK = `event_time >= $__fromTime - ${WEEK} AND event_time < $__toTime - ${WEEK} AND event_time < window_end(gateway) - ${WEEK} AND ${CHOSEN_ITEMS}`;

const failuresIn = (items: string, then: 0 | 1): string =>
  `SELECT ${then} AS then, ifNull(toString(reason_group), 'NONE') AS reason_group, ${REASON} AS reason, ${DISTINCT_ORDERS} AS n
  FROM ${view('historyEvents')} WHERE ${CHOSEN_FAILING} AND ${items} GROUP BY reason_group, reason`;
const seenIn = (items: string): string =>
  `(SELECT ${DISTINCT_ORDERS} FROM ${view('historyEvents')} WHERE ${items})`;

/**
 * reason_group, reason, orders and share 0..1 of the orders seen, the same of the window a week before,
 * change of the share, orders seen then and now. Greatest rise first.
 */
export const REASONS_AGAINST_LAST_WEEK_SQL = `${WITH_WATERMARKS},
  ${seenIn(ITEMS)} AS seen,
  ${seenIn(ITEMS_LAST_WEEK)} AS seen_then
SELECT reason_group, reason, sumIf(n, then = 0) AS orders, ${ratio('orders', 'seen')} AS share,
  sumIf(n, then = 1) AS orders_last_week, ${ratio('orders_last_week', 'seen_then')} AS share_last_week,
  share - share_last_week AS change, seen AS seen_orders, seen_then AS seen_orders_last_week
FROM
(
  ${failuresIn(ITEMS, 0)}
  UNION ALL
  ${failuresIn(ITEMS_LAST_WEEK, 1)}
)
GROUP BY reason_group, reason
ORDER BY ifNull(change, share) DESC, orders DESC, reason
LIMIT 30`;

/**
 * code, code_format, first_seen_at, last_seen_at, orders, example_order, gateway, order_type. Newest first.
 */
export const UNKNOWN_CODES_SQL = `${WITH_WATERMARKS}
SELECT action AS code, toString(code_format) AS format, min(event_time) AS first_seen_at, max(event_time) AS last_seen_at,
  ${DISTINCT_ORDERS} AS orders, newest.1 AS example_order, newest.2 AS gateway, newest.3 AS order_type
FROM
(
  SELECT *, max((event_time, (external_id, toString(gateway), toString(order_type)))) OVER (PARTITION BY action, code_format) AS last_item, last_item.2 AS newest
  FROM ${view('historyEvents')}
  WHERE ${UNKNOWN_CODE} AND ${ITEMS}
)
GROUP BY code, format, newest
ORDER BY first_seen_at DESC, code
LIMIT 50`;

/**
 * Orders with a chosen failing item: last_failure_at, order_id, gateway, order_type, channel, last_code,
 * failures, outcome.
 */
export const FAILED_ORDERS_SQL = `${WITH_WATERMARKS}
SELECT last_failure_at, external_id AS order_id, toString(gateway) AS gateway, toString(order_type) AS order_type, channel_name AS channel,
  last_code, failures, if(deciding_items = 0, 'pending', ${outcome('deciding_item.1', 'deciding_item.2')}) AS outcome
FROM
(
  SELECT ${ORDER_KEY}, max(toString(channel)) AS channel_name,
    maxIf(event_time, failing) AS last_failure_at, argMaxIf(action, ${TIME_ORDER}, failing) AS last_code, countIf(failing) AS failures,
    countIf(deciding) AS deciding_items, argMaxIf(tuple(state, reason_group), ${TIME_ORDER}, deciding) AS deciding_item
  FROM (SELECT *, ifNull(${CHOSEN_FAILING}, 0) AS failing, ifNull(${DECIDING}, 0) AS deciding FROM ${view('historyEvents')} WHERE ${ITEMS})
  GROUP BY ${ORDER_KEY}
  HAVING failures > 0
)
ORDER BY last_failure_at DESC, order_id
LIMIT 100`;
