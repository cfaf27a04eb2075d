/**
 * Limits requests to one gateway: at most `requestsPerSecond` starts in any second, bursts included, and none
 * during a pause that the gateway asks for.
 */
export interface RequestBudget {
  /** Start times of the last requests, as a ring: as many as may start within the window. */
  readonly starts: Float64Array;
  oldest: number;
  readonly windowMs: number;
  pausedUntilMs: number;
}

/**
 * Evenly sent requests arrive unevenly. The window is a little longer than a second, so that the gateway does
 * not count one request too many.
 */
const WINDOW_MS = 1_050;

export function createRequestBudget(requestsPerSecond: number): RequestBudget {
  // Two and a half a second: two in any second. Less than one a second: one in a longer time.
  const capacity = Math.max(1, Math.floor(requestsPerSecond));
  return {
    starts: new Float64Array(capacity).fill(Number.NEGATIVE_INFINITY),
    oldest: 0,
    windowMs: requestsPerSecond < 1 ? WINDOW_MS / requestsPerSecond : WINDOW_MS,
    pausedUntilMs: Number.NEGATIVE_INFINITY,
  };
}

/** Milliseconds until the next start is allowed; 0: now. */
export function budgetWaitMs(
  { starts, oldest, windowMs, pausedUntilMs }: RequestBudget,
  nowMs: number,
): number {
  return Math.max(0, (starts[oldest] ?? 0) + windowMs - nowMs, pausedUntilMs - nowMs);
}

/** Notes a start. */
export function spend(budget: RequestBudget, nowMs: number): void {
  budget.starts[budget.oldest] = nowMs;
  budget.oldest = (budget.oldest + 1) % budget.starts.length;
}

/** Allows no start before then. */
export function pauseUntil(budget: RequestBudget, timeMs: number): void {
  budget.pausedUntilMs = Math.max(budget.pausedUntilMs, timeMs);
}
