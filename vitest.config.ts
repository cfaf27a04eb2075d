import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { UnsteadyTestsReporter } from './test/support/unsteady-tests-reporter.ts';
import { PATIENCE_MS } from './test/support/until.ts';

// Tests start the command line hundreds of times: its modules are compiled once.
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'gatewatch-compile-cache');

// Chromium and the lab take minutes, attacks take all that the machine has: `npm run test:e2e`, `test:lab`
// and `test:attacks` run them apart.
const suites =
  process.env['GATEWATCH_SUITE'] === undefined
    ? [
        'test/e2e/**',
        'test/lab/**',
        'test/attacks/**',
        // Long stories: `npm run test:long`.
        'test/golden/golden.test.ts',
        'test/integration/jaeger.test.ts',
        'test/integration/jobs.test.ts',
        'test/integration/otel-collector.test.ts',
        'test/integration/restarts.test.ts',
        'test/integration/span-outage.test.ts',
        'test/sandbox/demo.test.ts',
        'test/store/trace-views-otel-collector.test.ts',
        'test/alerts/rules-agree.test.ts',
      ]
    : [];

// Tests of plain functions, which share no state: most of their time would go into loading what they import
// anew for each file.
const together = [
  'test/alerts/{backtest,count,evaluate,explain,notify}/**/*.test.ts',
  'test/collector/{config,decode,orders,telemetry}/**/*.test.ts',
  'test/collector/sources/{gateway,http}/**/*.test.ts',
  'test/console/page/**/*.test.ts',
  'test/jobs/**/*.test.ts',
  'test/operate/backfill/**/*.test.ts',
  'test/schemas/**/*.test.ts',
  'test/store/embedded/sql/**/*.test.ts',
];

const unsteadyTests = process.env['GATEWATCH_UNSTEADY_TESTS'];

export default defineConfig({
  test: {
    ...(unsteadyTests === undefined
      ? {}
      : { reporters: ['default', 'json', new UnsteadyTestsReporter(unsteadyTests)] }),
    // One Kafka broker and one migrated store to copy for all files, made when the first of them asks.
    globalSetup: ['test/support/kafka-broker.ts', 'test/support/migrated-folder.ts'],
    projects: [
      { extends: true, test: { name: 'together', include: together, isolate: false } },
      {
        extends: true,
        test: { name: 'apart', include: ['test/**/*.test.ts'], exclude: [...together, ...suites] },
      },
    ],
    // A busy machine is no reason to fail: tests wait for conditions, and only a failing one waits this long.
    expect: { poll: { timeout: PATIENCE_MS } },
    testTimeout: 2 * PATIENCE_MS,
    hookTimeout: 5 * PATIENCE_MS,
    // Real brokers, engines and processes on a shared machine: one more try in CI, none at home.
    retry: process.env['CI'] === undefined ? 0 : 1,
    // Real brokers and engines are heavy: one core stays free for them where there are more. Where there are
    // two, tests that wait for a process or for time to pass leave them idle.
    maxWorkers: Math.max(3, availableParallelism() - 1),
  },
});
