import { watchKey, type WatchedOrder } from '../../schemas/watch.ts';
import { historyWindow } from '../decode/history-window.ts';
import { orderText } from '../decode/ids.ts';
import { NOTHING_KNOWN, type KnownHistory } from '../decode/known-history.ts';
import { decodeStatusReply, type DecodedReply } from '../decode/status-reply.ts';
import { reopen } from './advance.ts';
import type { StatusAnswer } from './poller-port.ts';
import { textPolicy, type PipelineContext } from './context.ts';
import { learn } from './track.ts';

/** An answer with the order that it is about. */
export interface Identified {
  /** The order that goes on: under the service's id, once that is known. */
  readonly order: WatchedOrder;
  /** It is watched under the service's id as well, and goes on as planned there. */
  readonly live: WatchedOrder | null;
  readonly known: KnownHistory;
  /** null: there was no body to decode. */
  readonly reply: DecodedReply | null;
}

/**
 * Decodes an answer. The first reply to an order watched by the merchant's id tells the service's id: from
 * there on it is one with the order of that id, and what is stored of that is known.
 */
export async function identify(answer: StatusAnswer, context: PipelineContext): Promise<Identified> {
  const { order, body } = answer;
  const known = answer.known ?? (await loadKnown(order, context));
  if (body === null) return { order, live: null, known, reply: null };
  const reply = decodeStatusReply(body, replyContext(answer, order, known, context));
  if (!reply.ok || order.idKind === 'external-id') return { order, live: null, known, reply };
  const { externalId } = reply;
  const own: WatchedOrder = { ...order, idKind: 'external-id', orderId: externalId, externalId };
  const key = watchKey(own);
  const live = context.poller.get(own.gateway, key) ?? null;
  const stored = live === null ? (await context.memory.find([own])).get(key) : undefined;
  // Asked for anew by its other id, an order that had come to its end is read from the start.
  const before = live ?? (stored === undefined ? own : reopen(stored, answer.answeredAt));
  const joined = learn(before, order);
  const ownKnown = await loadKnown(joined, context);
  return {
    order: joined,
    live,
    known: ownKnown,
    reply: decodeStatusReply(body, replyContext(answer, joined, ownKnown, context)),
  };
}

/** What was asked for, and the order under which the reply is filed. */
function replyContext(
  { order: asked, cause }: StatusAnswer,
  order: WatchedOrder,
  known: KnownHistory,
  context: PipelineContext,
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
    keeps: historyWindow(observedAt, context.historyDays),
  };
}

async function loadKnown(order: WatchedOrder, context: PipelineContext): Promise<KnownHistory> {
  if (order.externalId === '') return NOTHING_KNOWN;
  const identity = { gateway: order.gateway, orderType: order.orderType, externalId: order.externalId };
  return (await context.memory.known([identity])).get(orderText(identity)) ?? NOTHING_KNOWN;
}
