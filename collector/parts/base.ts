import type { Logger } from 'pino';
import type { Environment, LoadedConfig } from '../../schemas/config.ts';
import type { EvaluatorStatus } from '../../schemas/evaluator.ts';
import { systemClock } from '../../schemas/system-clock.ts';
import { VERSION } from '../../store/package-files.ts';
import { createLifecycle } from '../lifecycle.ts';
import { createStamp } from '../orders/context.ts';
import { startSystemdWatchdog } from '../systemd-watchdog.ts';
import type { ProcessReadings } from '../telemetry/gauges.ts';
import { createHealth } from '../telemetry/health.ts';
import { createReportCounters } from '../telemetry/report-counters.ts';
import { startTelemetry } from '../telemetry/telemetry.ts';

export interface CollectorDeps {
  readonly log: Logger;
  readonly env: Environment;
  /** Version, memory and processor time of this process. */
  readonly self: ProcessReadings;
}

/** A graceful stop has ten seconds in all. What is not stored by then is read again at the next start. */
export const STOP_MS = 10_000;
export const DRAIN_MS = 3_000;

/** What all parts have in common. */
export type Base = ReturnType<typeof createBase>;

export function createBase(config: LoadedConfig, { log, env, self }: CollectorDeps) {
  const { collectorId } = config;
  const clock = systemClock;
  const life = createLifecycle(log);
  const telemetry = startTelemetry({ version: VERSION, collectorId, env });
  life.onStop(() => telemetry.stop(1_000));
  const stopWatchdog = startSystemdWatchdog(env, clock);
  life.onStop(async () => stopWatchdog());
  return {
    config,
    collectorId,
    // Secrets and addresses in here may be renewed while we run.
    gateways: new Map(config.gateways.map((gateway) => [gateway.name, gateway])),
    log,
    env,
    self,
    clock,
    stamp: createStamp(clock),
    life,
    health: createHealth(),
    // Starts last.
    alerting: { current: null } as { current: { status(): EvaluatorStatus } | null },
    counters: createReportCounters(clock),
    telemetry,
    instruments: telemetry.instruments,
  };
}
