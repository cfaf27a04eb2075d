import type { OrderRecord } from '../schemas/cascade-safety.ts';
import { TABLES } from '../schemas/names.ts';
import type { OrderQuery } from '../schemas/order-timeline.ts';
import type { WatchPhase } from '../schemas/watch.ts';
import { CANDIDATES, type CandidateRow } from './order-timeline-sql.ts';
import type { TimelineQuery } from './order-timeline.ts';

/**
 * What the store has of one order, as far as it matters for cascading: its ids, its status, and whatever spoke
 * of a success. Null when nothing is known of such an order. Made for whoever waits: one statement where the
 * query names gateway, type and the gateway's own id, else one more.
 */
export async function readOrderRecord(query: TimelineQuery, wanted: OrderQuery): Promise<OrderRecord | null> {
  const { id, gateway, type, by } = wanted;
  if (gateway !== undefined && type !== undefined && by === 'external-id') {
    const order = { gateway, order_type: type, external_id: id, external_transaction_id: '' };
    return recordOf(query, order, false);
  }
  for (const kind of by === undefined ? (['external-id', 'transaction-id'] as const) : [by]) {
    const params = { id, gateway: gateway ?? '', order_type: type ?? '' };
    const found = await query<CandidateRow>(CANDIDATES[kind], params);
    const named = found.filter((one) => one.external_id !== '' || !found.some((other) => isSame(one, other)));
    const [first, ...others] = named;
    if (first !== undefined) return recordOf(query, first, others.length > 0);
  }
  return null;
}

/** The order watched by the merchant's id is the one that is known by the gateway's. */
const isSame = (one: CandidateRow, other: CandidateRow): boolean =>
  other.external_id !== '' && other.gateway === one.gateway && other.order_type === one.order_type;

async function recordOf(
  query: TimelineQuery,
  order: CandidateRow,
  isAmbiguous: boolean,
): Promise<OrderRecord | null> {
  const { gateway, order_type: orderType, external_id, external_transaction_id } = order;
  const [row] = await query<RecordRow>(RECORD, { ...order });
  if (row === undefined || (row.first_seen === '' && row.phase === '')) return null;
  return {
    gateway,
    orderType,
    externalId: external_id,
    externalTransactionId: external_transaction_id || row.transaction_id,
    isAmbiguous,
    status: row.status,
    lastReplyAt: instant(row.last_reply),
    outcome: row.outcome,
    historyItems: row.items,
    successItemAt: instant(row.success_item),
    callback:
      row.callback_at === '' ? null : { status: row.callback_status, receivedAt: iso(row.callback_at) },
    successCallbackAt: instant(row.success_callback),
    phase: row.phase === '' ? null : row.phase,
    amount: row.amount,
    currency: row.currency,
  };
}

/** Times are text, '' for none. */
interface RecordRow {
  readonly first_seen: string;
  readonly transaction_id: string;
  readonly last_reply: string;
  readonly status: string | null;
  readonly outcome: string | null;
  readonly amount: string | null;
  readonly currency: string | null;
  readonly items: number;
  readonly success_item: string;
  readonly callback_at: string;
  readonly callback_status: string | null;
  readonly success_callback: string;
  readonly phase: WatchPhase | '';
}

const iso = (text: string): string => `${text.replace(' ', 'T')}Z`;
const instant = (text: string): string | null => (text === '' ? null : iso(text));

const THIS_ORDER = `gateway = {gateway:String} AND order_type = {order_type:String} AND external_id = {external_id:String}`;
const text = (time: string): string => `ifNull(toString(${time}), '')`;
const newestText = (time: string, count: string): string => `if(${count} = 0, '', toString(max(${time})))`;

/**
 * Callbacks lie by their content: those that came since the order was first heard of lead to it. One that
 * verifies is an observation of its order, so that an order without any has none.
 */
const RECORD = `
WITH
    (SELECT tuple(count(), min(s.first_seen_at), max(s.external_transaction_id), max(s.last_reply_at), argMaxIfMerge(s.reply),
        toString(argMaxIfMerge(s.amount_fact)), argMaxIfMerge(s.currency_fact))
    FROM orders_store AS s WHERE ${THIS_ORDER} AND external_id != '') AS head
SELECT
    if(head.1 = 0, '', toString(head.2)) AS first_seen, ifNull(head.3, '') AS transaction_id, ${text('head.4')} AS last_reply,
    head.5.1 AS status, head.5.2 AS outcome, head.6 AS amount, head.7 AS currency,
    history.items AS items, history.success_item AS success_item,
    callbacks.newest AS callback_at, callbacks.status AS callback_status, callbacks.success AS success_callback, watch.phase AS phase
FROM
(
    SELECT uniqExact(h.event_time, h.action, h.occurrence) AS items, ${newestText('success_time', 'countIf(is_success)')} AS success_item
    FROM
    (
        SELECT event_time, action, occurrence, state = 'SUCCESS' AS is_success, if(is_success, event_time, toDateTime64(0, 6, 'UTC')) AS success_time
        FROM ${TABLES.historyEvents} WHERE ${THIS_ORDER}
    ) AS h
) AS history
CROSS JOIN
(
    SELECT ${newestText('d.received_at', 'count()')} AS newest, argMax(d.status, d.received_at) AS status,
        if(countIf(d.status = 'Success') = 0, '', toString(maxIf(d.received_at, d.status = 'Success'))) AS success
    FROM ${TABLES.callbackDeliveries} AS d
    WHERE ${THIS_ORDER} AND verdict IN ('valid', 'valid_previous_key') AND content_hash IN
    (
        SELECT content_hash FROM callback_arrivals_store
        WHERE gateway = {gateway:String} AND external_id = {external_id:String}
        AND received_at >= if(head.1 = 0, toDateTime64('2200-01-01 00:00:00', 6, 'UTC'), head.2 - toIntervalDay(1))
    )
) AS callbacks
CROSS JOIN
(
    SELECT if(count() = 0, '', toString(argMax(w.phase, w.updated_at))) AS phase
    FROM ${TABLES.orderWatch} AS w
    WHERE gateway = {gateway:String} AND order_type = {order_type:String} AND order_id != ''
    AND (id_kind, order_id) IN (('external-id', {external_id:String}), ('transaction-id', {external_transaction_id:String}))
) AS watch`;
