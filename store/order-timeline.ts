import { decode } from '../collector/decode/code.ts';
import { finalSeenAt, foldHistory } from '../collector/decode/fold-order.ts';
import type { SeenItem } from '../collector/decode/history.ts';
import { inTimeOrder, type DecodedItem } from '../collector/decode/history.ts';
import { itemSpanId, traceId, type OrderIdentity } from '../collector/decode/ids.ts';
import { formatTime } from '../collector/decode/time.ts';
import type {
  OrderQuery,
  OrderTimeline,
  TimelineEvent,
  TimelineIdentity,
} from '../schemas/order-timeline.ts';
import { canonicalId } from '../schemas/order-id.ts';
import type { EpochMicros } from '../schemas/rows.ts';
import * as sql from './order-timeline-sql.ts';

/** Runs a SELECT with `{name:Type}` parameters; 64-bit integers as numbers. `Store.query` is one. */
export type TimelineQuery = <T>(text: string, params: Record<string, unknown>) => Promise<T[]>;

/**
 * Everything that is known of one order, or null when nothing is: neither a reply, a callback nor a watch
 * message named it. When the query fits several orders, the one heard of last is shown and the others are
 * listed. Reads the physical tables by their sorting keys, which is faster than FINAL over the views
 * (storage: measured).
 */
export async function readOrderTimeline(
  query: TimelineQuery,
  wanted: OrderQuery,
): Promise<OrderTimeline | null> {
  const kinds = wanted.by === undefined ? (['external-id', 'transaction-id'] as const) : [wanted.by];
  for (const by of kinds) {
    const found = await query<sql.CandidateRow>(sql.CANDIDATES[by], {
      id: by === 'external-id' ? canonicalId(wanted.id) : wanted.id,
      gateway: wanted.gateway ?? '',
      order_type: wanted.type ?? '',
    });
    const [chosen, ...others] = found.map(identityOf).filter(isNamed);
    if (chosen === undefined) continue;
    return { ...(await describeOrder(query, chosen)), alsoMatching: others };
  }
  return null;
}

async function describeOrder(
  query: TimelineQuery,
  identity: TimelineIdentity,
): Promise<Omit<OrderTimeline, 'alsoMatching'>> {
  const params = {
    gateway: identity.gateway,
    order_type: identity.orderType,
    external_id: identity.externalId ?? '',
    external_transaction_id: identity.externalTransactionId ?? '',
  };
  const [heads, history, callbacks, polls, watches] = await Promise.all([
    identity.externalId === null ? [] : query<sql.HeadRow>(sql.HEAD, params),
    identity.externalId === null ? [] : query<sql.HistoryRow>(sql.HISTORY, params),
    identity.externalId === null ? [] : query<sql.CallbackRow>(sql.CALLBACKS, params),
    query<sql.PollsRow>(sql.POLLS, params),
    query<sql.WatchRow>(sql.WATCH, params),
  ]);
  const head = heads[0];
  const order = identity.externalId === null ? null : { ...identity, externalId: identity.externalId };
  return {
    order: {
      ...identity,
      externalTransactionId: identity.externalTransactionId ?? text(head?.external_transaction_id),
      channel: text(head?.channel),
      status: head?.status ?? null,
      outcome: head?.outcome ?? null,
      reasonGroup: head?.reason_group ?? null,
      reasonDetail: head?.reason_detail ?? null,
      amount: head?.amount ?? null,
      currency: head?.currency ?? null,
      currencySource: head?.currency_source ?? null,
      firstSeenAt: instant(head?.first_seen_at ?? watches[0]?.first_seen_at),
      createdAt: instant(head?.created_at),
      finalAt: instant(head?.final_at),
      settledAt: instant(head?.settled_at),
      abandonedAt: instant(head?.abandoned_at),
      lastReplyAt: instant(head?.last_reply_at),
      traceId: order === null ? null : traceId(order),
    },
    events: order === null ? [] : eventsOf(order, history),
    callbacks: callbacks.map((row) => ({
      contentHash: row.content_hash,
      verdict: row.verdict,
      signatureCause: row.signature_cause,
      confirmed: isConfirmed(row, head),
      status: row.status,
      amount: row.amount,
      currency: row.currency,
      problem: row.problem,
      source: row.source,
      firstReceivedAt: formatTime(row.first_received_at),
      lastReceivedAt: formatTime(row.last_received_at),
      deliveries: row.deliveries,
    })),
    polls: pollsOf(polls),
    watch: watchOf(watches[0]),
  };
}

