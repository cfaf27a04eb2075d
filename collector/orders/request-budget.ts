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
  /** Pauses that the gateway asked for one after the other, without another answer between them. */
  pausesInARow: number;
  /** When the first of those began. */
  pausedSinceMs: number;
}

/**
 * The longest first pause; each that follows at once may be twice as long, up to the last one. One answer, of
 * whatever stands before the gateway, must not make us blind for long.
 */
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 300_000;

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
    pausesInARow: 0,
    pausedSinceMs: Number.NEGATIVE_INFINITY,
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

/**
 * Notes what the gateway answered to a request: 429 and 503 with a `Retry-After` begin a pause, for all
 * requests. Answers to what was started before the pause do not prolong it; the request after it does, or
 * ends it.
 */
export function noteAnswer(
  budget: RequestBudget,
  { httpStatus, retryAfterMs }: { readonly httpStatus: number | null; readonly retryAfterMs: number | null },
  startedMs: number,
  nowMs: number,
): void {
  if (startedMs < budget.pausedUntilMs) return;
  const asksForPause = (httpStatus === 429 || httpStatus === 503) && (retryAfterMs ?? 0) > 0;
  if (!asksForPause) {
    if (httpStatus !== null) budget.pausesInARow = 0;
    return;
  }
  const mostMs = Math.min(FIRST_PAUSE_MS * 2 ** budget.pausesInARow, LONGEST_PAUSE_MS);
  if (budget.pausesInARow === 0) budget.pausedSinceMs = nowMs;
  budget.pausesInARow += 1;
  budget.pausedUntilMs = nowMs + Math.min(retryAfterMs ?? 0, mostMs);
}

/** After a pause, one request tries whether it is over. */
export const isTrying = ({ pausesInARow }: RequestBudget): boolean => pausesInARow > 0;

/** For how long the gateway has asked us to wait, in milliseconds; 0: it does not. */
export const pausedForMs = (budget: RequestBudget, nowMs: number): number =>
  isTrying(budget) ? nowMs - budget.pausedSinceMs : 0;
