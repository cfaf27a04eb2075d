import type { PollConfig } from '../../schemas/config.ts';
import type { Problem } from '../../schemas/problem.ts';
import { rejectRow } from '../../schemas/reject-row.ts';
import { FINAL_STATUSES } from '../../schemas/dictionary.ts';
import type {
  EpochMicros,
  OrderClaimRow,
  OrderWatchRow,
  ReadNews,
  RejectReason,
  RejectRow,
  RowBundle,
  SettlementRow,
} from '../../schemas/rows.ts';
import { watchKey, type WatchedOrder } from '../../schemas/watch.ts';
import { foldHistory, foldOrder } from '../decode/fold-order.ts';
import { currencyCode, decimalText } from '../decode/grammar.ts';
import { stableId } from '../decode/ids.ts';
import type { SeenItem } from '../decode/history.ts';
import { readKnown } from '../decode/known-history.ts';
import type { DecodedReply, ReplyContent } from '../decode/status-reply.ts';
import { advance } from './advance.ts';
import { claimRow, watchClaims } from './claims.ts';
import type { OrdersContext } from './context.ts';
import { goesOnElsewhere, leaveOrder } from './elsewhere.ts';
import { identify } from './identify.ts';
import { pollRow } from './poll-row.ts';
import type { AppliedReply, PolledReply } from './poller-contract.ts';
import { newsOf, withReply } from './reply-facts.ts';
import { toRow } from './watch-store.ts';

/**
 * Takes a reply of the gateway to acknowledgement: decodes it, makes rows of what is new, advances the
 * order's schedule, and resolves with its next state once everything is stored.
 */
export async function applyReply(reply: PolledReply, context: OrdersContext): Promise<AppliedReply> {
  const gateway = context.gateways.get(reply.order.gateway);
  if (gateway === undefined) throw new TypeError(`no gateway named ${reply.order.gateway}`);
  const now = context.clock.now();
  const identified = await identify(reply, context);
  if (goesOnElsewhere(reply, identified, context)) return leaveOrder(reply, identified, context);
  const { order, tracked, known: knownBefore, loadedIn, version, decoded } = identified;
  const content = decoded?.ok === true ? decoded : null;
  const outcome = decoded !== null && !decoded.ok ? 'invalid_response' : reply.outcome;
  const newestItemAt = newestOf(content);
  const facts = {
    outcome,
    orderStatus: content?.orderStatus ?? null,
    final: content?.final === true,
    newItems: content?.newEvents.length ?? 0,
    newestItemAt,
    retryAfterMs: reply.retryAfterMs,
  };
  const updated = content === null ? order : withReply(order, content);
  // Its own reads drive the schedule of an order that is tracked under both ids.
  const read =
    tracked === null ? advance(updated, facts, gateway.poll, reply.repliedAt, context.random()) : updated;
  const known = content?.known ?? knownBefore;
  const news = newsOf(order, updated, content);
  const ended = hasEnded(read);
  // Read from the text only where a row is made of it: a gateway that does not answer is asked often.
  const history = (): readonly SeenItem[] => content?.history ?? [...readKnown(known).values()];
  const settlements =
    ended && !read.rootSent && read.externalId !== '' ? [settlement(read, history(), now)] : [];
  const next = settlements.length > 0 ? { ...read, rootSent: true } : read;
  const row = isRowDue(reply, next, content, news) ? foldOrder(next, history(), version) : null;
  const bundle: RowBundle = {
    historyEvents: content?.newEvents ?? [],
    settlements,
    orders: row === null ? [] : [row],
    orderClaims: claimsOf(reply.order, next, content, { news, version }),
    polls: [pollRow(reply, outcome, decoded, news)],
    rejects: rejectsOf(reply, decoded, gateway.poll, now),
    orderWatch: watchRows(reply, next, tracked, {
      collectorId: context.collectorId,
      updatedAt: row === null || ended ? reply.startedAt : Math.max(reply.startedAt, row.observed_at),
    }),
  };
  await context.write(bundle, { replies: 1, historyItems: content?.items ?? 0 });
  // An ended order is no longer tracked; if it reopens, its history is loaded from the store.
  return {
    order: next,
    known: ended ? null : known,
    loadedIn,
    readAt: content === null ? reply.readAt : reply.startedAt,
    outcome,
    newestItemAt,
  };
}

/** Time of the latest new item. */
const newestOf = (content: ReplyContent | null): EpochMicros | undefined =>
  content?.newEvents.reduce<EpochMicros | undefined>(
    (newest, { event_time: time }) => Math.max(newest ?? time, time),
    undefined,
  );

/**
 * The states to persist. They are as of the start of the request: a callback that came while it was under way
 * persisted a later one, so that a crash never forgets that the order is to be read again. If the order goes
 * on, its state is as new as its row. Another collector may end the order while this request is under way:
 * with an older state, this row would win, the other's state would too, and the row would never be settled.
 */
