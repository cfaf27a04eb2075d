import { FINAL_STATUSES, type OrderType } from '../../schemas/dictionary.ts';
import { statusReplySchema, type StatusReply } from '../../schemas/gateway/status-reply.ts';
import type {
  EpochMicros,
  HistoryEventRow,
  OrderObservationRow,
  RejectReason,
  RejectRow,
} from '../../schemas/rows.ts';
import type { IdKind } from '../../schemas/watch.ts';
import {
  decide,
  decodeHistory,
  inTimeOrder,
  type DecodedItem,
  type Decision,
  type RefusedItem,
} from './history.ts';
import {
  ANY_TIME,
  beyondAll,
  MAX_ITEMS,
  outsideWindow,
  summedUp,
  type HistoryWindow,
} from './history-window.ts';
import { stableId } from './ids.ts';
import { addKnown, readKnown, readRefused, type KnownHistory } from './known-history.ts';
import { received } from '../../schemas/shape.ts';
import { parseKeepingAmount } from './amount-text.ts';
import { firstProblem, type Problem } from '../../schemas/problem.ts';
import {
  currencyCode,
  decimalText,
  isKeepableId,
  storedId,
  storedStatus,
  type TextPolicy,
} from './grammar.ts';

/** What the reply was asked for, and what is already known of the order. */
export interface ReplyContext {
  readonly gateway: string;
  readonly orderType: OrderType;
  readonly idKind: IdKind;
  readonly orderId: string;
  readonly channel: string;
  readonly externalTransactionId: string;
  readonly known: KnownHistory;
  readonly observedAt: EpochMicros;
  readonly source: string;
  readonly policy: TextPolicy;
  /** Times of the items that are stored. @default ANY_TIME */
  readonly keeps?: HistoryWindow;
}

/** What the decoder noticed about a history that the interface's rules do not expect. `''` when nothing. */
export type HistoryAnomaly = '' | 'history_shrank' | 'history_out_of_order' | 'history_inserted';

export type DecodedReply =
  | {
      readonly ok: true;
      readonly externalId: string;
      readonly externalTransactionId: string;
      readonly orderStatus: string;
      readonly final: boolean;
      readonly items: number;
      readonly newEvents: readonly HistoryEventRow[];
      /** Rejects that this reply makes, whether they were made before or not. */
      readonly refusedItems: number;
      readonly known: KnownHistory;
      readonly decision: Decision | null;
      readonly firstEventAt: EpochMicros | null;
      readonly lastEventAt: EpochMicros | null;
      readonly observation: OrderObservationRow;
      /** Of these, the ones that were not rejected before. */
      readonly rejects: readonly RejectRow[];
      readonly anomaly: HistoryAnomaly;
    }
  | { readonly ok: false; readonly rejects: readonly RejectRow[] };

/**
 * Decodes the body of a status reply (interface document, sections 2.3 and 4.3-4.5). Pure and total. Rows are
 * made for items not known yet; a history that shrinks keeps the union.
 */
