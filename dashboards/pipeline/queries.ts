import { ratio, sqlText, view } from '../../schemas/measures.ts';
import { type AlertRuleName, DATABASE } from '../../schemas/names.ts';
import { bucket, CHOSEN_GATEWAY, END, inRange, OWN_GATEWAY } from '../house/filters.ts';

/**
 * SQL about the pipeline itself: collectors, their polls, what is late, refused or repeated, and the store.
 */

/** time, gateway, seconds that our picture of it was behind, at the newest report of each interval. */
export const WATERMARK_LAG_SQL = `SELECT ${bucket('reported_at')} AS time, toString(gateway) AS gateway,
  greatest(dateDiff('millisecond', max(watermark_at), max(reported_at)) / 1000, 0) AS behind
FROM ${view('gatewayStatus')}
WHERE ${inRange('reported_at')} AND ${CHOSEN_GATEWAY}
GROUP BY time, gateway
ORDER BY time, gateway`;

/** time (of the items), p50 and p95 seconds from an item's own time to our first sight of it, items. */
export const ARRIVAL_DELAY_SQL = `SELECT ${bucket('event_time')} AS time, (quantiles(0.5, 0.95)(seconds) AS both)[1] AS p50, both[2] AS p95, count() AS items
FROM
(
  SELECT event_time, greatest(toUnixTimestamp64Micro(observed_at) - toUnixTimestamp64Micro(event_time), 0) / 1000000 AS seconds
  FROM ${view('historyEvents')}
  WHERE ${inRange('event_time')} AND ${CHOSEN_GATEWAY}
)
GROUP BY time
ORDER BY time`;

/** time, collector, messages that wait in Kafka. */
export const CONSUMER_LAG_SQL = `SELECT ${bucket('reported_at')} AS time, toString(collector_id) AS collector, max(consumer_lag) AS messages_waiting
FROM ${view('collectorStatus')}
WHERE ${inRange('reported_at')}
GROUP BY time, collector
ORDER BY time, collector`;

/** time, reason, rejects. */
export const REJECTS_SQL = `SELECT ${bucket('rejected_at')} AS time, toString(reason) AS reason, count() AS rejects
FROM ${view('rejects')}
WHERE ${inRange('rejected_at')} AND ${OWN_GATEWAY}
GROUP BY time, reason
ORDER BY time, reason`;

/** rejected_at, reason, gateway, field, expected, received, coordinates: the newest rejects. */
export const NEWEST_REJECTS_SQL = `SELECT rejected_at, toString(reason) AS reason, toString(gateway) AS gateway, source, field, expected, received,
  if(topic = '', '', concat(topic, '/', toString(assumeNotNull(kafka_partition)), '@', toString(assumeNotNull(kafka_offset)))) AS read_again_at
FROM ${view('rejects')}
WHERE ${inRange('rejected_at')} AND ${OWN_GATEWAY}
ORDER BY rejected_at DESC, reject_id
LIMIT 50`;

/** A counter's rise between the reports of one run of a collector; a restart begins at zero again. */
const rise = (counter: string): string =>
  `greatest(${counter} - lagInFrame(${counter}, 1, ${counter}) OVER (PARTITION BY collector_id, started_at ORDER BY reported_at ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), 0)`;

/** time, collector, history items that were read again and absorbed. */
export const DUPLICATES_SQL = `SELECT ${bucket('reported_at')} AS time, collector, sum(absorbed) AS duplicates
FROM
(
  SELECT reported_at, toString(collector_id) AS collector, ${rise('toInt64(duplicates_total)')} AS absorbed
  FROM ${view('collectorStatus')}
  WHERE ${inRange('reported_at')}
)
GROUP BY time, collector
ORDER BY time, collector`;

/** time, gateway, status requests per minute. */
export const POLLS_PER_MINUTE_SQL = `SELECT ${bucket('started_at')} AS time, toString(gateway) AS gateway, count() * 60 / $__interval_s AS polls_per_minute
FROM ${view('polls')}
WHERE ${inRange('started_at')} AND ${CHOSEN_GATEWAY}
GROUP BY time, gateway
ORDER BY time, gateway`;

/** time, gateway, p95 milliseconds that status requests went out later than planned. */
export const POLL_LATENESS_SQL = `SELECT ${bucket('started_at')} AS time, toString(gateway) AS gateway, quantileExact(0.95)(lateness_ms) AS p95
FROM ${view('polls')}
WHERE ${inRange('started_at')} AND ${CHOSEN_GATEWAY}
GROUP BY time, gateway
ORDER BY time, gateway`;

/** Over reports of one collector about one gateway: what it may use of the budget, by its newest report. */
const ALLOWED_RATE = 'argMax(requests_per_second_limit, reported_at) AS allowed_rate';
const ALLOWED_AT_ONCE = 'argMax(concurrency_limit, reported_at) AS allowed_at_once';

/**
 * time, gateway, shares 0..1 of the requests a second and at once that the collectors are allowed together;
 * requests a second.
 */
