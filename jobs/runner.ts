import type { Logger } from 'pino';
import type { Clock } from '../schemas/clock.ts';
import type { JobName } from '../schemas/names.ts';
import type { JobsLease } from './lease.ts';
import { startTicker } from './ticker.ts';

/** Work in the background: a name, an interval, a deadline and a function. */
export interface Job {
  readonly name: JobName;
  readonly intervalMs: number;
  /** It starts this long after each whole interval since 1970. */
  readonly delayMs: number;
  /** Of one run. After it the signal is aborted, and what was not done is done later. */
  readonly deadlineMs: number;
  /**
   * One run, on the collector that holds the lease. True: there is more to do, and the next run follows at
   * once. What it throws is logged, and the next interval tries again.
   *
   * @param signal aborted at the deadline and at the end
   */
  readonly run: (signal: AbortSignal) => Promise<boolean>;
  /** What the other collectors do instead. @default nothing */
  readonly standBy?: () => Promise<void>;
}

/** How a run ended. `late`: unfinished, after its deadline. */
export type JobOutcome = 'done' | 'failed' | 'late';

export interface JobReport {
  readonly job: JobName;
  readonly outcome: JobOutcome;
  readonly tookMs: number;
}

export interface RunnerOptions {
  readonly jobs: readonly Job[];
  readonly lease: JobsLease;
  readonly clock: Clock;
  readonly log: Logger;
  /** Wraps each run, as in a span. */
  readonly around: <T>(job: JobName, run: () => Promise<T>) => Promise<T>;
  readonly onRun: (report: JobReport) => void;
}

export interface Runner {
  /** Is this the collector that runs the jobs, and why did the last attempt at this one fail? */
  status(job: JobName): { readonly holdsLease: boolean; readonly lastError: string | null };
  /** Seconds since each job was done last, or since the start; empty where another collector runs them. */
  successAges(): readonly { readonly job: JobName; readonly seconds: number }[];
  /** Ends what is under way. Another collector goes on once the lease is over. */
  stop(): Promise<void>;
}

/** How long it counts which collector holds the lease: it is asked once a minute, also between long runs. */
const LEASE_KNOWN_MS = 30_000;

interface Turn extends JobsLease {
  readonly isOurs: () => boolean;
}

interface RunningJob {
  readonly job: Job;
  /** When it was last done, or another collector was to do it. */
  doneMs: number;
  lastError: string | null;
}

/**
 * Runs each job at its interval, on one collector at a time, from now on. Jobs do not wait for each other,
 * and a job never overlaps with itself.
 */
export function startRunner(options: RunnerOptions): Runner {
  const { clock } = options;
  const stopping = new AbortController();
  const turn = createTurn(options);
  const all = options.jobs.map((job): RunningJob => ({ job, doneMs: clock.monotonicMs(), lastError: null }));
  const stops = all.map((one) => {
    const { intervalMs, delayMs } = one.job;
    const onTick = (): Promise<void> => attempt(one, options, turn, stopping.signal);
    return startTicker({ clock, intervalMs, delayMs, onTick });
  });
  return {
    status: (name) => ({
      holdsLease: turn.isOurs(),
      lastError: all.find(({ job }) => job.name === name)?.lastError ?? null,
    }),
    successAges: () =>
      (turn.isOurs() ? all : []).map(({ job, doneMs }) => ({
        job: job.name,
        seconds: (clock.monotonicMs() - doneMs) / 1000,
      })),
    async stop() {
      stopping.abort();
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}

/** Runs a job as long as there is more to do. Never throws. */
async function attempt(
  running: RunningJob,
  options: RunnerOptions,
  turn: Turn,
  stopping: AbortSignal,
): Promise<void> {
  const { job } = running;
  try {
    let isMore = true;
    while (isMore && !stopping.aborted) {
      const isOurs = await turn.check();
      isMore = isOurs && (await runOnce(job, options, stopping));
      if (!isOurs) await job.standBy?.();
      running.doneMs = options.clock.monotonicMs();
      running.lastError = null;
    }
  } catch (error) {
    if (stopping.aborted) return;
    running.lastError = (error as Error).message;
    options.log.error({ job: job.name, err: error }, 'a job failed; its next run catches up');
  }
}

/** @throws what the job throws */
async function runOnce(
  job: Job,
  { clock, log, around, onRun }: RunnerOptions,
  stopping: AbortSignal,
): Promise<boolean> {
  const startedMs = clock.monotonicMs();
  const late = new AbortController();
  const cancel = clock.after(job.deadlineMs, () => {
    late.abort(new Error('the deadline has passed'));
    log.warn({ job: job.name }, 'a job takes longer than its deadline, and is to end');
  });
  const report = (outcome: JobOutcome): void =>
    onRun({ job: job.name, outcome, tookMs: clock.monotonicMs() - startedMs });
  try {
    const isMore = await around(job.name, () => job.run(AbortSignal.any([stopping, late.signal])));
    report('done');
    return isMore;
  } catch (error) {
    report(late.signal.aborted ? 'late' : 'failed');
    throw error;
  } finally {
    cancel();
  }
}

/** Whose turn it is. Jobs that ask at the same time share one look at the store. */
function createTurn({ lease, clock, log }: RunnerOptions): Turn {
  let isOurs = false;
  let checkedMs = -Infinity;
  let checking: Promise<boolean> | null = null;
  const check = async (): Promise<boolean> => {
    const before = isOurs;
    isOurs = await lease.check();
    checkedMs = clock.monotonicMs();
    if (isOurs !== before)
      log.info(isOurs ? 'this collector runs the jobs' : 'another collector runs the jobs');
    return isOurs;
  };
  return {
    isOurs: () => isOurs,
    async check() {
      if (clock.monotonicMs() - checkedMs < LEASE_KNOWN_MS) return isOurs;
      checking ??= check().finally(() => void (checking = null));
      return checking;
    },
  };
}
