import { expect, it } from 'vitest';
import { attackIntake } from './run.ts';
import { failuresOf } from './verdict.ts';

it('holds against hostile messages and slow clients, while signed callbacks are taken as ever', async () => {
  const report = await attackIntake({
    messages: 2_000,
    slow: 100,
    concurrency: 32,
    goodPerSecond: 20,
    seed: 7,
    say: () => undefined,
  });
  console.log(JSON.stringify({ seconds: report.seconds, good: report.good, observed: report.observed }));
  // How long they take is for the long form, on a machine of its own.
  expect(failuresOf(report)).toEqual([]);
  expect(report.good.answers).toEqual({ 200: report.good.sent });
  expect(report.observed.notReady).toEqual({});
  expect(report.good.sent).toBeGreaterThan(20);
  expect(Object.keys(report.kinds).length).toBeGreaterThan(30);
}, 240_000);
