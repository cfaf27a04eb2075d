import { DECIDING, detailOfReason, groupOfReason, view } from '../../schemas/measures.ts';
import { CHOSEN_CALLBACKS } from '../house/filters.ts';

/** SQL about one order. Either of its ids says which; the time range does not matter. */

const ENTERED = '${order_id:singlequote}';
/** The service's ids among those entered, UUIDs in lower case, and those of orders with the merchant's. */
const IDS = `
    SELECT if(length(id) = 36, ifNull(toString(toUUIDOrNull(id)), id), id) AS external_id
    FROM (SELECT arrayJoin(CAST([${ENTERED}], 'Array(String)')) AS id)
    UNION ALL
    SELECT external_id FROM ${view('orders')} WHERE external_transaction_id IN (${ENTERED}) AND external_transaction_id != ''`;
const THIS_ORDER = `external_id IN (${IDS}) AND ${CHOSEN_CALLBACKS}`;

/** One row an order with this id: who it is, what the newest status reply says, amounts and instants. */
export const HEAD_SQL = `SELECT toString(gateway) AS gateway, toString(order_type) AS order_type, external_id AS order_id, toString(external_transaction_id) AS merchant_id,
  toString(channel) AS channel, status, ifNull(toString(outcome), 'pending') AS outcome, toFloat64(amount) AS paid_amount, toString(currency) AS paid_currency,
  toDateTime64(first_seen_at, 6, 'UTC') AS heard_of_at, created_at, final_at, settled_at, if(status IS NULL, NULL, observed_at) AS last_reply_at
FROM ${view('orders')}
WHERE ${THIS_ORDER}
ORDER BY gateway, order_type
LIMIT 10`;

/**
 * One row an item in time order: event_time, since_previous in seconds, code, stage, result, state, reason,
 * remark, when first seen.
 */
export const TIMELINE_SQL = `SELECT event_time, seconds_since_previous AS since_previous, action AS code, stage, result, state, ${detailOfReason('reason_code')} AS reason_detail,
  multiIf(deciding = 1 AND late = 1, 'decides, seen late', deciding = 1, 'decides', late = 1, 'seen late', '') AS remark,
  observed_at AS seen_at, ${groupOfReason('reason_code')} AS reason_group, toString(gateway) AS gateway, toString(order_type) AS order_type
FROM ${view('orderTimeline')}
WHERE ${THIS_ORDER}
ORDER BY event_time, list_position, code
LIMIT 500`;

/**
 * time, state, stage: one row an item. Info items after the final one carry earlier states and never reopen
 * an order, so the state stays at the last final one.
 */
export const STATES_SQL = `SELECT event_time AS time, ifNull(anyLast(if(ifNull(${DECIDING}, 0), state, NULL)) OVER (ORDER BY event_time, list_position, action ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW), state) AS state, stage
FROM ${view('orderTimeline')}
WHERE ${THIS_ORDER}
ORDER BY time, list_position, action
LIMIT 500`;

const TRACE_COLUMNS = [
  'traceID',
  'spanID',
  'parentSpanID',
  'serviceName',
  'operationName',
  'startTime',
  'duration',
  'tags',
  'serviceTags',
  'kind',
  'statusCode',
  'statusMessage',
  'logs',
  'references',
] as const;

/** One row a span; one order is one trace: what is exported, and the root of an open order. */
export const TRACE_SQL = `SELECT ${TRACE_COLUMNS.join(', ')}
FROM ${view('orderTrace')}
WHERE ${THIS_ORDER}
ORDER BY startTime, parentSpanID
LIMIT 500`;

/**
 * One row a distinct callback about the order: verdict, claimed status and amount, when, how often, why not.
 */
export const CALLBACKS_SQL = `SELECT first_received_at, toString(verdict) AS verdict, signature_cause, status AS claimed_status, amount AS claimed_amount,
  toString(currency) AS claimed_currency, deliveries AS times_delivered, toString(source) AS source, problem
FROM ${view('callbacks')}
WHERE content_hash IN (SELECT content_hash FROM ${view('callbackArrivals')} WHERE external_id IN (${IDS}))
  AND ${THIS_ORDER}
ORDER BY first_received_at, verdict
LIMIT 200`;

/** Our reads of the order, by either of its ids, newest first. */
export const POLLS_SQL = `SELECT started_at, toString(outcome) AS outcome, http_status, toString(error_type) AS error_type, duration_ms, lateness_ms, toString(cause) AS cause,
  items AS items_read, new_items AS items_new
FROM ${view('polls')}
WHERE order_id IN (
    SELECT external_transaction_id FROM ${view('orders')} WHERE ${THIS_ORDER} AND external_transaction_id != ''
    UNION ALL
    SELECT arrayJoin(CAST([${ENTERED}], 'Array(String)')) AS external_transaction_id
    UNION ALL${IDS})
  AND ${CHOSEN_CALLBACKS}
ORDER BY started_at DESC
LIMIT 200`;
