/** setTimeout takes a longer wait for one of a millisecond. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const LATE = Symbol('late');

/**
 * Waits for `work`. Once `limitMs` have passed, or `signal` is aborted, returns or throws what `late` does
 * instead, by default `undefined`. The work itself goes on; its outcome is ignored.
 *
 * @param limitMs `Infinity`: only `signal` ends the wait
 */
export async function withDeadline<T, Late = undefined>(
  work: Promise<T>,
  limitMs: number,
  late: () => Late = () => undefined as Late,
  signal?: AbortSignal,
): Promise<T | Late> {
  const over = Promise.withResolvers<typeof LATE>();
  const end = (): void => over.resolve(LATE);
  const timer = limitMs === Infinity ? undefined : setTimeout(end, Math.min(limitMs, LONGEST_TIMER_MS));
  if (signal?.aborted === true) end();
  signal?.addEventListener('abort', end, { once: true });
  try {
    // In this order: an aborted signal wins over work that is done already.
    const outcome = await Promise.race([over.promise, work]);
    return outcome === LATE ? late() : outcome;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

/** Waits for `work`, and throws the signal's reason as soon as that is aborted. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const giveUp = (): never => {
    throw signal.reason;
  };
  return withDeadline(work, Infinity, giveUp, signal);
}

/** True when `work` is over in time, whether it resolved or rejected. Never rejects. */
export async function settlesWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const settled = work.then(
    () => true,
    () => true,
  );
  return withDeadline(settled, limitMs, () => false);
}

/** Resolves after that time, or as soon as `signal` is aborted. Never rejects. */
export async function sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
  await withDeadline(new Promise<never>(() => undefined), durationMs, undefined, signal);
}

/** Lets the event loop handle what came in meanwhile, in the middle of long work. */
export const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
