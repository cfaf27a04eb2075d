import { createFindings } from '../../alerts/findings/sweep.ts';
import { createPaymentCounts } from '../../alerts/metrics/payment-counts.ts';
import type { OpenedStore } from '../../store/open.ts';
import { withSpan } from '../telemetry/own-spans.ts';
import type { Base } from './base.ts';

/** Work in the background, done by one collector at a time, between evaluations. */
interface Job {
  /** What has not been done when it fails. */
  readonly failure: string;
  /** True: there is more to do. */
  readonly run: (asOfMs: number) => Promise<boolean>;
}

type Store = OpenedStore['store'];

/** How long payments are counted within a minute, where there are many to catch up with. */
const COUNT_LIMIT_MS = 10_000;

/**
 * Runs all jobs one after the other. A job that fails holds back neither the rules nor another job, and is
 * tried again with the next call.
 *
 * @returns whether there is more to do
 */
export function createJobs(base: Base, store: Store): (asOfMs: number) => Promise<boolean> {
  const jobs: readonly Job[] = [
    { failure: 'payments could not be counted', run: countPayments(base, store) },
    { failure: 'the sources about orders could not be compared', run: compareSources(store) },
  ];
  return async (asOfMs) => {
    let isMore = false;
    for (const { failure, run } of jobs) {
      try {
        isMore = (await run(asOfMs)) || isMore;
      } catch (error) {
        base.log.error({ err: error }, `${failure}; the next attempt catches up`);
      }
    }
    return isMore;
  };
}

/** Counts payments for the metrics, within a limit: a backlog holds back no evaluation. */
function countPayments({ clock, life }: Base, store: Store): Job['run'] {
  const { pass } = createPaymentCounts({
    query: (sql) => store.query(sql),
    command: (sql) => store.command(sql, { long: true }),
  });
  return async () => {
    const untilMs = clock.monotonicMs() + COUNT_LIMIT_MS;
    while ((await pass(clock.now())) && clock.monotonicMs() < untilMs && !life.signal.aborted);
    return false;
  };
}

function compareSources(store: Store): Job['run'] {
  const findings = createFindings({
    query: (sql) => store.query(sql),
    command: (sql) => store.command(sql),
  });
  return (asOfMs) => withSpan('comparison', {}, () => findings.sweep(asOfMs));
}
