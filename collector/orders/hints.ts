import { FINAL_STATUSES } from '../../schemas/dictionary.ts';
import type { EpochMicros, OrderWatchRow } from '../../schemas/rows.ts';
import { watchKey, type PollCause, type WatchedOrder, type WatchRef } from '../../schemas/watch.ts';
import { NOTHING_KNOWN } from '../decode/known-history.ts';
import { learn, rereadOnce, reopen, type OrderFacts } from './advance.ts';
import type { OrdersContext } from './context.ts';
import type { TrackedOrder } from './poller-contract.ts';
import { toRow } from './watch-store.ts';

/** A callback or a watch message names an order that is to be read, and may tell facts about it. */
export interface OrderHint extends WatchRef, Omit<OrderFacts, 'rootSent'> {
  /** What a callback says; it never becomes the order's status. */
  readonly status?: string | undefined;
  /** When the callback was received. */
  readonly calledAt?: EpochMicros | undefined;
}

/** What a hint makes of an order. */
export interface TrackedChange extends TrackedOrder {
  /** The state must be persisted before the hint is acknowledged: it is new, or open again, or knows more. */
  readonly changed: boolean;
  /** When the first callback was received that names it. */
  readonly calledAt?: EpochMicros | undefined;
}

/**
 * What becomes of orders that were named, by watch key: new ones are tracked, settled ones opened again,
 * tracked ones learn facts that are new. One query of the store for all that are not tracked.
 */
export async function applyHints(
  hints: readonly OrderHint[],
  context: OrdersContext,
): Promise<Map<string, TrackedChange>> {
  const now = context.clock.now();
  const keys = hints.map(watchKey);
  const missing = hints.filter((_hint, index) => context.tracked.get(keys[index] as string) === undefined);
  const stored = await context.watchStore.find(missing);
  const changes = new Map<string, TrackedChange>();
  for (const [index, hint] of hints.entries()) {
    const key = keys[index] as string;
    const earlier = changes.get(key);
    const tracked = earlier?.order ?? context.tracked.get(key);
    changes.set(key, changeOf(hint, { earlier, tracked, stored: stored.get(key) }, now));
  }
  return changes;
}

/**
 * What one hint makes of an order.
 * @param before what an earlier hint made of it, how it is tracked, and how it was stored
 */
export function changeOf(
  hint: OrderHint,
  before: {
    readonly earlier?: TrackedChange | undefined;
    readonly tracked?: WatchedOrder | undefined;
    readonly stored?: WatchedOrder | undefined;
  },
  now: EpochMicros,
): TrackedChange {
  const { earlier, tracked } = before;
  const last = tracked ?? before.stored;
  const known = earlier?.known ?? (last === undefined ? NOTHING_KNOWN : null);
  const order = learn(last === undefined ? fresh(hint, now) : opened(last, hint, now), hint);
  // A read under way may settle the order: persist that another read is wanted, in case of a crash.
  const mayEnd = order.phase === 'rereading';
  const changed = tracked === undefined || order !== last || mayEnd || earlier?.changed === true;
  return { order, known, changed, calledAt: earlier?.calledAt ?? hint.calledAt };
}

/** The states that must be persisted before the hints are acknowledged. */
export function changedRows(
  changes: ReadonlyMap<string, TrackedChange>,
  now: EpochMicros,
  collectorId: string,
): OrderWatchRow[] {
  return [...changes.values()]
    .filter(({ changed }) => changed)
    .map(({ order }) => toRow(order, now, collectorId));
}

/** Hands the named orders to the poller; call it once their states are stored. */
export function trackAll(
  changes: ReadonlyMap<string, TrackedChange>,
  cause: PollCause,
  { tracked }: OrdersContext,
): void {
  for (const { order, known, calledAt } of changes.values()) tracked.track({ order, known }, cause, calledAt);
}

/** Has an order read that is not tracked any more, unless it was never watched. */
export async function openAgain(ref: WatchRef, context: OrdersContext): Promise<void> {
  const changes = await applyHints([ref], context);
  const known = new Map([...changes].filter(([, { known }]) => known !== NOTHING_KNOWN));
  await context.write({ orderWatch: changedRows(known, context.clock.now(), context.collectorId) }, {});
  trackAll(known, 'watch', context);
}

/**
 * Only another final status says of a settled order what is not known. A watch request names none, and a
 * callback with an earlier one comes late: when Kafka is behind they come by the thousand, and reading each
 * order from the start would keep it behind.
 */
function opened(order: WatchedOrder, { status }: OrderHint, now: EpochMicros): WatchedOrder {
  const isSettled = order.phase === 'settled' && order.finalAt !== null;
  const isNews = status !== undefined && status !== order.lastStatus && FINAL_STATUSES.includes(status);
  return isSettled && !isNews ? rereadOnce(order, now) : reopen(order, now);
}

function fresh(hint: OrderHint, now: EpochMicros): WatchedOrder {
  return {
    gateway: hint.gateway,
    orderType: hint.orderType,
    idKind: hint.idKind,
    orderId: hint.orderId,
    phase: 'active',
    nextPollAt: now,
    attempt: 0,
    reread: 0,
    firstSeenAt: now,
    finalAt: null,
    lastStatus: null,
    externalId: hint.idKind === 'external-id' ? hint.orderId : '',
    externalTransactionId: hint.idKind === 'transaction-id' ? hint.orderId : '',
    channel: '',
    amount: null,
    currency: null,
    rootSent: false,
  };
}