export const POLL_BUDGET_SQL = `SELECT time, toString(gateway) AS gateway, ${ratio('sum(rate)', 'sum(allowed_rate)')} AS requests_share, ${ratio('sum(at_once)', 'sum(allowed_at_once)')} AS at_once_share, sum(rate) AS polls
FROM
(
  SELECT ${bucket('reported_at')} AS time, gateway, avg(requests_per_second) AS rate, max(requests_in_flight) AS at_once,
    ${ALLOWED_RATE}, ${ALLOWED_AT_ONCE}
  FROM ${view('gatewayStatus')}
  WHERE ${inRange('reported_at')} AND ${CHOSEN_GATEWAY}
  GROUP BY time, gateway, collector_id
)
GROUP BY time, gateway
HAVING sum(allowed_rate) > 0
ORDER BY time, gateway`;

/**
 * One row a gateway and collector: requests a second and at once, used and allowed; shares are of the busiest
 * moment.
 */
export const POLL_BUDGETS_SQL = `SELECT toString(gateway) AS gateway, toString(collector_id) AS collector, avg(requests_per_second) AS mean_rate,
  max(requests_per_second) AS most_rate, ${ALLOWED_RATE}, ${ratio('most_rate', 'allowed_rate')} AS rate_share,
  max(requests_in_flight) AS most_at_once, ${ALLOWED_AT_ONCE}, ${ratio('most_at_once', 'allowed_at_once')} AS at_once_share
FROM ${view('gatewayStatus')}
WHERE ${inRange('reported_at')} AND ${CHOSEN_GATEWAY}
GROUP BY gateway, collector_id
HAVING allowed_rate > 0
ORDER BY gateway, collector
LIMIT 200`;

/** time, gateway, orders watched and orders whose read is due, at the end of each interval. */
export const WATCHED_SQL = `SELECT time, toString(gateway) AS gateway, sum(watched) AS watched_orders, sum(due) AS due_orders
FROM
(
  SELECT ${bucket('reported_at')} AS time, gateway, argMax(watched_orders, reported_at) AS watched, argMax(due_orders, reported_at) AS due
  FROM ${view('gatewayStatus')}
  WHERE ${inRange('reported_at')} AND ${CHOSEN_GATEWAY}
  GROUP BY time, gateway, collector_id
)
GROUP BY time, gateway
ORDER BY time, gateway`;

/** kept, rows and bytes on disk of what the store keeps, largest first. Now, whatever the range. */
export const STORE_SIZE_SQL = `SELECT name AS kept, stored_rows, stored_bytes
FROM ${view('storeTables')}
WHERE database = '${DATABASE}' AND now() >= $__fromTime
ORDER BY stored_bytes DESC, name
LIMIT 50`;

/** One row a collector, from its newest report in the range. */
export const COLLECTORS_SQL = `SELECT toString(collector_id) AS collector, max(reported_at) AS last_report_at,
  argMax(toString(version), reported_at) AS running_version, argMax(started_at, reported_at) AS up_since,
  argMax(consumer_lag, reported_at) AS messages_waiting,
  argMax(watched_orders, reported_at) AS watched, argMax(due_orders, reported_at) AS due,
  argMax(lateness_p99_ms, reported_at) AS lateness_p99, argMax(circuits_open, reported_at) AS open_circuits,
  argMax(span_backlog, reported_at) AS spans_waiting, argMax(memory_bytes, reported_at) AS memory
FROM ${view('collectorStatus')}
WHERE ${inRange('reported_at')}
GROUP BY collector_id
ORDER BY collector
LIMIT 100`;

/** time, collector, bytes of memory. */
export const MEMORY_SQL = `SELECT ${bucket('reported_at')} AS time, toString(collector_id) AS collector, max(memory_bytes) AS memory
FROM ${view('collectorStatus')}
WHERE ${inRange('reported_at')}
GROUP BY time, collector
ORDER BY time, collector`;

/** time, collector, batches whose spans wait for their export. */
export const SPAN_BACKLOG_SQL = `SELECT ${bucket('reported_at')} AS time, toString(collector_id) AS collector, max(span_backlog) AS batches
FROM ${view('collectorStatus')}
WHERE ${inRange('reported_at')}
GROUP BY time, collector
ORDER BY time, collector`;

/**
 * Evaluations of one rule of those that every pass evaluates: it has a row for each known gateway, and the
 * pass that it shows is the same for all rules.
 */
const PASSES = `rule = ${sqlText('GatewatchCollectorSilent' satisfies AlertRuleName)} AND ${inRange('as_of')}`;

/**
 * evaluation_age in seconds and pass_ms of the newest evaluation in the range, at its end. No row without
 * one.
 */
export const EVALUATION_AGE_SQL = `SELECT greatest(dateDiff('second', max(as_of), ${END}), 0) AS evaluation_age, argMax(took_ms, as_of) AS pass_ms
FROM ${view('alertEvaluations')}
WHERE ${PASSES} AND ${CHOSEN_GATEWAY}
HAVING count() > 0`;

/**
 * time, collector that evaluated, pass_ms and delay_ms (from the instant evaluated to its rows): the
 * longest.
 */
export const EVALUATION_PASSES_SQL = `SELECT ${bucket('as_of')} AS time, toString(evaluator) AS collector, max(took_ms) AS pass_ms,
  max(greatest(dateDiff('millisecond', toDateTime64(as_of, 6, 'UTC'), evaluated_at), 0)) AS delay_ms
FROM ${view('alertEvaluations')}
WHERE ${PASSES} AND ${CHOSEN_GATEWAY}
GROUP BY time, collector
ORDER BY time, collector`;
