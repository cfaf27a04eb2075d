import type { Output } from '../host.ts';

const QUIET_MS = 2000;
const REDRAW_MS = 200;
const CLEAR_LINE = '\r\u001b[2K';
const CELLS = 24;

export interface ProgressBar {
  /** Shows how far it is; on a terminal only, and once it has taken two seconds. */
  readonly show: (done: number, what: string) => void;
  readonly clear: () => void;
}

/** A bar with the time that is left, for work whose size is known. */
export function createProgressBar(
  output: Output,
  total: number,
  now: () => number = () => performance.now(),
): ProgressBar {
  const startedAt = now();
  let drawnAt = -Infinity;
  return {
    show(done, what) {
      const elapsed = now() - startedAt;
      if (!output.isTty || elapsed < QUIET_MS || now() - drawnAt < REDRAW_MS) return;
      drawnAt = now();
      const share = total === 0 ? 1 : Math.min(1, done / total);
      const filled = Math.round(share * CELLS);
      const left = share === 0 ? '' : `, ${timeText((elapsed / share) * (1 - share))} left`;
      const bar = `[${'#'.repeat(filled)}${'.'.repeat(CELLS - filled)}]`;
      void output.write(
        CLEAR_LINE + output.paint('dim', `${bar} ${Math.floor(share * 100)} %${left}  ${what}`),
      );
    },
    clear() {
      if (drawnAt !== -Infinity) void output.write(CLEAR_LINE);
    },
  };
}

const timeText = (ms: number): string =>
  ms < 90_000 ? `${Math.ceil(ms / 1000)} s` : `${Math.ceil(ms / 60_000)} min`;
