import type { Clock } from '../../schemas/clock.ts';

/** A clock that stands still until a test moves it. */
export interface FakeClock extends Clock {
  /**
   * Lets time pass on both clocks, calling back what falls due, each at its own moment and before what it
   * leads to.
   */
  advance(ms: number): Promise<void>;
  /** Sets the wall clock forward or back; the monotonic clock does not see it. */
  step(ms: number): void;
  /** Callbacks that wait. */
  pending(): number;
}

const START_MS = Date.UTC(2026, 10, 21, 10, 15, 30);

/** Lets everything run that waits for nothing but its turn. */
export async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** @param startMs milliseconds since 1970 */
export function createFakeClock(startMs = START_MS): FakeClock {
  let elapsedMs = 0;
  let wallMs = startMs;
  let count = 0;
  const timers = new Map<number, { atMs: number; callback: () => void }>();

  function earliest(untilMs: number): number | null {
    let found: { id: number; atMs: number } | null = null;
    for (const [id, { atMs }] of timers) {
      if (atMs <= untilMs && (found === null || atMs < found.atMs)) found = { id, atMs };
    }
    return found?.id ?? null;
  }

  function move(toMs: number): void {
    const passed = Math.max(0, toMs - elapsedMs);
    elapsedMs += passed;
    wallMs += passed;
  }

  return {
    now: () => Math.round(wallMs * 1000),
    monotonicMs: () => elapsedMs,
    after(delayMs, callback) {
      const id = (count += 1);
      timers.set(id, { atMs: elapsedMs + Math.max(delayMs, 0), callback });
      return () => timers.delete(id);
    },
    async advance(ms) {
      const untilMs = elapsedMs + ms;
      await turn();
      for (let id = earliest(untilMs); id !== null; id = earliest(untilMs)) {
        const timer = timers.get(id);
        timers.delete(id);
        move(timer?.atMs ?? elapsedMs);
        timer?.callback();
        await turn();
      }
      move(untilMs);
    },
    step(ms) {
      wallMs += ms;
    },
    pending: () => timers.size,
  };
}
