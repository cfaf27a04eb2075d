/**
 * Statements that the engine cannot interrupt: a regular expression over a long text, say. Nothing but a new
 * process ends them, and what asked for them once may do so again.
 */

/** What the engine's process learns of them at its start. */
export interface RefusedStatements {
  /** Hashes of statements that had the process ended, and until when they are refused: epoch milliseconds. */
  readonly until: Readonly<Record<string, number>>;
  /** Until then no reader is answered; 0: all are. */
  readonly readersUntil: number;
}

export const NOTHING_REFUSED: RefusedStatements = { until: {}, readersUntil: 0 };

/** How long a statement is refused that had the engine restarted. */
const REFUSED_MS = 600_000;
/** So many within that time, and all readers are refused for a while: what is written goes on. */
const MOST_STUCK = 4;
const READERS_REFUSED_MS = 300_000;

/** What is refused once one more statement was stuck. */
export function afterStuck(before: RefusedStatements, hash: string, nowMs: number): RefusedStatements {
  const lasting = Object.entries(before.until).filter(([, untilMs]) => untilMs > nowMs);
  const until = Object.fromEntries([...lasting, [hash, nowMs + REFUSED_MS]]);
  const isTooMuch = Object.keys(until).length >= MOST_STUCK;
  return { until, readersUntil: isTooMuch ? nowMs + READERS_REFUSED_MS : before.readersUntil };
}

/** Why a statement is not run, in words that follow "refused: "; null: it is. */
export function refusalOf(
  { until, readersUntil }: RefusedStatements,
  hash: string,
  nowMs: number,
): string | null {
  const seconds = (untilMs: number): number => Math.ceil((untilMs - nowMs) / 1000);
  if (readersUntil > nowMs)
    return `statements that nothing could interrupt had the store restarted ${MOST_STUCK} times; readers are answered again in ${seconds(readersUntil)} s`;
  const untilMs = until[hash] ?? 0;
  if (untilMs <= nowMs) return null;
  return `nothing could interrupt it when it ran last, and the store had to be restarted; it is refused for another ${seconds(untilMs)} s`;
}

export interface WatchdogOptions {
  /** A statement may run for so long, its own time limit included. */
  readonly deadlineMs: number;
  /** A statement whose client has left, and which was killed, may go on for so long. */
  readonly goneMs: number;
  /** Called once for a statement that is still running then. */
  readonly onStuck: (hash: string) => void;
}

export interface Watchdog {
  /** Runs the work of a statement; see WatchdogOptions. */
  watch<T>(hash: string, gone: AbortSignal, work: () => Promise<T>): Promise<T>;
}

/** Watches over statements, which the engine is asked to end when their time is up or their client leaves. */
export function createWatchdog({ deadlineMs, goneMs, onStuck }: WatchdogOptions): Watchdog {
  return {
    async watch(hash, gone, work) {
      const stuck = (): void => onStuck(hash);
      const late = setTimeout(stuck, deadlineMs);
      let left: NodeJS.Timeout | undefined;
      const leave = (): void => void (left = setTimeout(stuck, goneMs));
      gone.addEventListener('abort', leave, { once: true });
      try {
        return await work();
      } finally {
        clearTimeout(late);
        clearTimeout(left);
        gone.removeEventListener('abort', leave);
      }
    },
  };
}
