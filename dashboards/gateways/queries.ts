import { DISTINCT_ORDERS, ratio, sqlList, stageName, UNREADABLE_POLL, view } from '../../schemas/measures.ts';
import { timeOfMicros } from '../../schemas/order-quarters.ts';
import { quantileOfSketches } from '../../schemas/poll-quarters.ts';
import { VERDICTS } from '../../schemas/rows.ts';
import { CHOSEN_CALLBACKS, CHOSEN_STAGE, inRange, WITH_WATERMARKS, bucket } from '../house/filters.ts';
import {
  DETAIL_OF_CODE,
  failures,
  GROUP_OF_CODE,
  ORDERS,
  POLL_COUNTS,
  STAGE_FAILURES,
  STEPS,
  WHERE_AND_WHY,
} from '../house/quarters.ts';

/**
 * SQL about the work of the gateways: what their histories tell beside what our own requests and signature
 * checks met.
 */

/**
 * gateway, stage, orders, orders_per_minute, failed_orders, failure_share 0..1, p50 and p95 seconds of the
 * step into it.
 */
export const STAGES_SQL = `${WITH_WATERMARKS}
SELECT toString(of_gateway) AS gateway, ${stageName('digit')} AS stage, orders,
  orders * 60 / greatest(dateDiff('second', $__fromTime, least(toDateTime64($__toTime, 6), window_end(of_gateway))), 1) AS orders_per_minute,
  failed_orders, ${ratio('failed_orders', 'orders')} AS failure_share, if(steps = 0, NULL, took[1] / 1000000) AS p50, if(steps = 0, NULL, took[2] / 1000000) AS p95
FROM
(
  SELECT gateway AS of_gateway, digit, countIf(seen) AS orders, countIf(failed) AS failed_orders,
    countIf(reached AND stepped) AS steps, quantilesExactIf(0.5, 0.95)(step, reached AND stepped) AS took
  FROM
  (
    ${STEPS}
  )
  GROUP BY gateway, digit
)
WHERE orders > 0 AND ${CHOSEN_STAGE}
ORDER BY gateway, digit
LIMIT 200`;

/** time, gateway, stage, share 0..1 of orders with a failed operation there, orders. */
export const STAGE_FAILURES_SQL = `SELECT ${bucket('time')} AS time, gateway, ${stageName('digit')} AS stage, ${ratio('failed_orders', 'orders')} AS share, orders
FROM
(
  ${STAGE_FAILURES}
)
WHERE orders > 0 AND ${CHOSEN_STAGE}
ORDER BY time, gateway, stage`;

/** time, gateway, stage, p95 seconds of the step into the stage. */
export const STAGE_DURATIONS_SQL = `SELECT time, toString(of_gateway) AS gateway, ${stageName('digit')} AS stage, took / 1000000 AS p95
FROM
(
  SELECT ${bucket('reached_at')} AS time, gateway AS of_gateway, digit, quantileExact(0.95)(step) AS took
  FROM
  (
    ${STEPS}
  )
  WHERE reached AND stepped
  GROUP BY time, of_gateway, digit
)
WHERE ${CHOSEN_STAGE}
ORDER BY time, gateway, stage`;

/** time, outcome, polls: requests of ours. */
export const POLL_OUTCOMES_SQL = `SELECT step_begin AS time, toString(outcome) AS outcome, sum(requests) AS polls
FROM ${POLL_COUNTS}
WHERE ${CHOSEN_CALLBACKS}
GROUP BY time, outcome
ORDER BY time, outcome`;

/** time, reason (`TECH 13 SERVER_UNAVAILABLE`), orders with such a code at gateway create or check. */
export const THEIR_FAULTS_SQL = `SELECT ${bucket('event_time')} AS time, concat(${GROUP_OF_CODE}, ' ', toString(reason_code), ' ', ${DETAIL_OF_CODE}) AS reason, ${ORDERS} AS orders
FROM ${failures('event_time', ...WHERE_AND_WHY)}
WHERE stage IN ('GATEWAY_CREATE', 'CHECK') AND reason_group IN ('TECH', 'AUTHZ')
GROUP BY time, reason_code
ORDER BY time, reason`;

/** time, gateway, share 0..1 of our status requests without a usable answer, polls. */
export const POLL_FAILURES_SQL = `SELECT step_begin AS time, toString(gateway) AS gateway, ${ratio(`sumIf(requests, ${UNREADABLE_POLL})`, 'sum(requests)')} AS share, sum(requests) AS polls
FROM ${POLL_COUNTS}
WHERE ${CHOSEN_CALLBACKS}
GROUP BY time, gateway
ORDER BY time, gateway`;

