import type { EpochMicros, PollOutcome } from '../../schemas/rows.ts';

/** Outcomes that show the gateway's view of an order. */
const SHOWING: ReadonlySet<PollOutcome> = new Set<PollOutcome>(['ok', 'not_found']);
/** After this many failures in a row the gateway counts as not answering; fewer are noise. */
const FAILURES_TO_BLIND = 3;
/** Polls later than this mean that the collector has fallen behind. */
const TOLERATED_LATENESS_MS = 5_000;

/**
 * What a gateway's watermark is computed from. Measures end at the watermark, so that those of a gateway that
 * does not answer freeze instead of looking healthy.
 */
export interface WatermarkTracker {
  /** Start of the last request whose reply showed the gateway's view. */
  lastReplyAt: EpochMicros | null;
  firstFailureAt: EpochMicros | null;
  failures: number;
}

export function createWatermarkTracker(): WatermarkTracker {
  return { lastReplyAt: null, firstFailureAt: null, failures: 0 };
}

/** Notes how a request ended that started then. */
export function notePoll(tracker: WatermarkTracker, outcome: PollOutcome, startedAt: EpochMicros): void {
  if (SHOWING.has(outcome)) {
    tracker.lastReplyAt = startedAt;
    tracker.firstFailureAt = null;
    tracker.failures = 0;
  } else {
    tracker.firstFailureAt ??= startedAt;
    tracker.failures += 1;
  }
}

/** So many requests in a row failed that the gateway counts as not answering. */
export const isBlind = ({ failures }: WatermarkTracker): boolean => failures >= FAILURES_TO_BLIND;

/** The time up to which our view is complete: now, unless the gateway fails or the polls are late. */
export function watermark(tracker: WatermarkTracker, now: EpochMicros, behindMs: number): EpochMicros {
  const { lastReplyAt, firstFailureAt } = tracker;
  const seen = isBlind(tracker) ? (lastReplyAt ?? firstFailureAt ?? now) : now;
  const caughtUp = behindMs <= TOLERATED_LATENESS_MS ? now : now - Math.round(behindMs * 1000);
  return Math.min(seen, caughtUp);
}
