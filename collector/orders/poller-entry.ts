import type { PollConfig } from '../../schemas/config.ts';
import type { EpochMicros, PollOutcome } from '../../schemas/rows.ts';
import type { PollCause, WatchedOrder } from '../../schemas/watch.ts';
import type { TrackedOrder } from './poller-contract.ts';

/** A moment on both clocks. */
export interface Instant {
  /** Wall clock. */
  readonly now: EpochMicros;
  /** Monotonic clock, which all waiting goes by. */
  readonly nowMs: number;
}

/** What the poller of one gateway keeps of an order: the order and its place in the queues. */
export interface Entry {
  tracked: TrackedOrder;
  cause: PollCause;
  /** Due on the monotonic clock. */
  dueMs: number;
  /** Queued before everything that is merely due. */
  urgent: boolean;
  /** When the first callback was received since the last request; null: none was. */
  calledAt: EpochMicros | null;
  inFlight: boolean;
  /** Asked for again by a callback while a request was under way. */
  again: boolean;
  lastStartMs: number;
  /**
   * How far the wall clock was ahead of the monotonic one, in microseconds, when the order's times were set.
   */
  wallAhead: EpochMicros;
}

export function createEntry(tracked: TrackedOrder, cause: PollCause, at: Instant): Entry {
  return {
    tracked,
    cause,
    dueMs: 0,
    urgent: false,
    calledAt: null,
    inFlight: false,
    again: false,
    lastStartMs: Number.NEGATIVE_INFINITY,
    wallAhead: wallAhead(at),
  };
}

/** Why an order is read when its time has come. */
export function plannedCause({ phase }: WatchedOrder): PollCause {
  return phase === 'rereading' ? 'reread' : 'schedule';
}

/**
 * An order of an earlier run. If its re-read is overdue, moves `finalAt` forward, as though no time had
 * passed since its last read: whether the collector was down or the clock was changed cannot be known, and
 * neither may take from the time in which late items are looked for.
 */
export function resumedOrder(
  order: WatchedOrder,
  now: EpochMicros,
  { rereadsS }: Pick<PollConfig, 'rereadsS'>,
): WatchedOrder {
  const { finalAt, nextPollAt } = order;
  if (finalAt === null || now <= nextPollAt) return order;
  // By the times that are kept: how often it was read says less once a re-read was late.
  const readAfterS = Math.max(0, ...rereadsS.filter((s) => finalAt + s * 1_000_000 < nextPollAt));
  return { ...order, finalAt: Math.max(finalAt, now - readAfterS * 1_000_000) };
}

/** Smaller differences between the clocks are slewing or noise, and no jump. */
const STEP: EpochMicros = 1_000_000;

/**
 * The order as of now. If the wall clock jumped, shifts the order's times by the jump, so that the jump
 * neither ends re-reads nor abandons the order.
 */
export function orderNow({ tracked: { order }, wallAhead: before }: Entry, at: Instant): WatchedOrder {
  const step = Math.round(wallAhead(at) - before);
  if (Math.abs(step) < STEP) return order;
  return {
    ...order,
    nextPollAt: order.nextPollAt + step,
    watchedSince: order.watchedSince + step,
    finalAt: order.finalAt === null ? null : order.finalAt + step,
  };
}

export function wallAhead({ now, nowMs }: Instant): EpochMicros {
  return now - nowMs * 1000;
}

/** True when the reply says anything about the order. */
export function saysSomething(outcome: PollOutcome): boolean {
  return outcome !== 'unknown' && outcome !== 'rate_limited';
}

/** The longest wait that the schedule has. A stored time further away was set by a wrong clock. */
export function longestWaitMs({ maxDelayS, jitter, rereadsS }: PollConfig): number {
  return 1000 * Math.max(maxDelayS * (1 + jitter), ...rereadsS);
}