export function decodeStatusReply(body: string, context: ReplyContext): DecodedReply {
  const read = readReply(body, context);
  if ('reason' in read) return { ok: false, rejects: [rejectRow(context, read.reason, read.problem, '')] };
  const { reply } = read;
  const history = decodeHistory(reply.orderHistory ?? [], context.policy.fingerprint);
  const known = readKnown(context.known);
  const refusedBefore = readRefused(context.known);
  // The order's own id, whichever it was asked by: the next read asks by that one, and finds the same faults.
  const own = { ...context, idKind: 'external-id', orderId: reply.externalId } as const;
  const { fresh, outside } = newItems(history.items, known, context.keeps ?? ANY_TIME);
  const refused = summedUp([...history.refused, ...outside]);
  const rejects = refusedRows(own, refused).filter((row) => !refusedBefore.has(row.reject_id));
  const ordered = inTimeOrder([...known.values(), ...fresh]);
  const decision = decide(ordered);
  const externalTransactionId = reply.externalTransactionId ?? context.externalTransactionId;
  const final = FINAL_STATUSES.includes(reply.orderStatus);
  const newEvents: HistoryEventRow[] = [];
  for (const [index, item] of ordered.entries()) {
    if (known.has(item.key)) continue;
    // Written out: spreading an object into each row costs more than the rest of it.
    newEvents.push({
      gateway: context.gateway,
      order_type: context.orderType,
      external_id: reply.externalId,
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
    });
  }
  const observation: OrderObservationRow = {
    gateway: context.gateway,
    order_type: context.orderType,
    external_id: reply.externalId,
    observed_at: context.observedAt,
    kind: 'status_reply',
    external_transaction_id: externalTransactionId,
    channel: context.channel,
    status: reply.orderStatus,
    amount: decimalText(reply.amount),
    currency: currencyCode(reply.currency),
    outcome: decision?.outcome ?? null,
    deciding_action: decision?.item.code.action ?? null,
    reason_code: decision?.item.code.reasonCode ?? null,
    reason_group: decision?.item.code.reasonGroup ?? null,
    reason_detail: decision?.item.code.reasonDetail ?? null,
    history_items: ordered.length,
    created_at: ordered[0]?.time ?? null,
    final_at: decision?.item.time ?? null,
    settled_at: null,
    abandoned_at: null,
  };
  return {
    ok: true,
    externalId: reply.externalId,
    externalTransactionId,
    orderStatus: reply.orderStatus,
    final,
    items: history.items.length - outside.length,
    newEvents,
    refusedItems: refused.length,
    known: addKnown(
      context.known,
      fresh,
      // Those beyond are told again with each reply, and fold into one row.
      refusedBefore.size < MAX_REMEMBERED ? rejects.map((row) => row.reject_id) : [],
    ),
    decision,
    firstEventAt: ordered[0]?.time ?? null,
    lastEventAt: ordered.at(-1)?.time ?? null,
    observation,
    rejects,
    anomaly: anomalyOf(history, known, fresh.length + outside.length, ordered),
  };
}

/**
 * The items that are not known yet, without those whose time is not kept. What is stored stays, however old.
 */
function newItems(
  items: readonly DecodedItem[],
  known: ReadonlyMap<string, DecodedItem>,
  keeps: HistoryWindow,
): { fresh: DecodedItem[]; outside: RefusedItem[] } {
  const fresh: DecodedItem[] = [];
  const outside: RefusedItem[] = [];
  for (const item of items) {
    if (known.has(item.key)) continue;
    const isTooMuch = known.size + fresh.length >= MAX_ITEMS;
    const refusal = outsideWindow(item, keeps) ?? (isTooMuch ? beyondAll(item) : null);
    if (refusal === null) fresh.push(item);
    else outside.push(refusal);
  }
  return { fresh, outside };
}

/** Rejects of an order that are kept in mind. */
const MAX_REMEMBERED = 1_000;

type Read = { reply: StatusReply } | { reason: RejectReason; problem: Problem };

/** The reply with every text as a row keeps it. */
function readReply(body: string, context: ReplyContext): Read {
  const { policy } = context;
  let input: unknown;
  try {
    // Some servers put a byte order mark before their JSON.
    input = parseReply(body.startsWith('\u{feff}') ? body.slice(1) : body);
  } catch {
    // The parser's message quotes the input, which may hold card data: it is not repeated.
    const length = `${body.length} characters of something else`;
    return { reason: 'reply_truncated', problem: { field: 'body', received: length, expected: 'JSON' } };
  }
  const parsed = statusReplySchema.safeParse(input);
  if (!parsed.success) return { reason: 'reply_malformed', problem: firstProblem(parsed.error, input) };
  const reply = parsed.data;
  const mismatch = mismatchOf(reply, context);
  if (mismatch !== null) return { reason: 'id_mismatch', problem: mismatch };
  // Asked by the merchant's id, the gateway names its own: under that the order is filed and read from now
  // on.
  const isOwn = context.idKind === 'external-id' || isKeepableId(reply.externalId, policy.keepsCardLikeIds);
  if (!isOwn) {
    const problem = { field: 'externalId', received: received(reply.externalId), expected: 'an id' };
    return { reason: 'reply_malformed', problem };
  }
  const { externalTransactionId } = reply;
  return {
    reply: {
      ...reply,
      orderStatus: storedStatus(reply.orderStatus, policy.fingerprint),
      externalTransactionId:
        externalTransactionId === null || externalTransactionId === undefined || externalTransactionId === ''
          ? externalTransactionId
          : storedId(externalTransactionId, policy),
    },
  };
}

