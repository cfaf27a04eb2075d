import { expect, it } from 'vitest';
import { attackIntake } from './run.ts';
import { failuresOf } from './verdict.ts';

it('holds against hostile messages and slow clients, while signed callbacks are taken as ever', async () => {
  const report = await attackIntake({
    messages: 2_000,
    slow: 100,
    concurrency: 64,
    goodPerSecond: 20,
    seed: 7,
    say: () => undefined,
  });
  console.log(JSON.stringify({ seconds: report.seconds, good: report.good, observed: report.observed }));
  // How long they take is for the long form, on a machine of its own.
  expect(failuresOf(report, 20_000)).toEqual([]);
  expect(report.good.sent).toBeGreaterThan(20);
  expect(Object.keys(report.kinds).length).toBeGreaterThan(30);
}, 240_000);
