import { watchKey, type WatchedOrder } from '../../schemas/watch.ts';
import { historyWindow } from '../decode/history-window.ts';
import { orderText } from '../decode/ids.ts';
import { NOTHING_KNOWN, type KnownHistory } from '../decode/known-history.ts';
import { decodeStatusReply, type DecodedReply } from '../decode/status-reply.ts';
import { learn, reopen } from './advance.ts';
import { textPolicy, type OrdersContext } from './context.ts';
import type { PolledReply } from './tracked-orders.ts';

/** A reply with the order that it is about. */
export interface IdentifiedReply {
  /** The order that goes on: under the service's id, once that is known. */
  readonly order: WatchedOrder;
  /** It is tracked under the service's id as well, and goes on as planned there. */
  readonly tracked: WatchedOrder | null;
  readonly known: KnownHistory;
  /** null: there was no body to decode. */
  readonly decoded: DecodedReply | null;
}

/**
 * Decodes a reply. The first one to an order watched by the merchant's id tells the service's id: from
 * there on it is one with the order of that id, and what is stored of that is known.
 */
export async function identify(reply: PolledReply, context: OrdersContext): Promise<IdentifiedReply> {
  const { order, body } = reply;
  const known = reply.known ?? (await loadKnown(order, context));
  if (body === null) return { order, tracked: null, known, decoded: null };
  const decoded = decodeStatusReply(body, replyContext(reply, order, known, context));
  if (!decoded.ok || order.idKind === 'external-id') return { order, tracked: null, known, decoded };
  const { externalId } = decoded;
  const own: WatchedOrder = { ...order, idKind: 'external-id', orderId: externalId, externalId };
  const key = watchKey(own);
  const tracked = context.tracked.get(key) ?? null;
  const stored = tracked === null ? (await context.memory.find([own])).get(key) : undefined;
  // Asked for anew by its other id, an order that had come to its end is read from the start.
  const before = tracked ?? (stored === undefined ? own : reopen(stored, reply.repliedAt));
  const joined = learn(before, order);
  const ownKnown = await loadKnown(joined, context);
  return {
    order: joined,
    tracked,
    known: ownKnown,
    decoded: decodeStatusReply(body, replyContext(reply, joined, ownKnown, context)),
  };
}

/** What was asked for, and the order under which the reply is filed. */
function replyContext(
  { order: asked, cause }: PolledReply,
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
    policy: textPolicy(gateway, context),
    window: historyWindow(observedAt, context.historyDays),
  };
}

async function loadKnown(order: WatchedOrder, context: OrdersContext): Promise<KnownHistory> {
  if (order.externalId === '') return NOTHING_KNOWN;
  const identity = { gateway: order.gateway, orderType: order.orderType, externalId: order.externalId };
  return (await context.memory.known([identity])).get(orderText(identity)) ?? NOTHING_KNOWN;
}
