import type { Alerting } from '../../alerts/start.ts';
import { allJobs } from '../../jobs/all.ts';
import { createJobsLease } from '../../jobs/lease.ts';
import { type Runner, startRunner } from '../../jobs/runner.ts';
import { OWN_ATTRIBUTES } from '../../schemas/own-spans.ts';
import type { OpenedStore } from '../../store/open.ts';
import { withSpan } from '../telemetry/own-spans.ts';
import type { Base } from './base.ts';

/** Runs the work in the background: `jobs/all.ts` lists it. */
export function startJobs(base: Base, store: OpenedStore['store'], { evaluation }: Alerting): Runner {
  const { config, collectorId, clock, log, telemetry, instruments } = base;
  const lease = createJobsLease({
    query: (sql) => store.query(sql),
    command: (sql) => store.command(sql),
    collectorId,
    notifies: config.alerts.evaluate,
    now: clock.now,
  });
  const runner = startRunner({
    jobs: allJobs({ evaluation, store, clock }),
    lease,
    clock,
    log,
    around: (job, run) => withSpan('job', { [OWN_ATTRIBUTES.job]: job }, run),
    onRun({ job, outcome, tookMs }) {
      instruments.jobRuns.add(1, { job, outcome });
      instruments.jobDuration.record(tookMs / 1000, { job });
    },
  });
  telemetry.observe({
    jobSuccessAge: () =>
      runner.successAges().map(({ job, seconds }) => ({ value: seconds, labels: { job } })),
  });
  return runner;
}
