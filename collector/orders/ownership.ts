import type { Clock } from '../../schemas/clock.ts';
import type { EpochMicros } from '../../schemas/rows.ts';
import { watchKey, type WatchedOrder } from '../../schemas/watch.ts';
import { orderText, type OrderIdentity } from '../decode/ids.ts';
import { NOTHING_KNOWN } from '../decode/known-history.ts';
import type { Assignment } from './assignment.ts';
import type { TrackedOrder, TrackedOrders } from './tracked-orders.ts';
import type { ActiveOf, RecentOf, WatchMemory } from './watch-memory.ts';

export interface OwnershipOptions {
  readonly memory: WatchMemory;
  readonly tracked: Pick<TrackedOrders, 'resume' | 'release' | 'get'>;
  readonly collectorId: string;
  readonly clock: Clock;
  /** Which orders are this collector's; null until that is known, or when there is no other collector. */
  readonly assignment: () => Assignment;
  /** Other collectors may work on the same store, and an assignment will come. */
  readonly isShared: boolean;
  /** A look at the store failed; it is repeated. */
  readonly onError: (error: unknown) => void;
}

/**
 * Sees to it that each unfinished order is tracked by one collector: this one for those that it owns
 * (decision 13).
 */
export interface Ownership {
  /**
   * Goes on with what earlier runs left; from then on looks after the rest. Returns how many orders were
   * resumed.
   */
  start(): Promise<number>;
  /** The assignment has changed. */
  changed(): void;
  stop(): Promise<void>;
}

const LOOK_MS = 5_000;
/** Between two looks at everything: for rows whose time a clock that was set made useless. */
const FULL_LOOK_MS = 300_000;
/** Without a group that assigns, every order is ours after this time: better read twice than never. */
const ALONE_MS = 30_000;
/** Rows are stored a while after the time they carry, and clocks of two machines differ. */
const MARGIN: EpochMicros = 60_000_000;

/** When looks at the store are due, and what they cover. */
export interface LookState {
  readonly isShared: boolean;
  /** What was stored before this was looked at. */
  lookedAt: EpochMicros;
  /** When all unfinished orders are looked at again, not only recent changes. */
  fullDueMs: number;
  /** Until then an assignment is waited for. */
  aloneMs: number;
}

/** What a look at the store asks for. */
export type Look = ({ readonly what: 'all' } & ActiveOf) | ({ readonly what: 'recent' } & RecentOf);

/** The first look has been made; the state from then on. */
export function firstLook(isShared: boolean, lookedAt: EpochMicros, nowMs: number): LookState {
  const aloneMs = nowMs + ALONE_MS;
  return { isShared, lookedAt, aloneMs, fullDueMs: isShared ? aloneMs : nowMs + FULL_LOOK_MS };
}

/** The look that is due; null while it is not known whose orders are whose. */
export function nextLook(
  state: LookState,
  assignment: Assignment,
  collectorId: string,
  nowMs: number,
): Look | null {
  if (state.isShared && assignment === null && nowMs < state.aloneMs) return null;
  if (nowMs < state.fullDueMs)
    return { what: 'recent', assignment, since: state.lookedAt - MARGIN, notBy: collectorId };
  // Whatever changes from here on is for the next look.
  state.fullDueMs = nowMs + FULL_LOOK_MS;
  return { what: 'all', assignment };
}

/** A look has ended; `startedAt` null: it failed, and is repeated. */
export function endLook(state: LookState, { what }: Look, startedAt: EpochMicros | null): void {
  if (startedAt !== null) state.lookedAt = startedAt;
  else if (what === 'all') state.fullDueMs = 0;
}

export function createOwnership(options: OwnershipOptions): Ownership {
  const { memory, tracked, collectorId, clock, isShared } = options;
  let state: LookState | null = null;
  let cancel = () => {};
  let stopped = false;
  let looking: Promise<void> | null = null;
  const resumeMissing = (pages: AsyncIterable<readonly WatchedOrder[]>): Promise<number> =>
    resumeOrders(
      memory,
      untracked(pages, tracked, () => stopped),
      tracked.resume,
    );

  async function look(from: LookState): Promise<void> {
    const startedAt = clock.now();
    const due = nextLook(from, options.assignment(), collectorId, clock.monotonicMs());
    if (due === null) return;
    try {
      if (due.what === 'all') tracked.release();
      await resumeMissing(due.what === 'all' ? memory.active(due) : memory.recent(due));
      endLook(from, due, startedAt);
    } catch (error) {
      endLook(from, due, null);
      if (!stopped) options.onError(error);
    }
  }

  function arm(from: LookState): void {
    cancel();
    if (stopped) return;
    cancel = clock.after(LOOK_MS, () => {
      looking ??= look(from).finally(() => {
        looking = null;
        arm(from);
      });
    });
  }

  return {
    async start() {
      const startedAt = clock.now();
      // Before the group has assigned anything, only those are ours for certain that we had before.
      const resumed = await resumeMissing(memory.active(isShared ? { by: collectorId } : {}));
      state = firstLook(isShared, startedAt, clock.monotonicMs());
      arm(state);
      return resumed;
    },
    changed() {
      if (state !== null) state.fullDueMs = 0;
    },
    async stop() {
      stopped = true;
      cancel();
      await looking;
    },
  };
}

/** The stored orders that are not tracked; none any more once it has stopped. */
async function* untracked(
  pages: AsyncIterable<readonly WatchedOrder[]>,
  tracked: Pick<TrackedOrders, 'get'>,
  hasStopped: () => boolean,
): AsyncIterable<readonly WatchedOrder[]> {
  for await (const page of pages) {
    if (hasStopped()) return;
    const some = page.filter((order) => tracked.get(watchKey(order)) === undefined);
    if (some.length > 0) yield some;
  }
}

/**
 * Goes on with orders that an earlier run left unfinished, their stored history included. Returns how many.
 */
export async function resumeOrders(
  memory: WatchMemory,
  pages: AsyncIterable<readonly WatchedOrder[]>,
  resume: (tracked: TrackedOrder) => void,
): Promise<number> {
  let count = 0;
  for await (const page of pages) {
    const known = await memory.known(page.flatMap(identityOf));
    for (const order of page) {
      const [identity] = identityOf(order);
      const history =
        identity === undefined ? NOTHING_KNOWN : (known.get(orderText(identity)) ?? NOTHING_KNOWN);
      resume({ order, known: history });
      count += 1;
    }
  }
  return count;
}

function identityOf(order: WatchedOrder): OrderIdentity[] {
  const { gateway, orderType, externalId } = order;
  return externalId === '' ? [] : [{ gateway, orderType, externalId }];
}
