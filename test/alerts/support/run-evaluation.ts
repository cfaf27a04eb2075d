import type { Logger } from 'pino';
import { type Alerting, type AlertingOptions, startAlerting } from '../../../alerts/start.ts';
import { allJobs } from '../../../jobs/all.ts';
import type { JobsLease } from '../../../jobs/lease.ts';
import { startRunner } from '../../../jobs/runner.ts';
import type { EvaluatorStatus } from '../../../schemas/evaluator.ts';
import { JOBS } from '../../../schemas/names.ts';

export interface RunningEvaluation {
  status(): EvaluatorStatus;
  stop(): Promise<void>;
}

/** Alerting whose evaluation runs as the job that it is; the other jobs do not. */
export async function runEvaluation(
  options: AlertingOptions & { readonly lease?: JobsLease; readonly log: Logger },
): Promise<RunningEvaluation> {
  const { clock, log, lease = { check: () => Promise.resolve(true) } } = options;
  const alerting: Alerting = await startAlerting(options);
  const store = { query: () => Promise.resolve([]), command: () => Promise.resolve() };
  const runner = startRunner({
    jobs: allJobs({ evaluation: alerting.evaluation, store, clock }).filter(
      ({ name }) => name === JOBS.evaluation,
    ),
    lease,
    clock,
    log,
    around: (_job, run) => run(),
    onRun: () => undefined,
  });
  return {
    status: () => alerting.status(runner.status(JOBS.evaluation)),
    async stop() {
      await Promise.all([runner.stop(), alerting.stop()]);
    },
  };
}
