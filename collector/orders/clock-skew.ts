import type { EpochMicros } from '../../schemas/rows.ts';

/** What one read says about the gateway's clock. */
export interface DatedRead {
  /** Which order was read, see `watchKey`. */
  readonly order: string;
  /** The latest of the items that the reply has and the reply before had not. */
  readonly newestItemAt: EpochMicros;
  readonly observedAt: EpochMicros;
  /** When the order was read before; null: this run has not. */
  readonly readBeforeAt: EpochMicros | null;
}

/** By order, oldest first: seconds that its newest item is dated ahead of our clock (behind: negative). */
export type ClockSkewTracker = Map<string, { readonly observedAt: EpochMicros; readonly seconds: number }>;

/** Clocks that are set by the network differ by less. */
const TOLERATED_AHEAD_S = 5;
/** An item that appears after a read is dated after it, or is a late one: those come within ten minutes. */
const TOLERATED_BEHIND_S = 900;
/** As many orders, of the newest hundred of at most three hours, must say the same. */
const ENOUGH_ORDERS = 5;
const MOST_ORDERS = 100;
const MOST_SECONDS = 10_800;

export const createClockSkewTracker = (): ClockSkewTracker => new Map();

export function noteDatedRead(tracker: ClockSkewTracker, read: DatedRead): void {
  tracker.delete(read.order);
  tracker.set(read.order, { observedAt: read.observedAt, seconds: skewOf(read) });
  for (const [order, { observedAt }] of tracker) {
    const isOld = read.observedAt - observedAt > MOST_SECONDS * 1e6;
    if (!isOld && tracker.size <= MOST_ORDERS) return;
    tracker.delete(order);
  }
}

function skewOf({ newestItemAt, observedAt, readBeforeAt }: DatedRead): number {
  const ahead = (newestItemAt - observedAt) / 1e6;
  if (ahead > TOLERATED_AHEAD_S) return ahead;
  if (readBeforeAt === null) return 0;
  const behind = (readBeforeAt - newestItemAt) / 1e6;
  return behind > TOLERATED_BEHIND_S ? -behind : 0;
}

/**
 * By how many seconds the gateway's history is dated ahead of our clock, or behind it (negative); 0: by none
 * that can be measured, null: there was nothing to measure. Of orders that differ it is the middle one.
 */
export function clockSkewSeconds(tracker: ClockSkewTracker, now: EpochMicros): number | null {
  const recent = [...tracker.values()].filter(({ observedAt }) => now - observedAt <= MOST_SECONDS * 1e6);
  if (recent.length === 0) return null;
  const sorted = recent.map(({ seconds }) => seconds).sort((a, b) => a - b);
  const ahead = sorted.filter((seconds) => seconds > 0);
  const behind = sorted.filter((seconds) => seconds < 0);
  const most = ahead.length >= behind.length ? ahead : behind;
  return most.length < ENOUGH_ORDERS ? 0 : (most[Math.floor(most.length / 2)] ?? 0);
}
