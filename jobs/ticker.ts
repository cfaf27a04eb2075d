import type { Clock } from '../schemas/clock.ts';

export interface TickerOptions {
  readonly clock: Clock;
  readonly intervalMs: number;
  /** How long after each whole interval. */
  readonly delayMs: number;
  /** The work of one tick; must not throw. */
  readonly onTick: () => Promise<void>;
}

/**
 * Calls `onTick` at once, and then after every whole interval since 1970. Work that takes longer than its
 * interval skips ticks and never overlaps with itself.
 *
 * @returns a function that stops it and waits for the work under way
 */
export function startTicker({ clock, intervalMs, delayMs, onTick }: TickerOptions): () => Promise<void> {
  let cancel = (): void => {};
  let stopped = false;
  const run = async (): Promise<void> => {
    await onTick();
    if (stopped) return;
    const now = clock.now() / 1000;
    const next = (Math.floor((now - delayMs) / intervalMs) + 1) * intervalMs + delayMs;
    cancel = clock.after(next - now, () => void (working = run()));
  };
  let working = run();
  return async () => {
    stopped = true;
    cancel();
    await working;
  };
}
