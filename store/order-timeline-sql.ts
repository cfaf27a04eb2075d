import type { OrderType, Outcome } from '../schemas/dictionary.ts';
import type { EpochMicros, PollOutcome, Verdict } from '../schemas/rows.ts';
import { TABLES, VIEWS } from '../schemas/names.ts';
import type { IdKind, WatchPhase } from '../schemas/watch.ts';

/** The statements behind one order's timeline, each with the rows that it gives. */

export interface CandidateRow {
  gateway: string;
  order_type: OrderType;
  external_id: string;
  external_transaction_id: string;
}

const FITS = `({gateway:String} = '' OR gateway = {gateway:String})
    AND ({order_type:String} = '' OR toString(order_type) = {order_type:String})`;

/**
 * Orders that an id can mean, best first. The gateway's own id also finds orders that only callbacks have
 * named; the merchant's id also finds watched orders that no reply has named yet.
 */
export const CANDIDATES: Readonly<Record<IdKind, string>> = {
  'external-id': `
SELECT gateway, order_type, external_id, max(transaction_id) AS external_transaction_id
FROM
(
    SELECT gateway, toString(order_type) AS order_type, external_id, s.external_transaction_id AS transaction_id,
        s.observed_at AS heard_at, 1 AS known
    FROM ${TABLES.orders} AS s
    WHERE external_id = {id:String} AND ${FITS}
    UNION ALL
    SELECT gateway, assumeNotNull(toString(order_type)) AS order_type, assumeNotNull(d.external_id) AS external_id,
        '' AS transaction_id, d.received_at AS heard_at, 0 AS known
    FROM ${TABLES.callbackDeliveries} AS d
    WHERE d.external_id = {id:String} AND d.order_type IN ('Deposit', 'Withdrawal') AND ${FITS}
)
GROUP BY gateway, order_type, external_id
ORDER BY max(known) DESC, max(heard_at) DESC
LIMIT 20`,
  'transaction-id': `
SELECT gateway, order_type, external_id, {id:String} AS external_transaction_id
FROM
(
    SELECT gateway, toString(order_type) AS order_type, external_id,
        s.observed_at AS heard_at
    FROM ${TABLES.orders} AS s
    WHERE s.external_transaction_id = {id:String} AND ${FITS}
    UNION ALL
    SELECT gateway, toString(order_type) AS order_type, argMax(w.external_id, w.updated_at) AS external_id,
        max(w.updated_at) AS heard_at
    FROM ${TABLES.orderWatch} AS w
    WHERE id_kind = 'transaction-id' AND order_id = {id:String} AND ${FITS}
    GROUP BY gateway, order_type
)
GROUP BY gateway, order_type, external_id
ORDER BY external_id = '', max(heard_at) DESC
LIMIT 20`,
};

const THIS_ORDER = `gateway = {gateway:String} AND order_type = {order_type:String}`;

export interface HeadRow {
  external_transaction_id: string;
  channel: string;
  status: string | null;
  outcome: Outcome | null;
  reason_group: string | null;
  reason_detail: string | null;
  amount: string | null;
  currency: string | null;
  currency_source: string | null;
  first_seen_at: EpochMicros;
  created_at: EpochMicros | null;
  final_at: EpochMicros | null;
  settled_at: EpochMicros | null;
  abandoned_at: EpochMicros | null;
  last_reply_at: EpochMicros | null;
}

const MICROS = ['first_seen_at', 'created_at', 'final_at', 'settled_at', 'abandoned_at'];

export const HEAD = `
SELECT o.external_transaction_id AS external_transaction_id, o.channel AS channel, o.status AS status,
    o.outcome AS outcome, o.reason_group AS reason_group, o.reason_detail AS reason_detail,
    toString(o.amount) AS amount, o.currency AS currency, o.currency_source AS currency_source,
    ${MICROS.map((name) => `toUnixTimestamp64Micro(o.${name}) AS ${name}`).join(',\n    ')},
    if(o.status IS NULL, NULL, toUnixTimestamp64Micro(o.observed_at)) AS last_reply_at
FROM ${VIEWS.orders} AS o
WHERE ${THIS_ORDER} AND external_id = {external_id:String}`;

