import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { z } from 'zod';
import { SETTLE_MS } from '../../../alerts/evaluate/due.ts';
import { createPass } from '../../../alerts/evaluate/pass.ts';
import type { Rule } from '../../../alerts/rules/rule.ts';
import { alertsConfigSchema } from '../../../schemas/config-alerts.ts';
import { DATABASE } from '../../../schemas/names.ts';
import { createStore } from '../../../store/store.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import type { SeededStore } from '../../support/seed-store.ts';
import { until } from '../../support/until.ts';
import { runEvaluation } from './run-evaluation.ts';

const MINUTE = 60_000;
export const wholeMinute = (ms: number): number => Math.floor(ms / MINUTE) * MINUTE;

/**
 * A collector's alerting on a real store, whose minutes pass when a test says so: rules and waits are the
 * real ones, and an incident of ten minutes takes seconds.
 */
export interface VirtualMinutes extends AsyncDisposable {
  /** Evaluates every minute up to that instant, in milliseconds since 1970, and offers what came of it. */
  until(asOfMs: number): Promise<void>;
}

export interface VirtualMinutesOptions {
  readonly store: Pick<SeededStore, 'connection'>;
  readonly rules: readonly Rule[];
  /** What the configuration says under `alerts`. */
  readonly alerts: z.input<typeof alertsConfigSchema>;
  /** The first instant: a whole minute. */
  readonly fromMs: number;
}

/** Evaluates the first instant. */
export async function startVirtualMinutes(options: VirtualMinutesOptions): Promise<VirtualMinutes> {
  const { store: seeded, rules, alerts, fromMs } = options;
  const clock = createFakeClock(fromMs + SETTLE_MS);
  const store = createStore({ ...seeded.connection, database: DATABASE });
  const dataDir = mkdtempSync(join(tmpdir(), 'gatewatch-minutes-'));
  const pass = createPass({
    rules,
    query: (sql) => store.query(sql),
    evaluator: 'collector-1',
    now: clock.now,
    monotonicMs: clock.monotonicMs,
  });
  const alerting = await runEvaluation({
    config: alertsConfigSchema.parse(alerts),
    gateways: [],
    store,
    rules,
    pass,
    collectorId: 'collector-1',
    clock,
    log: pino({ level: process.env['GATEWATCH_TEST_LOG'] === undefined ? 'silent' : 'debug' }),
    dataDir,
  });
  const evaluated = (asOfMs: number) =>
    until('the minute to be evaluated', alerting.status, ({ newestAsOf }) => newestAsOf === asOfMs * 1000);
  let asOfMs = fromMs;
  await evaluated(asOfMs);
  return {
    async until(lastMs) {
      while (asOfMs < lastMs) {
        asOfMs += MINUTE;
        await clock.advance(MINUTE);
        await evaluated(asOfMs);
      }
    },
    async [Symbol.asyncDispose]() {
      await alerting.stop();
      await store.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
