import { FINAL_STATUSES } from '../../schemas/dictionary.ts';
import type { EpochMicros, RowBundle } from '../../schemas/rows.ts';
import { watchKey, type FactSource, type WatchedOrder, type WatchRef } from '../../schemas/watch.ts';
import { foldOrder } from '../decode/fold-order.ts';
import { NOTHING_KNOWN } from '../decode/known-history.ts';
import { learn, rereadOnce, reopen, type OrderFacts } from './advance.ts';
import { recallOrder, type OrdersContext } from './context.ts';
import type { HintCause, OrderHint } from './order-hint.ts';
import type { TrackedOrder } from './poller-contract.ts';
import { toRow } from './watch-store.ts';

/** What a hint makes of an order. */
export interface TrackedChange extends TrackedOrder {
  /** The state must be persisted before the hint is acknowledged: it is new, or open again, or knows more. */
  readonly changed: boolean;
  /** It was never watched before. */
  readonly isNew: boolean;
  readonly cause: HintCause;
  /** When the first callback was received that names it. */
  readonly calledAt?: EpochMicros | undefined;
}

/**
 * What becomes of orders of this collector that were named, by watch key: new ones are tracked, settled ones
 * opened again, tracked ones learn facts that are new. One query of the store for all that are not tracked.
 */
export async function applyHints(
  hints: readonly OrderHint[],
  context: OrdersContext,
): Promise<Map<string, TrackedChange>> {
  const now = context.clock.now();
  const loadedIn = context.memory.stamp();
  const before = hints.map((hint) => recallOrder(hint, context));
  const stored = await context.watchStore.find(hints.filter((_hint, index) => before[index] === undefined));
  const changes = new Map<string, TrackedChange>();
  for (const [index, hint] of hints.entries()) {
    const key = watchKey(hint);
    const earlier = changes.get(key);
    // One that came to its end meanwhile was not looked up.
    const tracked = earlier?.order ?? recallOrder(hint, context) ?? before[index];
    const isOurs = context.owns(hint);
    const change = changeOf(hint, { earlier, tracked, stored: stored.get(key), isOurs }, now);
    changes.set(key, { ...change, loadedIn });
  }
  return changes;
}

/**
 * What one hint makes of an order.
 * @param before what an earlier hint made of it, how it is tracked, how it was stored, and whether it is this
 *   collector's: another one's may have a row already
 */
export function changeOf(
  hint: OrderHint,
  before: {
    readonly earlier?: TrackedChange | undefined;
    readonly tracked?: WatchedOrder | undefined;
    readonly stored?: WatchedOrder | undefined;
    readonly isOurs: boolean;
  },
  now: EpochMicros,
): TrackedChange {
  const { earlier, tracked } = before;
  const last = tracked ?? before.stored;
  const isNew = earlier?.isNew ?? last === undefined;
  const known = isNew && before.isOurs ? NOTHING_KNOWN : null;
  const order = learn(last === undefined ? fresh(hint, now) : opened(last, hint, now), hint);
  // A read under way may settle the order: persist that another read is wanted, in case of a crash.
  const mayEnd = order.phase === 'rereading';
  const changed = tracked === undefined || order !== last || mayEnd || earlier?.changed === true;
  const cause = earlier?.cause === 'callback' ? 'callback' : hint.cause;
  return { order, known, changed, isNew, cause, calledAt: earlier?.calledAt ?? hint.calledAt };
}

/** Amount and currency as somebody named them; what is null was not named. */
export function namedBy(
  source: FactSource,
  { amount, currency }: { readonly amount: string | null; readonly currency: string | null },
): Pick<OrderFacts, 'amount' | 'amountSource' | 'currency' | 'currencySource'> {
  return {
    amount,
    amountSource: amount === null ? null : source,
    currency,
    currencySource: currency === null ? null : source,
  };
}

/**
 * What must be stored before the hints are acknowledged: the states that changed, and a row of each order
 * that is heard of for the first time.
 */
export function rowsOf(
  changes: ReadonlyMap<string, TrackedChange>,
  { clock, collectorId }: OrdersContext,
): Pick<RowBundle, 'orders' | 'orderWatch'> {
  const now = clock.now();
  const changed = [...changes.values()].filter((one) => one.changed);
  return {
    orders: changed
      .filter(({ order, known }) => known === NOTHING_KNOWN && order.externalId !== '')
      .map(({ order }) => foldOrder(order, [], now)),
    orderWatch: changed.map(({ order }) => toRow(order, now, collectorId)),
  };
}

/** Hands the named orders to the poller; call it once their states are stored. */
export function trackAll(changes: Iterable<TrackedChange>, { tracked }: OrdersContext): void {
  for (const { order, known, loadedIn, cause, calledAt } of changes)
    tracked.track({ order, known, loadedIn }, cause, calledAt);
}

/** Has an order read that is not tracked any more, unless it was never watched. */
export async function openAgain(ref: WatchRef, context: OrdersContext): Promise<void> {
  const hint = { ...ref, cause: 'watch' } as const;
  if (context.handOver !== null && !context.owns(ref)) {
    const stored = await context.watchStore.find([ref]);
    if (stored.size > 0) await context.handOver([hint]);
    return;
  }
  const changes = await applyHints([hint], context);
  const known = new Map([...changes].filter(([, { isNew }]) => !isNew));
  await context.write(rowsOf(known, context), {});
  trackAll(known.values(), context);
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
    watchedSince: now,
    finalAt: null,
    lastStatus: null,
    externalId: hint.idKind === 'external-id' ? hint.orderId : '',
    externalTransactionId: hint.idKind === 'transaction-id' ? hint.orderId : '',
    channel: '',
    amount: null,
    amountSource: null,
    currency: null,
    currencySource: null,
    rootSent: false,
  };
}