export interface HistoryRow {
  event_time: EpochMicros;
  action: string;
  occurrence: number;
  list_position: number;
  observed_at: EpochMicros;
}

export const HISTORY = `
SELECT toUnixTimestamp64Micro(event_time) AS event_time, action, occurrence, list_position,
    toUnixTimestamp64Micro(seen_at) AS observed_at
FROM ${VIEWS.orders}
ARRAY JOIN history.time AS event_time, history.action AS action, history.occurrence AS occurrence,
    history.list_position AS list_position, history.observed_at AS seen_at
WHERE ${THIS_ORDER} AND external_id = {external_id:String}`;

export interface CallbackRow {
  content_hash: string;
  verdict: Verdict;
  signature_cause: string;
  status: string | null;
  amount: string | null;
  currency: string | null;
  problem: string;
  source: string;
  first_received_at: EpochMicros;
  last_received_at: EpochMicros;
  deliveries: number;
}

/** What the view `callbacks` shows; its grouping would hide the filter by order from the engine. */
export const CALLBACKS = `
SELECT lower(hex(d.content_hash)) AS content_hash, latest.1 AS verdict,
    if(verdict = 'mismatch', ifNull(argMaxOrNullIf(toString(d.signature_cause), d.received_at, d.signature_cause NOT IN ('none', 'not_examined')), 'not_examined'), 'none') AS signature_cause,
    latest.2 AS status, latest.3 AS amount,
    latest.4 AS currency, latest.5 AS problem, latest.6 AS source,
    argMax(tuple(toString(d.verdict), d.status, d.amount, d.currency, d.problem, d.source), d.received_at) AS latest,
    toUnixTimestamp64Micro(min(d.received_at)) AS first_received_at,
    toUnixTimestamp64Micro(max(d.received_at)) AS last_received_at,
    uniqExact(d.delivery_id) AS deliveries
FROM ${TABLES.callbackDeliveries} AS d
WHERE ${THIS_ORDER} AND external_id = {external_id:String}
GROUP BY d.content_hash
ORDER BY min(d.received_at), content_hash`;

export interface PollsRow {
  outcome: PollOutcome;
  count: number;
  first_at: EpochMicros;
  last_at: EpochMicros;
  http_status: number | null;
  error_type: string;
  duration_ms: number;
  refused_items: number;
}

/** One row for each outcome, with its last request. */
export const POLLS = `
SELECT p.outcome AS outcome, uniqExact(p.poll_id) AS count,
    toUnixTimestamp64Micro(min(p.started_at)) AS first_at, toUnixTimestamp64Micro(max(p.started_at)) AS last_at,
    argMax(tuple(p.http_status, p.error_type, p.duration_ms, p.refused_items), p.started_at) AS latest,
    latest.1 AS http_status, latest.2 AS error_type, latest.3 AS duration_ms, latest.4 AS refused_items
FROM ${TABLES.polls} AS p
WHERE ${THIS_ORDER}
    AND order_id IN ({external_id:String}, {external_transaction_id:String}) AND order_id != ''
    AND order_id = if(id_kind = 'external-id', {external_id:String}, {external_transaction_id:String})
    AND started_at >= (
        SELECT min(s.first_seen_at) - toIntervalDay(1) FROM ${TABLES.orders} AS s
        WHERE ${THIS_ORDER} AND external_id = {external_id:String})
GROUP BY p.outcome
ORDER BY count DESC, outcome`;

export interface WatchRow {
  phase: WatchPhase;
  next_poll_at: EpochMicros;
  first_seen_at: EpochMicros;
}

export const WATCH = `
SELECT w.phase AS phase, toUnixTimestamp64Micro(w.next_poll_at) AS next_poll_at,
    toUnixTimestamp64Micro(w.first_seen_at) AS first_seen_at
FROM ${TABLES.orderWatch} AS w
WHERE ${THIS_ORDER}
    AND (id_kind, order_id) IN (('external-id', {external_id:String}), ('transaction-id', {external_transaction_id:String}))
    AND order_id != ''
ORDER BY w.id_kind, w.updated_at DESC
LIMIT 1`;
