import { describe, expect, it } from 'vitest';
import { createLanding } from '../../../console/server/landing.ts';
import type { TableResult } from '../../../store/store.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const minutesAgo = (minutes: number): string => new Date(NOW - minutes * 60_000).toISOString();
const answered = (items: number, first: string): Promise<TableResult> =>
  Promise.resolve({
    meta: [
      { name: 'first', type: 'DateTime64(6)' },
      { name: 'items', type: 'UInt64' },
    ],
    data: [{ first, items: String(items) }],
  } as TableResult);
const landingOn = (query: () => Promise<TableResult>) =>
  createLanding({ query, now: () => NOW, timeLimitMs: 20 });

describe('where / leads', () => {
  it.each([
    [3, '?from=now-5m&to=now&refresh=5s'],
    [14, '?from=now-15m&to=now&refresh=5s'],
    [29, '?from=now-30m&to=now&refresh=10s'],
    [59, '?from=now-1h&to=now&refresh=30s'],
    [179, '?from=now-3h&to=now&refresh=1m'],
    [300, ''],
  ])('is a range that data of %i minutes fills', async (minutes, expected) => {
    const landing = landingOn(() => answered(10, minutesAgo(minutes)));
    expect(await landing()).toBe(`/d/gatewatch-overview${expected}`);
  });

  it('is the dashboard on its own range while there is no data, and where the store fails or hangs', async () => {
    for (const query of [
      () => answered(0, '1970-01-01 00:00:00'),
      () => Promise.reject(new Error('no store')),
      () => new Promise<never>(() => undefined),
    ])
      expect(await landingOn(query)()).toBe('/d/gatewatch-overview');
  });

  it('asks no more once the data fills the dashboard\u2019s own range', async () => {
    let asked = 0;
    const landing = landingOn(() => {
      asked += 1;
      return answered(10, minutesAgo(300));
    });
    await landing();
    await landing();
    expect(asked).toBe(1);
  });
});
