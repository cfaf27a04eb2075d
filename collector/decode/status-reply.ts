import { FINAL_STATUSES } from '../../schemas/dictionary.ts';
import type { Decoded, Rejected } from '../../schemas/decoded.ts';
import { rejectRow } from '../../schemas/reject-row.ts';
import type { EpochMicros, HistoryEventRow, RejectReason, RejectRow } from '../../schemas/rows.ts';
import { spanRefText } from '../../schemas/span.ts';
import { watchKey } from '../../schemas/watch.ts';
import { decodeHistory, inTimeOrder, type DecodedItem, type RefusedItem, type SeenItem } from './history.ts';
import { ANY_TIME, beyondAll, MAX_ITEMS, outsideWindow, summedUp } from './history-window.ts';
import { stableId } from './ids.ts';
import { addKnown, findKnown, readRefused, type KnownHistory, type KnownItems } from './known-history.ts';
import { missingItems, NOTHING_MISSING, type MissingItems } from './missing-items.ts';
import type { Problem } from '../../schemas/problem.ts';
import { readReply, type ReadReply, type ReplyContext } from './read-reply.ts';

/** What the decoder noticed about a reply that the interface's rules do not expect. `''` when nothing. */
export type ReplyAnomaly =
  '' | 'history_shrank' | 'history_out_of_order' | 'history_inserted' | 'amount_rounded';

export type DecodedReply = Decoded<ReplyContent, Rejected & { readonly rejects: readonly RejectRow[] }>;

export interface ReplyContent {
  readonly externalId: string;
  readonly externalTransactionId: string;
  readonly orderStatus: string;
  readonly final: boolean;
  readonly items: number;
  readonly newEvents: readonly HistoryEventRow[];
  /** Rejects that this reply makes, whether they were made before or not. */
  readonly refusedItems: number;
  readonly known: KnownHistory;
  /** All items that are known, those of this reply among them, in time order. */
  readonly history: readonly SeenItem[];
  /** When the reply was decoded: of items that are new, when they were first seen. */
  readonly observedAt: EpochMicros;
  readonly amount: string | null;
  /** The reply names an amount that cannot be kept: no other source's stands in its place. */
  readonly isAmountRefused: boolean;
  readonly currency: string | null;
  /** Of these, the ones that were not rejected before. */
  readonly rejects: readonly RejectRow[];
  readonly anomaly: ReplyAnomaly;
  /** What earlier replies had and this one lacks. */
  readonly missing: MissingItems;
}

/**
 * Decodes the body of a status reply (interface document, sections 2.3 and 4.3-4.5). Pure and total. Rows are
 * made for items not known yet; a history that shrinks keeps the union.
 */
export function decodeStatusReply(body: string, context: ReplyContext): DecodedReply {
  const read = readReply(body, context);
  if (!read.ok) return { ...read, rejects: [rejectOf(context, read.reason, read.problem, '')] };
  const { reply } = read;
  const externalTransactionId = reply.externalTransactionId ?? context.externalTransactionId;
  const named = { ...reply, externalTransactionId };
  const history = decodeHistory(
    reply.orderHistory,
    context.policy.fingerprint,
    context.historyTimeZone ?? null,
  );
  const known = findKnown(context.known, history.items);
  const { fresh, outside } = newItems(history.items, known, context);
  const refused = summedUp([...history.refused, ...outside]);
  const { rejects, remembered } = newRejects(
    [...reply.dropped.map(fieldRefused), ...refused],
    reply,
    context,
  );
  const ordered = inTimeOrder([...known.items, ...fresh]);
  const anomaly =
    anomalyOf(history, known, fresh.length + outside.length, ordered) ||
    (reply.isAmountRounded ? 'amount_rounded' : '');
  return {
    ok: true,
    externalId: reply.externalId,
    externalTransactionId,
    orderStatus: reply.orderStatus,
    final: FINAL_STATUSES.includes(reply.orderStatus),
    items: history.items.length - outside.length,
    newEvents: eventRows(ordered, known, named, context),
    refusedItems: refused.length,
    known: addKnown(context.known, fresh, remembered),
    history: ordered,
    observedAt: context.observedAt,
    amount: reply.amount,
    isAmountRefused: reply.isAmountRefused,
    currency: reply.currency,
    rejects,
    anomaly,
    missing: anomaly === 'history_shrank' ? missingItems(ordered, known, history.items) : NOTHING_MISSING,
  };
}

/** A field that was dropped, reported like a refused item. */
const fieldRefused = (problem: Problem): RefusedItem => ({
  position: -1,
  reason: 'field_unreadable',
  problem,
  content: '',
});

