import type { Clock } from '../../schemas/clock.ts';
import type { PollConfig } from '../../schemas/config.ts';
import type { EpochMicros, PollOutcome } from '../../schemas/rows.ts';
import type { PollCause, WatchedOrder } from '../../schemas/watch.ts';
import type { Watched } from './poller-port.ts';

/** A watched order in the poller's memory. */
export interface Entry {
  watched: Watched;
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

export function createEntry(watched: Watched, cause: PollCause, clock: Clock): Entry {
  return {
    watched,
    cause,
    dueMs: 0,
    urgent: false,
    inFlight: false,
    again: false,
    lastStartMs: Number.NEGATIVE_INFINITY,
    wallAhead: wallAhead(clock),
  };
}

/** Fills in what only the other knows: hints may arrive while a request is under way. */
export function learn(order: WatchedOrder, other: WatchedOrder): WatchedOrder {
  if (!knowsMore(other, order)) return order;
  return {
    ...order,
    channel: order.channel || other.channel,
    externalTransactionId: order.externalTransactionId || other.externalTransactionId,
    amount: order.amount ?? other.amount,
    currency: order.currency ?? other.currency,
    rootSent: order.rootSent || other.rootSent,
  };
}

function knowsMore(other: WatchedOrder, order: WatchedOrder): boolean {
  return (
    (order.channel === '' && other.channel !== '') ||
    (order.externalTransactionId === '' && other.externalTransactionId !== '') ||
    (order.amount === null && other.amount !== null) ||
    (order.currency === null && other.currency !== null) ||
    (!order.rootSent && other.rootSent)
  );
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
export function orderNow({ watched: { order }, wallAhead: before }: Entry, clock: Clock): WatchedOrder {
  const step = Math.round(wallAhead(clock) - before);
  if (Math.abs(step) < STEP) return order;
  return {
    ...order,
    nextPollAt: order.nextPollAt + step,
    firstSeenAt: order.firstSeenAt + step,
    finalAt: order.finalAt === null ? null : order.finalAt + step,
  };
}

function wallAhead(clock: Clock): EpochMicros {
  return clock.now() - clock.monotonicMs() * 1000;
}

/** Did the gateway say anything of the order? */
export function isAnswer(outcome: PollOutcome): boolean {
  return outcome !== 'unknown' && outcome !== 'rate_limited';
}

/** A stored time further away than any of the schedule's is of a clock that was wrong. */
export function longestWaitMs({ maxDelayS, jitter, rereadsS }: PollConfig): number {
  return 1000 * Math.max(maxDelayS * (1 + jitter), ...rereadsS);
}
