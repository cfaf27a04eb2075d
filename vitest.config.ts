import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // One Kafka broker for all files, started when the first of them asks.
    globalSetup: ['test/support/kafka-broker.ts'],
    include: ['test/**/*.test.ts'],
    // Chromium and the lab take minutes, attacks take all that the machine has: `npm run test:e2e`,
    // `test:lab` and `test:attacks` run them apart.
    exclude:
      process.env['GATEWATCH_SUITE'] === undefined ? ['test/e2e/**', 'test/lab/**', 'test/attacks/**'] : [],
    testTimeout: 60_000,
    // A busy machine is no reason to fail: what is polled for comes, or the test's own time runs out.
    expect: { poll: { timeout: 30_000 } },
    // Real brokers, engines and processes on a shared machine: one more try in CI, none at home.
    retry: process.env['CI'] === undefined ? 0 : 1,
    hookTimeout: 180_000,
    // Real brokers and engines are heavy: one core stays free for them where there are more than two.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
});
