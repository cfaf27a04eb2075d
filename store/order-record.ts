import type { OrderRecord } from '../schemas/cascade-safety.ts';
import { TABLES } from '../schemas/names.ts';
import { canonicalId } from '../schemas/order-id.ts';
import type { OrderQuery } from '../schemas/order-timeline.ts';
import type { WatchPhase } from '../schemas/watch.ts';
import { CANDIDATES, type CandidateRow } from './order-timeline-sql.ts';
import type { TimelineQuery } from './order-timeline.ts';

/**
 * What the store has of one order, as far as it matters for cascading: its ids, its status, and whatever
 * spoke of a success. Null when nothing is known of such an order. Made for whoever waits: one statement
 * where the query names gateway, type and the gateway's own id, else one more.
 */
export async function readOrderRecord(query: TimelineQuery, wanted: OrderQuery): Promise<OrderRecord | null> {
  const { id, gateway, type, by } = wanted;
  if (gateway !== undefined && type !== undefined && by === 'external-id') {
    const order = { gateway, order_type: type, external_id: canonicalId(id), external_transaction_id: '' };
    return recordOf(query, order, false);
  }
  for (const kind of by === undefined ? (['external-id', 'transaction-id'] as const) : [by]) {
    const named = kind === 'external-id' ? canonicalId(id) : id;
    const params = { id: named, gateway: gateway ?? '', order_type: type ?? '' };
    const found = await query<CandidateRow>(CANDIDATES[kind], params);
    const orders = found.filter(
      (one) => one.external_id !== '' || !found.some((other) => isSame(one, other)),
    );
    const [first, ...others] = orders;
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
  const found = new Map((await query<PartRow>(RECORD, { ...order })).map((row) => [row.part, row]));
  const [head, fresh, callbacks, watch] = PARTS.map((part) => found.get(part)?.texts ?? []);
  if (!found.has('head') && !found.has('fresh') && !found.has('watch')) return null;
  return {
    gateway,
    orderType,
    externalId: external_id,
    externalTransactionId: external_transaction_id || (head?.[0] ?? ''),
    isAmbiguous,
    status: head?.[2] ?? null,
    lastReplyAt: instant(head?.[1]),
    outcome: head?.[3] ?? null,
    historyItems: Number(head?.[6] ?? 0),
    successItemAt: instant(later(head?.[7], fresh?.[0])),
    callback: found.has('callbacks')
      ? { status: callbacks?.[1] ?? null, receivedAt: instant(callbacks?.[0]) ?? '' }
      : null,
    successCallbackAt: instant(callbacks?.[2]),
    phase: (watch?.[0] ?? null) as WatchPhase | null,
    amount: head?.[4] ?? null,
    currency: head?.[5] ?? null,
  };
}

const PARTS = ['head', 'fresh', 'callbacks', 'watch'] as const;

/** A part that the order has; one that it lacks has no row. */
interface PartRow {
  readonly part: (typeof PARTS)[number];
  readonly n: number;
  readonly texts: readonly (string | null)[];
}

/** Texts of instants sort as the instants do. */
const later = (one: string | null | undefined, other: string | null | undefined): string | null =>
  [one, other]
    .filter((text) => typeof text === 'string')
    .toSorted()
    .at(-1) ?? null;

function instant(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : `${text.replace(' ', 'T')}Z`;
}

/** By then the row of an order has all items that anybody has read. */
const FRESH_SECONDS = 3_600;

const THIS_ORDER = `gateway = {gateway:String} AND order_type = {order_type:String} AND external_id = {external_id:String}`;
const part = (name: (typeof PARTS)[number], texts: readonly string[], count = 'count()'): string =>
  `SELECT '${name}' AS part, toUInt64(${count}) AS n, [${texts.map((text) => `CAST(${text}, 'Nullable(String)')`).join(', ')}] AS texts`;

/**
 * Callbacks lie by their content: those that came since the order was first heard of lead to it. One that
 * verifies is an observation of its order, so that an order without any has none. No joins: to plan them
 * takes the engine longer than to read.
 */
const RECORD = [
  // Of one order the newest of all rows is found sooner than with FINAL.
  `${part(
    'head',
    [
      'external_transaction_id',
      'if(s.status IS NULL, NULL, s.observed_at)',
      'status',
      'outcome',
      'amount',
      'currency',
      'history_items',
      // The newest item with the state SUCCESS, or NULL.
      "if(has(s.history.state, 'SUCCESS'), arrayMax((time, state) -> if(ifNull(state = 'SUCCESS', 0), time, toDateTime64(0, 6)), s.history.time, s.history.state), NULL)",
    ].map(
      // A tuple, since an aggregate function passes over NULL.
      (value) => `argMax(tuple(${value}), s.observed_at).1`,
    ),
  )} FROM ${TABLES.orders} AS s WHERE ${THIS_ORDER} AND external_id != ''`,
  // Items stand before the row where another collector than the order's own has read them.
  `${part('fresh', ['max(event_time)'])} FROM ${TABLES.historyEvents}
  WHERE ${THIS_ORDER} AND state = 'SUCCESS' AND observed_at >= now64(6) - INTERVAL ${FRESH_SECONDS} SECOND`,
  `${part('callbacks', [
    'max(d.received_at)',
    'argMax(d.status, d.received_at)',
    "maxOrNullIf(d.received_at, d.status = 'Success')",
  ])} FROM ${TABLES.callbackDeliveries} AS d
  WHERE ${THIS_ORDER} AND verdict IN ('valid', 'valid_previous_key') AND content_hash IN
    (SELECT content_hash FROM callback_arrivals_store WHERE gateway = {gateway:String} AND external_id = {external_id:String}
    AND received_at >= (SELECT minOrDefault(first_seen_at) - toIntervalDay(1) FROM ${TABLES.orders} WHERE ${THIS_ORDER} HAVING count() > 0))`,
  `${part('watch', ['argMax(w.phase, w.updated_at)'])} FROM ${TABLES.orderWatch} AS w
  WHERE gateway = {gateway:String} AND order_type = {order_type:String} AND order_id != ''
  AND (id_kind, order_id) IN (('external-id', {external_id:String}), ('transaction-id', {external_transaction_id:String}))`,
]
  .map((select) => `${select} HAVING n > 0`)
  .join('\nUNION ALL\n');
