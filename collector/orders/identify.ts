import { watchKey, type WatchedOrder } from '../../schemas/watch.ts';
import { historyWindow } from '../decode/history-window.ts';
import { orderText } from '../decode/ids.ts';
import { NOTHING_KNOWN, type KnownHistory } from '../decode/known-history.ts';
import { decodeStatusReply, type DecodedReply } from '../decode/status-reply.ts';
import { learn, reopen } from './advance.ts';
import { textPolicy, type OrdersContext } from './context.ts';
import type { PolledReply, TrackedOrder } from './poller-contract.ts';

/** A reply with the order that it is about. */
export interface IdentifiedReply {
  /** The order to go on with: named by the gateway's own id (`externalId`) once that is known. */
  readonly order: WatchedOrder;
  /** The same order as tracked under `externalId`, which keeps its schedule; null: it is not. */
  readonly tracked: WatchedOrder | null;
  readonly known: KnownHistory;
  /** This collector may write the order's row: it owns the order, or the row exists and keeps its place. */
  readonly isOurs: boolean;
  /** null: there was no body to decode. */
  readonly decoded: DecodedReply | null;
}

/**
 * Decodes a reply and finds out which order it is about. An order can be watched by the merchant's
 * transaction id. The first reply names the gateway's own id (`externalId`): the order is then merged with
 * the one stored and tracked under that id, its history included.
 */
export async function identify(reply: PolledReply, context: OrdersContext): Promise<IdentifiedReply> {
  const { body } = reply;
  const loaded = await load(reply, context);
  const { order, known } = loaded;
  if (body === null) return { ...loaded, tracked: null, decoded: null };
  const decoded = decodeStatusReply(body, replyContext(reply, order, known, context));
  if (!decoded.ok || order.idKind === 'external-id') return { ...loaded, tracked: null, decoded };
  const { externalId } = decoded;
  const own: WatchedOrder = { ...order, idKind: 'external-id', orderId: externalId, externalId };
  const key = watchKey(own);
  const tracked = context.tracked.get(key) ?? null;
  const stored = tracked === null ? (await context.watchStore.find([own])).get(key) : undefined;
  // An order that had ended and is asked for again by its other id is read from the start.
  const before = tracked ?? (stored === undefined ? own : reopen(stored, reply.repliedAt));
  const joined = await load({ order: learn(before, order), known: null }, context);
  return {
    ...joined,
    tracked,
    decoded: decodeStatusReply(body, replyContext(reply, joined.order, joined.known, context)),
  };
}

/** What was asked for, and the order under which the reply is filed. */
function replyContext(
  { order: asked, cause, callbackAt, ownSpan }: PolledReply,
  order: WatchedOrder,
  known: KnownHistory,
  context: OrdersContext,
) {
  const gateway = context.gateways.get(asked.gateway);
  if (gateway === undefined) throw new TypeError(`no gateway named ${asked.gateway}`);
  const observedAt = context.clock.now();
  return {
    gateway: asked.gateway,
    orderType: asked.orderType,
    idKind: asked.idKind,
    orderId: asked.orderId,
    channel: order.channel,
    externalTransactionId: order.externalTransactionId,
    known,
    observedAt,
    source: cause,
    callbackAt,
    readSpan: ownSpan ?? null,
    historyTimeZone: gateway.historyTimeZone,
    policy: textPolicy(gateway, context),
    window: historyWindow(observedAt, context.historyDays),
  };
}

/** The order with what its row says, where that was not read yet. */
async function load(
  { order, known }: TrackedOrder,
  context: OrdersContext,
): Promise<Pick<IdentifiedReply, 'order' | 'known' | 'isOurs'>> {
  if (known !== null) return { order, known, isOurs: true };
  const { gateway, orderType, externalId } = order;
  const identity = { gateway, orderType, externalId };
  const stored =
    externalId === '' ? undefined : (await context.watchStore.known([identity])).get(orderText(identity));
  if (stored === undefined) return { order, known: NOTHING_KNOWN, isOurs: context.owns(order) };
  return { order: { ...order, firstSeenAt: stored.firstSeenAt }, known: stored.known, isOurs: true };
}
