import type { Clock } from '../../schemas/clock.ts';
import type { EpochMicros } from '../../schemas/rows.ts';
import { watchKey, type WatchedOrder } from '../../schemas/watch.ts';
import type { Watched } from './poller-port.ts';
import { resumeOrders } from './resume.ts';
import type { Share } from './assignment.ts';
import type { WatchMemory } from './watch-memory.ts';

export interface KeeperOptions {
  readonly memory: WatchMemory;
  readonly poller: {
    resume(watched: Watched): void;
    release(): void;
    get(gateway: string, key: string): WatchedOrder | undefined;
  };
  readonly collectorId: string;
  readonly clock: Clock;
  /** Which orders are this collector's; null until that is known, or when there is no other collector. */
  readonly share: () => Share;
  /** Other collectors may work on the same store, and the share will be told. */
  readonly isShared: boolean;
  /** A look at the store failed; it is repeated. */
  readonly onError: (error: unknown) => void;
}

/**
 * Sees to it that each unfinished order is watched by one collector: this one for those of its share
 * (decision 13).
 */
export interface Keeper {
  /**
   * Goes on with what earlier runs left; from then on looks after the rest. Returns how many orders were
   * resumed.
   */
  start(): Promise<number>;
  /** The share has changed. */
  changed(): void;
  stop(): Promise<void>;
}

const LOOK_MS = 5_000;
/** Between two looks at everything: for rows whose time a clock that was set made useless. */
const FULL_LOOK_MS = 300_000;
/** Without a group to tell, every order is ours after so long: better twice than never. */
const ALONE_MS = 30_000;
/** Rows are stored a while after the time they carry, and clocks of two machines differ. */
const MARGIN: EpochMicros = 60_000_000;

export function createKeeper(options: KeeperOptions): Keeper {
  const { memory, poller, collectorId, clock, share, isShared } = options;
  let cancel = () => {};
  let stopped = false;
  let looking: Promise<void> | null = null;
  let lookedAt: EpochMicros = 0;
  let fullDueMs = 0;
  let aloneMs = 0;

  async function* missing(
    pages: AsyncIterable<readonly WatchedOrder[]>,
  ): AsyncIterable<readonly WatchedOrder[]> {
    for await (const page of pages) {
      if (stopped) return;
      const some = page.filter((order) => poller.get(order.gateway, watchKey(order)) === undefined);
      if (some.length > 0) yield some;
    }
  }

  const takeOver = (pages: AsyncIterable<readonly WatchedOrder[]>): Promise<number> =>
    resumeOrders(memory, missing(pages), poller.resume);

  async function look(): Promise<void> {
    const now = clock.now();
    const startMs = clock.monotonicMs();
    const ours = share();
    if (isShared && ours === null && startMs < aloneMs) return;
    const isFull = startMs >= fullDueMs;
    // Whatever changes from here on is for the next look.
    if (isFull) fullDueMs = startMs + FULL_LOOK_MS;
    try {
      if (isFull) poller.release();
      await takeOver(
        isFull
          ? memory.active({ share: ours })
          : memory.recent({ share: ours, since: lookedAt - MARGIN, notBy: collectorId }),
      );
      lookedAt = now;
    } catch (error) {
      if (isFull) fullDueMs = 0;
      if (!stopped) options.onError(error);
    }
  }

  function arm(): void {
    cancel();
    if (stopped) return;
    cancel = clock.after(LOOK_MS, () => {
      looking ??= look().finally(() => {
        looking = null;
        arm();
      });
    });
  }

  return {
    async start() {
      lookedAt = clock.now();
      // Before the group has told who has what, only those are ours for certain that we had before.
      const resumed = await takeOver(memory.active(isShared ? { by: collectorId } : {}));
      aloneMs = clock.monotonicMs() + ALONE_MS;
      fullDueMs = isShared ? aloneMs : clock.monotonicMs() + FULL_LOOK_MS;
      arm();
      return resumed;
    },
    changed() {
      fullDueMs = 0;
    },
    async stop() {
      stopped = true;
      cancel();
      await looking;
    },
  };
}
