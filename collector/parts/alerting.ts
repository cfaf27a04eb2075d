import { hostname } from 'node:os';
import { createPass } from '../../alerts/evaluate/pass.ts';
import { RULES } from '../../alerts/rules/all.ts';
import { isAskedDirectly } from '../../alerts/rules/rule.ts';
import { startAlerting } from '../../alerts/start.ts';
import { withDeadline } from '../../schemas/deadline.ts';
import { JOBS } from '../../schemas/names.ts';
import type { OpenedStore } from '../../store/open.ts';
import { evaluatorGauges } from '../telemetry/gauges.ts';
import type { Base } from './base.ts';
import { startJobs } from './jobs.ts';
import { showPayments } from './payment-metrics.ts';

/**
 * Rules, pages, payment metrics, and the jobs that keep them going.
 *
 * @param ownUrl address of the collector's own interface
 */
export async function beginAlerting(base: Base, store: OpenedStore['store'], ownUrl: string): Promise<void> {
  const { config, collectorId, clock, log, life, alerting, telemetry, instruments } = base;
  const rules = RULES.filter((rule) => !isAskedDirectly(rule));
  const pass = createPass({
    rules,
    query: (sql) => store.query(sql),
    evaluator: collectorId,
    now: clock.now,
    monotonicMs: clock.monotonicMs,
  });
  showPayments(base, store);
  const started = await startAlerting({
    // The console serves what pages link to, where there is no Grafana.
    config: { ...config.alerts, externalUrl: config.alerts.externalUrl || namedUrl(ownUrl) },
    gateways: config.gateways,
    store,
    rules,
    pass,
    collectorId,
    clock,
    log,
    dataDir: config.dataDir,
    onOutcome: (target, outcome) => instruments.alertNotifications.add(1, { target, outcome }),
    onPass: ({ missed }) => void (missed > 0 && instruments.evaluationsMissed.add(missed)),
  });
  const jobs = startJobs(base, store, started);
  const status = () => started.status(jobs.status(JOBS.evaluation));
  alerting.current = { status };
  telemetry.observe(evaluatorGauges(status));
  // A question to a store that hangs takes its whole deadline.
  life.onStop(() => withDeadline(Promise.all([jobs.stop(), started.stop()]), 1_000));
}

/** An address that listens everywhere, by a name that others can open. */
const namedUrl = (url: string): string => url.replace(/\/\/(0\.0\.0\.0|\[::\])(?=:)/, `//${hostname()}`);
