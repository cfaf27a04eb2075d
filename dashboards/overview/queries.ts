import { MONEY_STATES, outcomeShares, ratio, sqlList, view } from '../../schemas/measures.ts';
import { WINDOWS } from '../../schemas/windows.ts';
import { CHOSEN_GATEWAY, inRange, WITH_WATERMARKS, bucket } from '../house/filters.ts';
import {
  failures,
  FINISHED,
  GROUP_NUMBER,
  groupOfNumber,
  MONEY_OF_ORDERS,
  ORDERS,
  startedBy,
  TIMES_TO_FINAL,
} from '../house/quarters.ts';

/** SQL of the overview. Each query says what its columns are; n is always a count of distinct orders. */

/** Of counts of orders by outcome. */
const SHARES = outcomeShares((condition) =>
  condition === undefined ? 'sum(orders)' : `sumIf(orders, ${condition})`,
);

/** technical_success 0..1, finished_orders. One row. */
export const TECHNICAL_SUCCESS_SQL = `SELECT ${SHARES.technicalSuccess} AS technical_success, sum(orders) AS finished_orders
FROM
(
  ${FINISHED}
)`;

/** approval 0..1, judged_orders. One row. */
export const APPROVAL_SQL = `SELECT ${SHARES.approval} AS approval, ${SHARES.judged} AS judged_orders
FROM
(
  ${FINISHED}
)`;

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
export const SHARES_SQL = `SELECT ${bucket('decided_in')} AS time, ${SHARES.technicalSuccess} AS technical_success, ${SHARES.approval} AS approval, sum(orders) AS finished_orders
FROM
(
  ${FINISHED}
)
GROUP BY time
ORDER BY time`;

/** time (of the deciding item), outcome, orders. */
export const OUTCOMES_SQL = `SELECT ${bucket('decided_in')} AS time, outcome, sum(orders) AS orders
FROM
(
  ${FINISHED}
)
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
  ${startedBy(bucket)}
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
export const FAILURES_BY_GROUP_SQL = `SELECT ${bucket('event_time')} AS time, ${groupOfNumber(GROUP_NUMBER)} AS reason_group, ${ORDERS} AS orders
FROM ${failures('event_time', 'reason_code')}
GROUP BY time, ${GROUP_NUMBER}
ORDER BY time, reason_group`;

/**
 * time (of the deciding item), p50, p95, p99 in seconds from an order's first item to its deciding one,
 * finished_orders.
 */
export const TIME_TO_FINAL_SQL = `SELECT ${bucket('decided_at')} AS time, quantileExact(0.5)(seconds) AS p50, quantileExact(0.95)(seconds) AS p95,
  quantileExact(0.99)(seconds) AS p99, count() AS finished_orders
FROM
(
  ${TIMES_TO_FINAL}
)
GROUP BY time
ORDER BY time`;

/**
 * money (one of MONEY_STATES), currency ('' when nobody named one), orders, amount as exact text,
 * without_amount: orders whose amount is not known. Of orders that came into that state in the range. These
 * stand on the right, so that the engine knows them before it reads amounts, and folds only theirs.
 */
export const MONEY_SQL = `SELECT money, ifNull(toString(known.currency), '') AS currency, count() AS orders, if(without_amount = orders, '', toString(sum(ifNull(amount, 0)))) AS amount, countIf(known.amount IS NULL) AS without_amount
FROM
(
  SELECT order_number, amount, currency
  FROM ${view('orders')}
  WHERE ${CHOSEN_GATEWAY}
) AS known
RIGHT JOIN
(
  ${MONEY_OF_ORDERS}
) AS technical_failures USING (order_number)
GROUP BY money, currency
ORDER BY indexOf([${sqlList(MONEY_STATES)}], money), orders DESC, currency
LIMIT 200`;
