/**
 * What a gateway is promised: at most `requestsPerSecond` starts in any second, bursts included, and pauses
 * it asks for.
 */
export interface Budget {
  /** Milliseconds until the next start is allowed; 0: now. */
  waitMs(nowMs: number): number;
  /** Notes a start. */
  take(nowMs: number): void;
  /** Allows no start before then. */
  pauseUntil(timeMs: number): void;
}

/**
 * Requests set out evenly but arrive unevenly: a little more than a second, so that the gateway does not
 * count one too many.
 */
const WINDOW_MS = 1_050;

export function createBudget(requestsPerSecond: number): Budget {
  // Two and a half a second: two in any second. Less than one a second: one in a longer time.
  const capacity = Math.max(1, Math.floor(requestsPerSecond));
  const windowMs = requestsPerSecond < 1 ? WINDOW_MS / requestsPerSecond : WINDOW_MS;
  // Start times of the last `capacity` requests, as a ring.
  const starts = new Float64Array(capacity).fill(Number.NEGATIVE_INFINITY);
  let oldest = 0;
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  return {
    waitMs: (nowMs) => Math.max(0, (starts[oldest] ?? 0) + windowMs - nowMs, pausedUntilMs - nowMs),
    take(nowMs) {
      starts[oldest] = nowMs;
      oldest = (oldest + 1) % capacity;
    },
    pauseUntil(timeMs) {
      pausedUntilMs = Math.max(pausedUntilMs, timeMs);
    },
  };
}
