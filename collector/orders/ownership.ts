import type { Clock } from '../../schemas/clock.ts';
import type { EpochMicros } from '../../schemas/rows.ts';
import { watchKey, type WatchedOrder } from '../../schemas/watch.ts';
import { orderText, type OrderIdentity } from '../decode/ids.ts';
import { NOTHING_KNOWN } from '../decode/known-history.ts';
import type { Assignment } from './assignment.ts';
import type { Memory } from './memory.ts';
import type { TrackedOrder, TrackedOrders } from './poller-contract.ts';
import type { ActiveOf, RecentOf, WatchStore } from './watch-store.ts';

export interface OwnershipOptions {
  readonly watchStore: WatchStore;
  readonly tracked: Pick<TrackedOrders, 'resume' | 'release' | 'get'>;
  readonly collectorId: string;
  readonly clock: Clock;
  /** Which orders are this collector's; null until that is known, or when there is no other collector. */
  readonly assignment: () => Assignment;
  /** Under which number is remembered what is loaded from the store now, see `Memory`. */
  readonly stamp: Memory['stamp'];
  /** Other collectors may work on the same store, and an assignment will come. */
  readonly isShared: boolean;
  /** A scan of the store failed; it is repeated. */
  readonly onError: (error: unknown) => void;
}

/** Keeps this collector's tracked orders equal to the active orders that it owns (decision 13). */
export interface Ownership {
  /** Resumes the orders of earlier runs, then scans the store regularly. Returns how many were resumed. */
  start(): Promise<number>;
  /** The assignment has changed. */
  changed(): void;
  stop(): Promise<void>;
}

/** Between two scans of recent changes. */
const SCAN_MS = 5_000;
/** Between two scans of all active orders, which find rows that a wrong clock dated into the past. */
const FULL_SCAN_MS = 300_000;
/** Without an assignment after this time, we take every order: reading it twice is better than never. */
const ASSIGNMENT_WAIT_MS = 30_000;
/** Scans reach back further by this: rows are stored after `updated_at`, and clocks of machines differ. */
const MARGIN: EpochMicros = 60_000_000;

/** When scans of the store are due, and what they cover. */
export interface ScanState {
  readonly isShared: boolean;
  /** Changes up to this time have been scanned. */
  scannedAt: EpochMicros;
  /** When all active orders are scanned again, not only recent changes. */
  fullDueMs: number;
  /** Until when an assignment is waited for. */
  assignmentWaitMs: number;
}

/** A scan of the store and what it covers. */
export type StoreScan = ({ readonly what: 'all' } & ActiveOf) | ({ readonly what: 'recent' } & RecentOf);

/** The state after the first scan. */
export function firstScan(isShared: boolean, scannedAt: EpochMicros, nowMs: number): ScanState {
  const assignmentWaitMs = nowMs + ASSIGNMENT_WAIT_MS;
  return {
    isShared,
    scannedAt,
    assignmentWaitMs,
    fullDueMs: isShared ? assignmentWaitMs : nowMs + FULL_SCAN_MS,
  };
}

/** The scan that is due; null while the assignment is waited for. */
export function nextScan(
  state: ScanState,
  assignment: Assignment,
  collectorId: string,
  nowMs: number,
): StoreScan | null {
  if (state.isShared && assignment === null && nowMs < state.assignmentWaitMs) return null;
  if (nowMs < state.fullDueMs)
    return { what: 'recent', assignment, since: state.scannedAt - MARGIN, notBy: collectorId };
  // An assignment that changes during this scan makes the next full scan due again.
  state.fullDueMs = nowMs + FULL_SCAN_MS;
  return { what: 'all', assignment };
}

/** A scan has ended; `startedAt` null: it failed, and is repeated. */
export function endScan(state: ScanState, { what }: StoreScan, startedAt: EpochMicros | null): void {
  if (startedAt !== null) state.scannedAt = startedAt;
  else if (what === 'all') state.fullDueMs = 0;
}

export function createOwnership(options: OwnershipOptions): Ownership {
  const { watchStore, tracked, collectorId, clock, isShared } = options;
  let state: ScanState | null = null;
  let cancel = () => {};
  let stopped = false;
  let scanning: Promise<void> | null = null;
  function resumeMissing(pages: AsyncIterable<readonly WatchedOrder[]>): Promise<number> {
    const loadedIn = options.stamp();
    return resumeOrders(
      watchStore,
      untracked(pages, tracked, () => stopped),
      (found) => tracked.resume({ ...found, loadedIn }),
    );
  }

  async function scan(from: ScanState): Promise<void> {
    const startedAt = clock.now();
    const due = nextScan(from, options.assignment(), collectorId, clock.monotonicMs());
    if (due === null) return;
    try {
      if (due.what === 'all') tracked.release();
      await resumeMissing(due.what === 'all' ? watchStore.active(due) : watchStore.recent(due));
      endScan(from, due, startedAt);
    } catch (error) {
      endScan(from, due, null);
      if (!stopped) options.onError(error);
    }
  }

  function arm(from: ScanState): void {
    cancel();
    if (stopped) return;
    cancel = clock.after(SCAN_MS, () => {
      scanning ??= scan(from).finally(() => {
        scanning = null;
        arm(from);
      });
    });
  }

  return {
    async start() {
      const startedAt = clock.now();
      // Until the group has assigned partitions, only orders that we had before are certainly ours.
      const resumed = await resumeMissing(watchStore.active(isShared ? { by: collectorId } : {}));
      state = firstScan(isShared, startedAt, clock.monotonicMs());
      arm(state);
      return resumed;
    },
    changed() {
      if (state !== null) state.fullDueMs = 0;
    },
    async stop() {
      stopped = true;
      cancel();
      await scanning;
    },
  };
}

/** The stored orders that are not tracked; ends early once `hasStopped`. */
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

/** Resumes active orders of an earlier run with their stored history. Returns how many. */
export async function resumeOrders(
  watchStore: WatchStore,
  pages: AsyncIterable<readonly WatchedOrder[]>,
  resume: (tracked: TrackedOrder) => void,
): Promise<number> {
  let count = 0;
  for await (const page of pages) {
    const known = await watchStore.known(page.flatMap(identityOf));
    for (const order of page) {
      const [identity] = identityOf(order);
      const stored = identity === undefined ? undefined : known.get(orderText(identity));
      if (stored === undefined) resume({ order, known: NOTHING_KNOWN });
      else resume({ order: { ...order, firstSeenAt: stored.firstSeenAt }, known: stored.known });
      count += 1;
    }
  }
  return count;
}

function identityOf(order: WatchedOrder): OrderIdentity[] {
  const { gateway, orderType, externalId } = order;
  return externalId === '' ? [] : [{ gateway, orderType, externalId }];
}
