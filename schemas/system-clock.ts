import type { Clock } from './clock.ts';

/** Never changes, and costs more to ask for than the time itself. */
const ORIGIN = performance.timeOrigin;

/** The machine's clocks. Pending callbacks do not keep the process alive. */
export const systemClock: Clock = {
  now() {
    const derived = ORIGIN + performance.now();
    return Math.floor(derived * 1000) + drift(derived);
  },
  monotonicMs: () => performance.now(),
  after(delayMs, callback) {
    // setTimeout wraps beyond 2^31 ms: a longer wait becomes several.
    const timer = setTimeout(callback, Math.min(Math.max(delayMs, 0), 2_000_000_000));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/**
 * performance.now() gives microseconds but does not follow steps of the wall clock: the whole milliseconds
 * do.
 */
function drift(derived: number): number {
  const wall = Date.now();
  return Math.abs(wall - derived) < 5 ? 0 : Math.round(wall - derived) * 1000;
}