/** Of more digits than a double holds. */
const LONG_AMOUNT = /"amount"\s*:\s*-?[\d.]{16}/;
const PLAIN_NUMBER = /^-?[\d.]{1,63}$/;

/** The reply, its amount as text where a number would be another amount. */
function parseReply(body: string): unknown {
  if (!LONG_AMOUNT.test(body)) return JSON.parse(body) as unknown;
  return parseKeepingAmount(body, (source) => PLAIN_NUMBER.test(source));
}

/** A reply about another order than the one asked for must never be filed under either. */
function mismatchOf(reply: StatusReply, context: ReplyContext): Problem | null {
  const asked = context.idKind === 'external-id' ? reply.externalId : reply.externalTransactionId;
  const field = context.idKind === 'external-id' ? 'externalId' : 'externalTransactionId';
  if (asked !== null && asked !== undefined && asked !== context.orderId) {
    return { field, received: 'another id', expected: 'the id asked for' };
  }
  const orderType = reply.orderType?.toLowerCase();
  if (orderType !== undefined && orderType !== context.orderType.toLowerCase()) {
    return { field: 'orderType', received: 'another type', expected: context.orderType };
  }
  return null;
}

function anomalyOf(
  history: { items: readonly DecodedItem[]; outOfOrder: boolean },
  known: ReadonlyMap<string, DecodedItem>,
  unknown: number,
  ordered: readonly DecodedItem[],
): HistoryAnomaly {
  // Keys are unique in both: when fewer items were known than there are known ones, some of those are
  // missing.
  if (history.items.length - unknown < known.size) return 'history_shrank';
  if (history.outOfOrder) return 'history_out_of_order';
  const firstFresh = ordered.findIndex((item) => !known.has(item.key));
  // Behind the known ones is where new items belong.
  return firstFresh >= 0 && firstFresh < known.size ? 'history_inserted' : '';
}

/**
 * A row for each refused item. Items that look alike are told apart by their number, as equal readable ones
 * are.
 */
function refusedRows(context: ReplyContext, refused: readonly RefusedItem[]): RejectRow[] {
  const seen = new Map<string, number>();
  return refused.map(({ reason, problem, content }) => {
    const look = `${reason}|${problem.field}|${content}`;
    const occurrence = seen.get(look) ?? 0;
    seen.set(look, occurrence + 1);
    return rejectRow(context, reason, problem, content, occurrence);
  });
}

function rejectRow(
  context: ReplyContext,
  reason: RejectReason,
  problem: Problem,
  content: string,
  occurrence = 0,
): RejectRow {
  const order = `${context.gateway}|${context.orderType}|${context.idKind}|${context.orderId}`;
  return {
    gateway: context.gateway,
    reason,
    // The same fault of the same order is one reject, however often the order is read.
    reject_id: stableId(`${order}|${reason}|${problem.field}|${content}|${occurrence}`),
    rejected_at: context.observedAt,
    source: context.source,
    field: problem.field,
    expected: problem.expected,
    received: problem.received,
    content,
    topic: '',
    kafka_partition: null,
    kafka_offset: null,
    delivery_id: '',
    order_type: context.orderType,
    order_id: context.orderId,
  };
}
