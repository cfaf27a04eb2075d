import type { PollConfig } from '../../schemas/config.ts';
import type { EpochMicros, PollOutcome } from '../../schemas/rows.ts';
import type { PollCause, WatchedOrder } from '../../schemas/watch.ts';
import type { TrackedOrder } from './tracked-orders.ts';

/** A moment on both clocks. */
export interface Instant {
  /** Wall clock. */
  readonly now: EpochMicros;
  /** Monotonic clock, which all waiting goes by. */
  readonly nowMs: number;
}

/** A tracked order with its place in the queues. */
export interface Entry {
  tracked: TrackedOrder;
  cause: PollCause;
  /** Due on the monotonic clock. */
  dueMs: number;
  /** Queued before everything that is merely due. */
  urgent: boolean;
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
 * An order of an earlier run. Time by which its re-read is overdue does not count as time that was waited:
 * whether it passed while nobody looked, or the clock was set, cannot be told, and late items must not be
 * missed.
 */
export function resumedOrder(order: WatchedOrder, now: EpochMicros): WatchedOrder {
  const overdue = now - order.nextPollAt;
  if (order.finalAt === null || overdue <= 0) return order;
  return { ...order, finalAt: order.finalAt + overdue };
}

/** Smaller differences are the clock being slewed, or noise. */
const STEP: EpochMicros = 1_000_000;

/**
 * The order as of now. Its times move along when the wall clock is set: an hour that never passed neither
 * ends its re-reads nor gives it up.
 */
export function orderNow({ tracked: { order }, wallAhead: before }: Entry, at: Instant): WatchedOrder {
  const step = Math.round(wallAhead(at) - before);
  if (Math.abs(step) < STEP) return order;
  return {
    ...order,
    nextPollAt: order.nextPollAt + step,
    firstSeenAt: order.firstSeenAt + step,
    finalAt: order.finalAt === null ? null : order.finalAt + step,
  };
}

export function wallAhead({ now, nowMs }: Instant): EpochMicros {
  return now - nowMs * 1000;
}

/** Did the gateway say anything of the order? */
export function saysSomething(outcome: PollOutcome): boolean {
  return outcome !== 'unknown' && outcome !== 'rate_limited';
}

/** A stored time further away than any of the schedule's is of a clock that was wrong. */
export function longestWaitMs({ maxDelayS, jitter, rereadsS }: PollConfig): number {
  return 1000 * Math.max(maxDelayS * (1 + jitter), ...rereadsS);
}
