import { STAGES } from '../../schemas/dictionary.ts';
import {
  detailOfReason,
  DISTINCT_ORDERS,
  groupOfReason,
  ratio,
  sqlList,
  UNREADABLE_POLL,
  view,
} from '../../schemas/measures.ts';
import { bucket, CHOSEN_CALLBACKS, CHOSEN_STAGE, inRange, WITH_WATERMARKS } from '../house/filters.ts';
import { FAILURES, ITEMS_OF_ORDERS, ORDERS, ordersIf } from '../house/orders.ts';

/**
 * SQL about the work of the gateways: what their histories show beside what our own requests and signature
 * checks met.
 */

/** Seconds of the step into a stage, of the first item there: since the item before. */
const STEP_SECONDS = `dateDiff('microsecond', time_before, event_time) / 1000000`;
const IS_STEP = 'nth_at_stage = 1 AND place > 1';
const FAILED_THERE = ordersIf(`result = 'FAILURE'`);

/**
 * gateway, stage, orders, orders_per_minute, failed_orders, failure_share 0..1, p50 and p95 seconds of the
 * step into it.
 */
export const STAGES_SQL = `${WITH_WATERMARKS}
SELECT toString(gateway) AS gateway, toString(stage) AS stage, ${ORDERS} AS orders,
  orders * 60 / greatest(dateDiff('second', $__fromTime, least(toDateTime64($__toTime, 6), any(window_end(gateway)))), 1) AS orders_per_minute,
  ${FAILED_THERE} AS failed_orders, ${ratio('failed_orders', 'orders')} AS failure_share,
  quantileExactIfOrNull(0.5)(${STEP_SECONDS}, ${IS_STEP}) AS p50, quantileExactIfOrNull(0.95)(${STEP_SECONDS}, ${IS_STEP}) AS p95
FROM ${ITEMS_OF_ORDERS} AND ${CHOSEN_STAGE} AND stage IS NOT NULL
GROUP BY gateway, stage
ORDER BY gateway, indexOf([${sqlList(STAGES.map(({ name }) => name))}], stage)
LIMIT 200`;

/** time, gateway, stage, share 0..1 of orders with a failed operation there, orders. */
export const STAGE_FAILURES_SQL = `${WITH_WATERMARKS}
SELECT ${bucket('event_time')} AS time, toString(gateway) AS gateway, toString(stage) AS stage, ${ratio(FAILED_THERE, 'orders')} AS share, ${ORDERS} AS orders
FROM ${ITEMS_OF_ORDERS} AND ${CHOSEN_STAGE} AND stage IS NOT NULL
GROUP BY time, gateway, stage
ORDER BY time, gateway, stage`;

/** time, gateway, stage, p95 seconds of the step into the stage. */
export const STAGE_DURATIONS_SQL = `${WITH_WATERMARKS}
SELECT ${bucket('event_time')} AS time, toString(gateway) AS gateway, toString(stage) AS stage, quantileExact(0.95)(${STEP_SECONDS}) AS p95
FROM ${ITEMS_OF_ORDERS} AND ${CHOSEN_STAGE} AND stage IS NOT NULL AND ${IS_STEP}
GROUP BY time, gateway, stage
ORDER BY time, gateway, stage`;

/** Our status requests in the chosen range. */
const CHOSEN_POLLS = `${view('polls')}
WHERE ${inRange('started_at')} AND ${CHOSEN_CALLBACKS}`;

/** time, outcome, polls: requests of ours. */
export const POLL_OUTCOMES_SQL = `SELECT ${bucket('started_at')} AS time, toString(outcome) AS outcome, count() AS polls
FROM ${CHOSEN_POLLS}
GROUP BY time, outcome
ORDER BY time, outcome`;

/** time, reason (`TECH 13 SERVER_UNAVAILABLE`), orders with such a code at gateway create or check. */
export const THEIR_FAULTS_SQL = `${WITH_WATERMARKS}
SELECT ${bucket('event_time')} AS time, concat(${groupOfReason('reason_code')}, ' ', toString(reason_code), ' ', ${detailOfReason('reason_code')}) AS reason, ${ORDERS} AS orders
FROM ${FAILURES} AND stage IN ('GATEWAY_CREATE', 'CHECK') AND ${groupOfReason('reason_code')} IN ('TECH', 'AUTHZ')
GROUP BY time, reason_code
ORDER BY time, reason`;

/** time, gateway, share 0..1 of our status requests without a usable answer, polls. */
export const POLL_FAILURES_SQL = `SELECT ${bucket('started_at')} AS time, toString(gateway) AS gateway, countIf(${UNREADABLE_POLL}) / polls AS share, count() AS polls
FROM ${CHOSEN_POLLS}
GROUP BY time, gateway
ORDER BY time, gateway`;

/** time, gateway, p50 and p95 milliseconds of our status requests. */
export const POLL_DURATIONS_SQL = `SELECT ${bucket('started_at')} AS time, toString(gateway) AS gateway, quantileExact(0.5)(duration_ms) AS p50, quantileExact(0.95)(duration_ms) AS p95
FROM ${CHOSEN_POLLS}
GROUP BY time, gateway
ORDER BY time, gateway`;

/**
 * time, verdict, callbacks (distinct contents) by when they first came. Their verdicts are looked up of what
 * arrived in the range only.
 */
export const VERDICTS_SQL = `SELECT ${bucket('first_received_at')} AS time, toString(verdict) AS verdict, count() AS callbacks
FROM ${view('callbackVerdicts')}
WHERE content_key IN (SELECT content_key FROM ${view('callbackArrivals')} WHERE ${inRange('received_at')})
  AND ${inRange('first_received_at')} AND ${CHOSEN_CALLBACKS}
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
export const THEIR_CALLBACK_FAULTS_SQL = `${WITH_WATERMARKS}
SELECT ${bucket('event_time')} AS time, toString(action) AS code, ${ORDERS} AS orders
FROM ${ITEMS_OF_ORDERS} AND stage = 'GATEWAY_CALLBACK' AND result = 'FAILURE'
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