/** time, gateway, p50 and p95 milliseconds of our status requests. */
export const POLL_DURATIONS_SQL = `SELECT step_begin AS time, toString(gateway) AS gateway, ${quantileOfSketches('durations', 0.5)} AS p50, ${quantileOfSketches('durations', 0.95)} AS p95
FROM ${POLL_COUNTS}
WHERE ${CHOSEN_CALLBACKS}
GROUP BY time, gateway
ORDER BY time, gateway`;

/** A content as a number: a hash of 32 bytes takes three times as long to tell from others. */
const CONTENT = 'bitXor(content_key, sipHash64(gateway))';

/**
 * Contents of callbacks that first came in a window: first_received_at, verdict, the one given last. Of what
 * came at other times only the same contents are looked at, found by the key alone: few of other gateways
 * have the same.
 *
 * @param contains the window as a condition on a time @param where conditions on callbacks
 */
export const verdictsIn = (contains: (time: string) => string, where: string): string =>
  `SELECT ${timeOfMicros('first')} AS first_received_at, transform(bitAnd(newest, 7), [${VERDICTS.map((_, index) => index + 1).join(', ')}], [${sqlList(VERDICTS)}], '') AS verdict
  FROM
  (
    SELECT min(at) AS first, max(bitShiftLeft(at, 3) + toUInt8(verdict)) AS newest
    FROM (SELECT toUInt64(toUnixTimestamp64Micro(received_at)) AS at, * FROM ${view('callbackArrivals')})
    WHERE ${where} AND (${contains('received_at')} OR content_key IN (SELECT content_key FROM ${view('callbackArrivals')} WHERE ${contains('received_at')} AND ${where}))
    GROUP BY ${CONTENT}
  )
  WHERE ${contains('first_received_at')}`;

/** time, verdict, callbacks (distinct contents) by when they first came. */
export const VERDICTS_SQL = `SELECT ${bucket('first_received_at')} AS time, verdict, count() AS callbacks
FROM
(
  ${verdictsIn(inRange, CHOSEN_CALLBACKS)}
)
GROUP BY time, verdict
ORDER BY time, verdict`;

/**
 * Contents that some delivery since the range began shows not to verify: few, and all that the range can have
 * among them, for a content that first came within it has no delivery before.
 */
const MISMATCHED = `content_key IN (SELECT content_key FROM ${view('callbackArrivals')} WHERE received_at >= $__fromTime AND verdict = 'mismatch')`;

/**
 * gateway, signature_cause, callbacks whose signature does not verify (distinct contents), share 0..1 of the
 * gateway's.
 */
export const SIGNATURE_CAUSES_SQL = `SELECT toString(gateway) AS gateway, signature_cause, count() AS callbacks,
  count() / sum(count()) OVER (PARTITION BY gateway) AS share_of_mismatches, max(first_received_at) AS newest
FROM ${view('callbackVerdicts')}
WHERE ${MISMATCHED} AND ${inRange('first_received_at')} AND verdict = 'mismatch' AND ${CHOSEN_CALLBACKS}
GROUP BY gateway, signature_cause
ORDER BY callbacks DESC, gateway, signature_cause
LIMIT 200`;

/** time, code (5.2.2.16, 5.2.2.17), orders: the provider's callbacks that the gateway could not accept. */
export const THEIR_CALLBACK_FAULTS_SQL = `SELECT ${bucket('event_time')} AS time, action AS code, ${ORDERS} AS orders
FROM ${failures('event_time', 'stage', 'is_operation', 'action')}
WHERE stage = 'GATEWAY_CALLBACK' AND is_operation
GROUP BY time, code
ORDER BY time, code`;

/** time, kind, orders: distinct orders with a contradiction, by when it was found. */
export const FINDINGS_SQL = `SELECT ${bucket('found_at')} AS time, toString(kind) AS kind, ${DISTINCT_ORDERS} AS orders
FROM ${view('findings')}
WHERE ${inRange('found_at')} AND ${CHOSEN_CALLBACKS}
GROUP BY time, kind
ORDER BY time, kind`;

/** The newest contradictions, those that are open first. */
export const NEWEST_FINDINGS_SQL = `SELECT found_at, toString(gateway) AS gateway, toString(order_type) AS order_type, external_id, toString(kind) AS kind, subject, toString(side) AS side, expected, received,
  if(resolved_at IS NULL, 'open', 'resolved') AS state
FROM ${view('findings')}
WHERE ${inRange('found_at')} AND ${CHOSEN_CALLBACKS}
ORDER BY resolved_at IS NULL DESC, found_at DESC
LIMIT 100`;
