import type { EpochMicros } from '../../schemas/rows.ts';
import { watchKey, type WatchedOrder, type WatchRef } from '../../schemas/watch.ts';
import { NOTHING_KNOWN } from '../decode/known-history.ts';
import { lookAgain, reopen } from './advance.ts';
import type { PipelineContext } from './context.ts';

/** Somebody named an order that is to be read. */
export interface OrderNews extends WatchRef {
  readonly channel?: string | undefined;
  readonly amount?: string | null | undefined;
  readonly currency?: string | null | undefined;
  readonly externalTransactionId?: string | undefined;
  /** What a callback says; it never becomes the order's status. */
  readonly status?: string | undefined;
}

export interface TakenUp {
  readonly order: WatchedOrder;
  /** `null`: to be loaded before the first read. */
  readonly known: string | null;
  /** The state must be persisted before the news is acknowledged: it is new, or open again, or knows more. */
  readonly changed: boolean;
}

/**
 * What becomes of orders that were named: new ones are taken up, settled ones opened again, watched ones
 * learn what the news knows more. One look-up for all that are not in memory.
 */
export async function takeUp(
  news: readonly OrderNews[],
  context: PipelineContext,
): Promise<Map<string, TakenUp>> {
  const now = context.clock.now();
  const keys = news.map(watchKey);
  const missing = news.filter(
    ({ gateway }, index) => context.poller.get(gateway, keys[index] as string) === undefined,
  );
  const stored = await context.memory.find(missing);
  const taken = new Map<string, TakenUp>();
  for (const [index, one] of news.entries()) {
    const key = keys[index] as string;
    const earlier = taken.get(key);
    const live = earlier?.order ?? context.poller.get(one.gateway, key);
    const before = live ?? stored.get(key);
    const known = earlier?.known ?? (live === undefined && before === undefined ? NOTHING_KNOWN : null);
    const order = learn(before === undefined ? fresh(one, now) : opened(before, one, now), one);
    // A read that is under way may settle it: that somebody wants another must outlive a crash.
    const mayEnd = order.phase === 'rereading';
    const changed = live === undefined || order !== before || mayEnd || earlier?.changed === true;
    taken.set(key, { order, known, changed });
  }
  return taken;
}

function opened(order: WatchedOrder, { status }: OrderNews, now: EpochMicros): WatchedOrder {
  const isKnown = order.phase === 'settled' && order.finalAt !== null && status === order.lastStatus;
  return isKnown ? lookAgain(order, now) : reopen(order, now);
}

function fresh(news: OrderNews, now: EpochMicros): WatchedOrder {
  return {
    gateway: news.gateway,
    orderType: news.orderType,
    idKind: news.idKind,
    orderId: news.orderId,
    phase: 'active',
    nextPollAt: now,
    attempt: 0,
    reread: 0,
    firstSeenAt: now,
    finalAt: null,
    lastStatus: null,
    externalId: news.idKind === 'external-id' ? news.orderId : '',
    externalTransactionId: news.idKind === 'transaction-id' ? news.orderId : '',
    channel: '',
    amount: null,
    currency: null,
    rootSent: false,
  };
}

/** Fills what was not known; never overwrites. Returns the same object when there is nothing to learn. */
export function learn(order: WatchedOrder, news: OrderNews): WatchedOrder {
  const channel = order.channel || (news.channel ?? '');
  const amount = order.amount ?? news.amount ?? null;
  const currency = order.currency ?? news.currency ?? null;
  const externalTransactionId = order.externalTransactionId || (news.externalTransactionId ?? '');
  const same =
    channel === order.channel &&
    amount === order.amount &&
    currency === order.currency &&
    externalTransactionId === order.externalTransactionId;
  return same ? order : { ...order, channel, amount, currency, externalTransactionId };
}