/** A callback is a claim; what confirms it is the newest status reply (interface document, section 6.2). */
function isConfirmed(
  { status, amount }: Pick<sql.CallbackRow, 'status' | 'amount'>,
  head: sql.HeadRow | undefined,
): boolean | null {
  if (head === undefined || head.status === null) return null;
  const isSameAmount = amount !== null && head.amount !== null && Number(amount) === Number(head.amount);
  return status === head.status && isSameAmount;
}

function eventsOf(order: OrderIdentity, rows: readonly sql.HistoryRow[]): TimelineEvent[] {
  const seen = rows.map((row): SeenItem => ({
    time: row.event_time,
    code: decode(row.action),
    occurrence: row.occurrence,
    position: row.list_position,
    observedAt: row.observed_at,
  }));
  const items = inTimeOrder(seen);
  const { deciding } = foldHistory(items);
  const lateAfter = finalSeenAt(items) ?? Number.POSITIVE_INFINITY;
  return items.map((item, index) =>
    eventOf(order, item, items[index - 1], {
      observedAt: formatTime(item.observedAt),
      late: item.observedAt > lateAfter,
      deciding: item === deciding,
    }),
  );
}

function eventOf(
  order: OrderIdentity,
  item: DecodedItem,
  before: DecodedItem | undefined,
  marks: Pick<TimelineEvent, 'observedAt' | 'late' | 'deciding'>,
): TimelineEvent {
  const { time, code, occurrence, position } = item;
  return {
    time: formatTime(time),
    sincePreviousMs: before === undefined ? null : (time - before.time) / 1000,
    ...code,
    occurrence,
    listPosition: position,
    ...marks,
    spanId: itemSpanId(order, { eventTime: time, action: code.action, occurrence }),
  };
}

function pollsOf(rows: readonly sql.PollsRow[]): OrderTimeline['polls'] {
  const last = rows.toSorted((a, b) => b.last_at - a.last_at)[0];
  const firstAt = Math.min(...rows.map((row) => row.first_at));
  return {
    count: rows.reduce((sum, row) => sum + row.count, 0),
    refusedItems: rows.find(({ outcome }) => outcome === 'ok')?.refused_items ?? 0,
    outcomes: rows.map(({ outcome, count }) => ({ outcome, count })),
    firstAt: last === undefined ? null : formatTime(firstAt),
    last:
      last === undefined
        ? null
        : {
            at: formatTime(last.last_at),
            outcome: last.outcome,
            httpStatus: last.http_status,
            errorType: last.error_type,
            durationMs: last.duration_ms,
          },
  };
}

function watchOf(row: sql.WatchRow | undefined): OrderTimeline['watch'] {
  if (row === undefined) return null;
  const planned = row.phase === 'active' || row.phase === 'rereading';
  return { phase: row.phase, nextPollAt: planned ? formatTime(row.next_poll_at) : null };
}

function identityOf(row: sql.CandidateRow): TimelineIdentity {
  return {
    gateway: row.gateway,
    orderType: row.order_type,
    externalId: text(row.external_id),
    externalTransactionId: text(row.external_transaction_id),
  };
}

/** An order watched by the merchant's id is left out once the same one is known by the service's. */
function isNamed(one: TimelineIdentity, _index: number, all: readonly TimelineIdentity[]): boolean {
  const same = (other: TimelineIdentity) =>
    other.externalId !== null && other.gateway === one.gateway && other.orderType === one.orderType;
  return one.externalId !== null || !all.some(same);
}

function text(value: string | undefined): string | null {
  return value === undefined || value === '' ? null : value;
}

function instant(micros: EpochMicros | null | undefined): string | null {
  return micros === null || micros === undefined ? null : formatTime(micros);
}
