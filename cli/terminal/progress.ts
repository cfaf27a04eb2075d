import type { Host, Output } from './host.ts';

const QUIET_MS = 2000;
const CLEAR_LINE = '\r\u001b[2K';
const REDRAW_MS = 200;
const CELLS = 24;

/** Says on a terminal what is being waited for, once it has taken two seconds; elsewhere says nothing. */
export async function withProgress<T>(host: Host, what: string, work: Promise<T>): Promise<T> {
  if (!host.stderr.isTty) return work;
  const startedAt = performance.now();
  let shown = false;
  const tick = () => {
    const elapsedMs = performance.now() - startedAt;
    if (elapsedMs < QUIET_MS) return;
    shown = true;
    const text = `${what} ... ${Math.floor(elapsedMs / 1000)} s`;
    void host.stderr.write(CLEAR_LINE + host.stderr.paint('dim', text));
  };
  const timer = setInterval(tick, 500);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    if (shown) void host.stderr.write(CLEAR_LINE);
  }
}

/** The same as a callback, for parts that know no terminal. */
export const progressOn =
  (host: Host) =>
  <T>(what: string, work: Promise<T>): Promise<T> =>
    withProgress(host, what, work);

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
