import { INTERVAL_MS as MINUTE_MS, SETTLE_MS } from '../alerts/evaluate/due.ts';
import { createFindings } from '../alerts/findings/sweep.ts';
import { createPaymentCounts } from '../alerts/metrics/payment-counts.ts';
import type { Clock } from '../schemas/clock.ts';
import { untilAborted } from '../schemas/deadline.ts';
import { JOBS } from '../schemas/names.ts';
import type { Store } from '../store/store.ts';
import type { Job } from './runner.ts';

export interface JobParts {
  readonly evaluation: Required<Pick<Job, 'run' | 'standBy'>>;
  readonly store: Pick<Store, 'query' | 'command'>;
  readonly clock: Clock;
}

/**
 * All jobs. Each begins some seconds after the one before, so that they rarely ask the store at the same
 * time; none waits for another. Statements have deadlines of their own, but for those that count payments,
 * which may take minutes.
 */
export const allJobs = ({ evaluation, store, clock }: JobParts): readonly Job[] => [
  {
    name: JOBS.evaluation,
    intervalMs: MINUTE_MS,
    delayMs: SETTLE_MS,
    deadlineMs: 5 * MINUTE_MS,
    run: evaluation.run,
    standBy: evaluation.standBy,
  },
  {
    name: JOBS.payments,
    intervalMs: MINUTE_MS,
    delayMs: SETTLE_MS + 10_000,
    deadlineMs: 15 * MINUTE_MS,
    run: (signal) => createPaymentCounts(tools(store, { signal, long: true })).pass(clock.now()),
  },
  {
    name: JOBS.findings,
    intervalMs: MINUTE_MS,
    delayMs: SETTLE_MS + 20_000,
    deadlineMs: 5 * MINUTE_MS,
    run: (signal) => createFindings(tools(store, { signal })).sweep(lastMinuteMs(clock)),
  },
];

const tools = (
  store: JobParts['store'],
  options: { readonly signal: AbortSignal; readonly long?: boolean },
) => ({
  query: <T>(sql: string): Promise<T[]> => untilAborted(store.query<T>(sql), options.signal),
  command: (sql: string): Promise<void> => store.command(sql, options),
});

/** The last whole minute. */
const lastMinuteMs = (clock: Clock): number => Math.floor(clock.now() / 1000 / MINUTE_MS) * MINUTE_MS;
