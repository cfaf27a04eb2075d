import { fileURLToPath } from 'node:url';
import { systemClock, type Clock } from '../../sandbox/clock.ts';

/** A clock that is off by so much, and can be set forward: what becomes due by that is done at once. */
export interface ShiftedClock extends Clock {
  shiftMs(): number;
  setShift(ms: number): void;
}

export function createShiftedClock(shiftMs: number): ShiftedClock {
  let shift = shiftMs;
  const waiting = new Set<{ atMs: number; run: () => void; cancel: () => void }>();
  const now = (): number => systemClock.now() + shift;
  const arm = (entry: { atMs: number; run: () => void; cancel: () => void }): void => {
    entry.cancel = systemClock.after(entry.atMs - now(), () => {
      waiting.delete(entry);
      entry.run();
    });
  };
  return {
    now,
    after(delayMs, run) {
      const entry = { atMs: now() + delayMs, run, cancel: () => {} };
      waiting.add(entry);
      arm(entry);
      return () => {
        waiting.delete(entry);
        entry.cancel();
      };
    },
    shiftMs: () => shift,
    setShift(ms) {
      shift = ms;
      for (const entry of waiting) {
        entry.cancel();
        arm(entry);
      }
    },
  };
}

const PRELOAD = fileURLToPath(new URL('shift-wall-clock.ts', import.meta.url));

/** The environment of a process whose wall clock is off by so much. */
export const shiftedEnvironment = (shiftMs: number): Record<string, string> => ({
  NODE_OPTIONS: `--import=${PRELOAD}`,
  WALL_CLOCK_SHIFT_MS: `${shiftMs}`,
});