/** The rows of rejects that were not made before, and the ids of those that are to be remembered. */
function newRejects(
  refused: readonly RefusedItem[],
  { externalId }: ReadReply,
  context: ReplyContext,
): { rejects: RejectRow[]; remembered: string[] } {
  if (refused.length === 0) return { rejects: [], remembered: [] };
  const before = readRefused(context.known);
  // The order's own id, whichever it was asked by: the next read asks by that one, and finds the same faults.
  const own = { ...context, idKind: 'external-id', orderId: externalId } as const;
  const rejects = refusedRows(own, refused).filter((row) => !before.has(row.reject_id));
  // Those beyond the limit come again with each reply, and fold into one row.
  return { rejects, remembered: before.size < MAX_REMEMBERED ? rejects.map((row) => row.reject_id) : [] };
}

/** A row for each item that was not known. */
function eventRows(
  ordered: readonly DecodedItem[],
  known: KnownItems,
  { externalId, externalTransactionId }: { externalId: string; externalTransactionId: string },
  context: ReplyContext,
): HistoryEventRow[] {
  const rows: HistoryEventRow[] = [];
  const readSpan = spanRefText(context.readSpan ?? null);
  for (const [index, item] of ordered.entries()) {
    if (known.has(item)) continue;
    // Written out: spreading an object into each row costs more than the rest of it.
    rows.push({
      gateway: context.gateway,
      order_type: context.orderType,
      external_id: externalId,
      event_time: item.time,
      action: item.code.action,
      occurrence: item.occurrence,
      external_transaction_id: externalTransactionId,
      channel: context.channel,
      code_format: item.code.format,
      stage: item.code.stage,
      result: item.code.result,
      state: item.code.state,
      reason_code: item.code.reasonCode,
      reason_group: item.code.reasonGroup,
      reason_detail: item.code.reasonDetail,
      list_position: item.position,
      span_start: ordered[index - 1]?.time ?? item.time,
      observed_at: context.observedAt,
      source: context.source,
      callback_at: context.callbackAt ?? null,
      read_span: readSpan,
    });
  }
  return rows;
}

/**
 * The items that are not known yet, without those whose time is not kept. What is stored stays, however old.
 */
function newItems(
  items: readonly DecodedItem[],
  known: KnownItems,
  { window = ANY_TIME, observedAt }: ReplyContext,
): { fresh: SeenItem[]; outside: RefusedItem[] } {
  const fresh: SeenItem[] = [];
  const outside: RefusedItem[] = [];
  for (const item of items) {
    if (known.has(item)) continue;
    const isTooMuch = known.items.length + fresh.length >= MAX_ITEMS;
    const refusal = outsideWindow(item, window) ?? (isTooMuch ? beyondAll(item) : null);
    const { time, code, occurrence, position } = item;
    if (refusal === null) fresh.push({ time, code, occurrence, position, observedAt });
    else outside.push(refusal);
  }
  return { fresh, outside };
}

/** Rejects of an order that are kept in mind. */
const MAX_REMEMBERED = 1_000;

function anomalyOf(
  history: { items: readonly DecodedItem[]; outOfOrder: boolean },
  known: KnownItems,
  unknown: number,
  ordered: readonly DecodedItem[],
): ReplyAnomaly {
  // Keys are unique in both: when fewer items were known than there are known ones, some of those are
  // missing.
  if (history.items.length - unknown < known.items.length) return 'history_shrank';
  if (history.outOfOrder) return 'history_out_of_order';
  const firstFresh = ordered.findIndex((item) => !known.has(item));
  // Behind the known ones is where new items belong.
  return firstFresh >= 0 && firstFresh < known.items.length ? 'history_inserted' : '';
}

/**
 * A row for each refused item. Items that look alike are distinguished by their number, as equal readable
 * ones are.
 */
function refusedRows(context: ReplyContext, refused: readonly RefusedItem[]): RejectRow[] {
  const seen = new Map<string, number>();
  return refused.map(({ reason, problem, content }) => {
    const look = `${reason}|${problem.field}|${content}`;
    const occurrence = seen.get(look) ?? 0;
    seen.set(look, occurrence + 1);
    return rejectOf(context, reason, problem, content, occurrence);
  });
}

function rejectOf(
  context: ReplyContext,
  reason: RejectReason,
  problem: Problem,
  content: string,
  occurrence = 0,
): RejectRow {
  const fault = `${watchKey(context)}|${reason}|${problem.field}|${content}|${occurrence}`;
  return rejectRow({
    gateway: context.gateway,
    reason,
    // The same fault of the same order is one reject, however often the order is read.
    rejectId: stableId(fault),
    rejectedAt: context.observedAt,
    source: context.source,
    problem,
    content,
    orderType: context.orderType,
    orderId: context.orderId,
  });
}
