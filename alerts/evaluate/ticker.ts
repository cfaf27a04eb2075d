import type { Clock } from '../../schemas/clock.ts';

export interface TickerOptions {
  readonly clock: Clock;
  readonly intervalsMs: readonly number[];
  /** The work of one tick; must not throw. `at`: the tick's instant, in epoch milliseconds. */
  readonly onTick: (intervalMs: number, at: number) => Promise<void>;
}

/** The last whole interval since 1970, as Grafana's scheduler counts them. */
export const tickBefore = (now: number, intervalMs: number): number =>
  Math.floor(now / intervalMs) * intervalMs;

/**
 * Calls `onTick` at every whole interval. Work that takes longer than its interval skips ticks and never
 * overlaps with itself.
 *
 * @returns a function that stops it and waits for the work under way
 */
export function startTicker({ clock, intervalsMs, onTick }: TickerOptions): () => Promise<void> {
  const cancels = new Map<number, () => void>();
  const running = new Set<Promise<void>>();
  let stopped = false;
  const wallMs = (): number => clock.now() / 1000;

  const schedule = (intervalMs: number): void => {
    const now = wallMs();
    const due = tickBefore(now, intervalMs) + intervalMs;
    const run = (): void => {
      const work = onTick(intervalMs, tickBefore(wallMs(), intervalMs)).finally(() => {
        running.delete(work);
        if (!stopped) schedule(intervalMs);
      });
      running.add(work);
    };
    cancels.set(intervalMs, clock.after(due - now, run));
  };

  for (const intervalMs of intervalsMs) schedule(intervalMs);
  return async () => {
    stopped = true;
    for (const cancel of cancels.values()) cancel();
    await Promise.allSettled(running);
  };
}
