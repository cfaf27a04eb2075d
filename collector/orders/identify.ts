import type { EpochMicros } from '../../schemas/rows.ts';
import { watchKey, type WatchedOrder } from '../../schemas/watch.ts';
import { historyWindow } from '../decode/history-window.ts';
import { orderText } from '../decode/ids.ts';
import { NOTHING_KNOWN, type KnownHistory } from '../decode/known-history.ts';
import { decodeStatusReply, type DecodedReply } from '../decode/status-reply.ts';
import { learn, reopen, rereadOnce } from './advance.ts';
import { recallOrder, textPolicy, type OrdersContext } from './context.ts';
import type { PolledReply } from './poller-contract.ts';

/** A reply with the order that it is about. */
export interface IdentifiedReply {
  /** The order to go on with: named by the gateway's own id (`externalId`) once that is known. */
  readonly order: WatchedOrder;
  /** The same order as tracked under `externalId`, which keeps its schedule; null: it is not. */
  readonly tracked: WatchedOrder | null;
  readonly known: KnownHistory;
  /** Under which number that is remembered, see `Memory`. */
  readonly loadedIn: number;
  /** Another collector has read the order to its end: this reply says nothing more. */
  readonly isOver: boolean;
  /** The version of a row that is made of this reply. */
  readonly version: EpochMicros;
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
  const from = instantOf(reply, context);
  const { version, loadedIn } = from;
  const loaded = await load(reply, from, context);
  const { order, known } = loaded;
  const found = { ...loaded, version, loadedIn, tracked: null };
  if (body === null || loaded.isOver) return { ...found, decoded: null };
  const decoded = decodeStatusReply(body, replyContext(reply, order, known, from, context));
  if (!decoded.ok || order.idKind === 'external-id') return { ...found, decoded };
  const { externalId } = decoded;
  const own: WatchedOrder = { ...order, idKind: 'external-id', orderId: externalId, externalId };
  const tracked = recallOrder(own, context) ?? null;
  const stored = tracked === null ? (await context.watchStore.find([own])).get(watchKey(own)) : undefined;
  // An order that had ended and is asked for again by its other id is read from the start.
  const before = tracked ?? (stored === undefined ? own : reopen(stored, reply.repliedAt));
  const joined = await loadHistory(learn(before, order), context);
  return {
    ...found,
    ...joined,
    tracked,
    decoded: decodeStatusReply(body, replyContext(reply, joined.order, joined.known, from, context)),
  };
}

/** A reply at the moment at which it begins to be handled. */
interface Handling {
  readonly observedAt: EpochMicros;
  readonly version: EpochMicros;
  readonly loadedIn: number;
  /** What is remembered of the order counts. */
  readonly isSure: boolean;
}

/**
 * Nothing may come between these readings: a collector that is stopped here, and replaced, either finds
 * when it wakes that its memory does not count, or has taken a time that lies before all that its successor
 * writes. If it does not count, the reply may be older than one that another collector has handled, so that
 * its row is as old as its request: of two rows the one that was asked for later wins.
 */
function instantOf(reply: PolledReply, { clock, memory }: OrdersContext): Handling {
  const observedAt = clock.now();
  const loadedIn = memory.stamp();
  const isSure = memory.counts(reply.order, reply.loadedIn);
  return { observedAt, version: isSure ? observedAt : reply.startedAt, loadedIn, isSure };
}

/** What was asked for, and the order under which the reply is filed. */
function replyContext(
  { order: asked, cause, callbackAt, ownSpan }: PolledReply,
  order: WatchedOrder,
  known: KnownHistory,
  { observedAt }: Handling,
  context: OrdersContext,
) {
  const gateway = context.gateways.get(asked.gateway);
  if (gateway === undefined) throw new TypeError(`no gateway named ${asked.gateway}`);
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

type Loaded = Pick<IdentifiedReply, 'order' | 'known' | 'isOver'>;

/** The order with its history: as remembered, or as stored where that does not count or was not read yet. */
async function load(
  { order, known, cause, repliedAt }: PolledReply,
  { isSure }: Handling,
  context: OrdersContext,
): Promise<Loaded> {
  if (isSure) return known === null ? loadHistory(order, context) : { order, known, isOver: false };
  const stored = (await context.watchStore.find([order])).get(watchKey(order)) ?? order;
  if (isWatched(stored)) return loadHistory(stored, context);
  const isNamed = cause === 'callback' || cause === 'watch';
  if (stored.phase === 'merged' || !isNamed) return { order: stored, known: NOTHING_KNOWN, isOver: true };
  const opened = stored.phase === 'settled' ? rereadOnce(stored, repliedAt) : reopen(stored, repliedAt);
  return loadHistory(opened, context);
}

const isWatched = ({ phase }: WatchedOrder): boolean => phase === 'active' || phase === 'rereading';

/** The order with what its row says. */
async function loadHistory(order: WatchedOrder, context: OrdersContext): Promise<Loaded> {
  const { gateway, orderType, externalId } = order;
  const identity = { gateway, orderType, externalId };
  const stored =
    externalId === '' ? undefined : (await context.watchStore.known([identity])).get(orderText(identity));
  if (stored === undefined) return { order, known: NOTHING_KNOWN, isOver: false };
  return { order: { ...order, firstSeenAt: stored.firstSeenAt }, known: stored.known, isOver: false };
}