function watchRows(
  { order: asked, startedAt }: PolledReply,
  next: WatchedOrder,
  tracked: WatchedOrder | null,
  { collectorId, updatedAt }: { readonly collectorId: string; readonly updatedAt: EpochMicros },
): OrderWatchRow[] {
  const rows = next === tracked ? [] : [toRow(next, updatedAt, collectorId)];
  if (next.orderId === asked.orderId && next.idKind === asked.idKind) return rows;
  const merged: WatchedOrder = { ...asked, phase: 'merged', externalId: next.externalId };
  return [toRow(merged, startedAt, collectorId), ...rows];
}

/** A reply whose body could not be had has no decoder to refuse it. */
function rejectsOf(
  reply: PolledReply,
  decoded: DecodedReply | null,
  { maxReplyBytes }: PollConfig,
  now: number,
): readonly RejectRow[] {
  const refused = refusedBody(reply, maxReplyBytes);
  if (refused === null) return decoded?.rejects ?? [];
  const { order } = reply;
  return [
    rejectRow({
      gateway: order.gateway,
      reason: refused.reason,
      rejectId: stableId(`${watchKey(order)}|${refused.reason}`),
      rejectedAt: now,
      source: reply.cause,
      problem: refused.problem,
      orderType: order.orderType,
      orderId: order.orderId,
    }),
  ];
}

function refusedBody(
  { errorType, bodyBytes }: PolledReply,
  maxReplyBytes: number,
): { readonly reason: RejectReason; readonly problem: Problem } | null {
  switch (errorType) {
    case 'too_large':
      return {
        reason: 'reply_too_large',
        problem: {
          field: 'body',
          received: `${bodyBytes} bytes or more`,
          expected: `at most ${maxReplyBytes} bytes`,
        },
      };
    case 'coding_unknown':
    case 'coding_damaged':
      return {
        reason: 'reply_coding_unreadable',
        problem: {
          field: 'content-encoding',
          received: errorType === 'coding_unknown' ? 'another one' : `${bodyBytes} bytes that do not unpack`,
          expected: 'identity, gzip, deflate, br or zstd',
        },
      };
    default:
      return null;
  }
}

/**
 * Whether the order's row is written: after news, at the end of the order, after a read that a callback or a
 * watch message caused (which may have named facts), and after a first read without a reply, so that every
 * order has a row.
 */
function isRowDue(
  { cause }: PolledReply,
  next: WatchedOrder,
  content: ReplyContent | null,
  news: ReadNews,
): boolean {
  if (next.externalId === '') return false;
  const isHint = cause === 'callback' || cause === 'watch';
  if (content !== null) return news !== 'nothing' || isHint || hasEnded(next);
  if (!hasEnded(next)) return next.attempt === 1 && next.lastStatus === null;
  // A late callback reopened the order and the gateway no longer knows it: its earlier end still holds.
  return !FINAL_STATUSES.includes(next.lastStatus ?? '');
}

const hasEnded = ({ phase }: WatchedOrder): boolean => phase === 'settled' || phase === 'abandoned';

/**
 * What the reply says of the order, each time that it changes and at the end, and what the watch message said
 * of one that it named by the merchant's own id: now it is known which order that is.
 */
function claimsOf(
  asked: WatchedOrder,
  next: WatchedOrder,
  content: ReplyContent | null,
  { news, version }: { readonly news: ReadNews; readonly version: EpochMicros },
): OrderClaimRow[] {
  if (content === null) return [];
  const order = { gateway: asked.gateway, orderType: asked.orderType, externalId: content.externalId };
  const { orderStatus: status, amount, currency } = content;
  const isDue = news !== 'nothing' || hasEnded(next);
  return [
    ...(isDue ? [claimRow('status_reply', order, { status, amount, currency }, version)] : []),
    ...(asked.idKind === 'external-id' ? [] : watchClaims(order, asked, version)),
  ];
}

/** The record of an order's end, and the source of its root span. */
function settlement(order: WatchedOrder, history: readonly SeenItem[], now: number): SettlementRow {
  const folded = foldHistory(history);
  return {
    gateway: order.gateway,
    order_type: order.orderType,
    external_id: order.externalId,
    settled_at: now,
    kind: order.phase,
    status: order.lastStatus,
    outcome: folded.outcome,
    reason_group: folded.deciding?.code.reasonGroup ?? null,
    reason_detail: folded.deciding?.code.reasonDetail ?? null,
    history_items: folded.items,
    external_transaction_id: order.externalTransactionId,
    channel: order.channel,
    first_event_at: folded.createdAt ?? order.watchedSince,
    last_event_at: folded.lastItemAt ?? now,
    deciding_action: folded.deciding?.code.action ?? null,
    amount: decimalText(order.amount),
    currency: currencyCode(order.currency),
  };
}
