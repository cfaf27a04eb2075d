import { expect, it } from 'vitest';
import { runOutage } from '../receivers/outage-run.ts';

it('no span is missing after an outage of the receiver and kills, and repetitions have the same bytes', async () => {
  const report = await runOutage({ spans: 24_000, outageS: 2, kills: 3, say: () => undefined });
  expect(report).toMatchObject({ spans: 24_000, missing: 0, strange: 0, altered: 0 });
  expect(report.repeated).toBeGreaterThan(0);
});
