import { STUCK } from '../../schemas/limits.ts';
import {
  APPROVAL_SHARE,
  groupOfReason,
  JUDGED,
  MONEY_STATES,
  ratio,
  sqlList,
  TECHNICAL_SUCCESS_SHARE,
  view,
} from '../../schemas/measures.ts';
import { WINDOWS } from '../../schemas/windows.ts';
import { bucket, CHOSEN_GATEWAY, CHOSEN_ITEMS, inRange, WITH_WATERMARKS } from '../house/filters.ts';
import { FAILURES, ORDERS, ordersBy } from '../house/orders.ts';

/** SQL of the overview. Each query says what its columns are; n is always a count of distinct orders. */

/** technical_success 0..1, finished_orders. One row. */
export const TECHNICAL_SUCCESS_SQL = `${WITH_WATERMARKS}
SELECT ${TECHNICAL_SUCCESS_SHARE} AS technical_success, count() AS finished_orders
FROM ${ordersBy('final_at')}`;

/** approval 0..1, judged_orders. One row. */
export const APPROVAL_SQL = `${WITH_WATERMARKS}
SELECT ${APPROVAL_SHARE} AS approval, ${JUDGED} AS judged_orders
FROM ${ordersBy('final_at')}`;

/**
 * coverage 0..1, watched_orders, by the newest report in the range of each collector that still reports. One
 * row.
 */
export const COVERAGE_SQL = `SELECT ${ratio('sum(watched - least(due, watched))', 'sum(watched)')} AS coverage, sum(watched) AS watched_orders
FROM
(
  SELECT argMax(watched_orders, reported_at) AS watched, argMax(due_orders, reported_at) AS due
  FROM ${view('gatewayStatus')}
  WHERE ${inRange('reported_at')} AND reported_at >= $__toTime - INTERVAL ${WINDOWS.reportsLastSeconds} SECOND AND ${CHOSEN_GATEWAY}
  GROUP BY gateway, collector_id
)`;

/** gateway, watermark_age in seconds, now. */
export const WATERMARK_AGE_SQL = `${WITH_WATERMARKS}
SELECT gateway, greatest(dateDiff('second', watermarks[gateway], now64(6)), 0) AS watermark_age
FROM (SELECT arrayJoin(mapKeys(watermarks)) AS gateway)
WHERE ${CHOSEN_GATEWAY} AND now() >= $__fromTime
ORDER BY gateway`;

/** time (of the deciding item), technical_success and approval 0..1, finished_orders. */
export const SHARES_SQL = `${WITH_WATERMARKS}
SELECT ${bucket('assumeNotNull(final_at)')} AS time, ${TECHNICAL_SUCCESS_SHARE} AS technical_success, ${APPROVAL_SHARE} AS approval, count() AS finished_orders
FROM ${ordersBy('final_at')}
GROUP BY time
ORDER BY time`;

/** time (of the deciding item), outcome, orders. */
export const OUTCOMES_SQL = `${WITH_WATERMARKS}
SELECT ${bucket('assumeNotNull(final_at)')} AS time, assumeNotNull(outcome) AS outcome, count() AS orders
FROM ${ordersBy('final_at')}
GROUP BY time, outcome
ORDER BY time, outcome`;

/**
 * time, gateway, orders per minute by their first item. Zero where we know that nothing came; a gap after the
 * end of the gateway's window, where we know nothing.
 */
export const ORDERS_PER_MINUTE_SQL = `${WITH_WATERMARKS}
SELECT time, gateway, sum(started) * 60 / $__interval_s AS orders_per_minute
FROM
(
  SELECT ${bucket('assumeNotNull(created_at)')} AS time, toString(gateway) AS gateway, count() AS started
  FROM ${ordersBy('created_at')}
  GROUP BY time, gateway
  UNION ALL
  SELECT toDateTime(arrayJoin(range(
      intDiv(toUnixTimestamp($__fromTime), $__interval_s) * $__interval_s,
      toUnixTimestamp(least(toDateTime64($__toTime, 6), window_end(gateway))),
      $__interval_s))) AS time, gateway, 0 AS started
  FROM (SELECT arrayJoin(mapKeys(watermarks)) AS gateway)
  WHERE ${CHOSEN_GATEWAY}
)
GROUP BY time, gateway
ORDER BY time, gateway`;

/** time, reason_group, orders with a failing item of that group in the bucket. */
export const FAILURES_BY_GROUP_SQL = `${WITH_WATERMARKS}
SELECT ${bucket('event_time')} AS time, ${groupOfReason('reason_code')} AS reason_group, ${ORDERS} AS orders
FROM ${FAILURES}
GROUP BY time, reason_group
ORDER BY time, reason_group`;

/**
 * time (of the deciding item), p50, p95, p99 in seconds from an order's first item to its deciding one,
 * finished_orders.
 */
export const TIME_TO_FINAL_SQL = `${WITH_WATERMARKS}
SELECT ${bucket('decided_at')} AS time, quantileExact(0.5)(seconds) AS p50, quantileExact(0.95)(seconds) AS p95,
  quantileExact(0.99)(seconds) AS p99, count() AS finished_orders
FROM
(
  SELECT assumeNotNull(final_at) AS decided_at, dateDiff('microsecond', created_at, decided_at) / 1000000 AS seconds
  FROM ${ordersBy('final_at')}
)
GROUP BY time
ORDER BY time`;

/**
 * money (one of MONEY_STATES), currency ('' when nobody named one), orders, amount as exact text,
 * without_amount: orders whose amount is not known. Of orders that came into that state in the range. An
 * order came into its state half an hour after its last item at the latest: an index skips by that.
 */
export const MONEY_SQL = `SELECT money, ifNull(toString(o.currency), '') AS currency, count() AS orders, if(without_amount = orders, '', toString(sum(o.amount))) AS amount, countIf(o.amount IS NULL) AS without_amount
FROM ${view('orderMoney')} AS o
WHERE ${inRange('since')} AND last_item_at >= $__fromTime - INTERVAL ${STUCK.afterSeconds} SECOND AND ${CHOSEN_ITEMS}
GROUP BY money, currency
ORDER BY indexOf([${sqlList(MONEY_STATES)}], money), orders DESC, currency
LIMIT 200`;
