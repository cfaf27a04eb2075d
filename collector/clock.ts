import type { Clock } from '../schemas/clock.ts';

/** The machine's clocks. Pending callbacks do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Math.floor((performance.timeOrigin + performance.now()) * 1000) + drift(),
  monotonicMs: () => performance.now(),
  after(delayMs, callback) {
    // setTimeout wraps beyond 2^31 ms: a longer wait becomes several.
    const timer = setTimeout(callback, Math.min(Math.max(delayMs, 0), 2_000_000_000));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** performance.now() gives microseconds but does not follow steps of the wall clock: the whole milliseconds do. */
function drift(): number {
  const wall = Date.now();
  const derived = performance.timeOrigin + performance.now();
  return Math.abs(wall - derived) < 5 ? 0 : Math.round(wall - derived) * 1000;
}
