import type { EpochMicros, PollOutcome } from '../../schemas/rows.ts';

/** Answers that show the gateway's view of an order. */
const SEEING: ReadonlySet<PollOutcome> = new Set<PollOutcome>(['ok', 'not_found']);
/** So many failures in a row mean blindness; fewer are everyday noise. */
const FAILURES_TO_BLIND = 3;
/** Polls later than this mean that the collector has fallen behind. */
const TOLERATED_LATENESS_MS = 5_000;

export interface Sight {
  note(outcome: PollOutcome, startedAt: EpochMicros): void;
  /**
   * The instant up to which the view is complete: now, unless the gateway is blind or the polls are behind.
   */
  watermark(now: EpochMicros, behindMs: number): EpochMicros;
  lastReplyAt(): EpochMicros | null;
}

/**
 * Keeps the gateway's watermark: measures end there, so that a blind gateway freezes instead of looking
 * healthy.
 */
export function createSight(): Sight {
  let lastSeeing: EpochMicros | null = null;
  let firstFailure: EpochMicros | null = null;
  let failures = 0;
  return {
    note(outcome, startedAt) {
      if (SEEING.has(outcome)) {
        lastSeeing = startedAt;
        firstFailure = null;
        failures = 0;
      } else {
        firstFailure ??= startedAt;
        failures += 1;
      }
    },
    watermark(now, behindMs) {
      const seen = failures < FAILURES_TO_BLIND ? now : (lastSeeing ?? firstFailure ?? now);
      const caughtUp = behindMs <= TOLERATED_LATENESS_MS ? now : now - Math.round(behindMs * 1000);
      return Math.min(seen, caughtUp);
    },
    lastReplyAt: () => lastSeeing,
  };
}
