import { afterAll, beforeAll, expect, it } from 'vitest';
import { POLLS_PER_MINUTE_SQL } from '../../../dashboards/pipeline/queries.ts';
import { collectors, FROM, polls, reports, RESTARTED_AT, type Seeded, startSeeded, TO } from '../seeded.ts';
import { evaluationRow } from '../evaluations.ts';
import { utc } from '../shape.ts';
import { MINUTE } from '../traffic.ts';

let seeded: Seeded;
beforeAll(async () => {
  seeded = await startSeeded();
});
afterAll(() => seeded?.store.stop());
const runPanel: Seeded['runPanel'] = (...args) => seeded.runPanel(...args);
const minute = (at: number): number => Math.floor(at / MINUTE) * MINUTE;

it('freshness: how far the watermark was behind the report', async () => {
  const rows = await runPanel('How far behind our picture is, by gateway');
  expect(new Map(rows.map((row) => [`${utc(row['time'])} ${row['gateway']}`, row['behind']]))).toEqual(
    new Map(
      reports.map((one) => [
        `${minute(one.reportedAt)} ${one.gateway}`,
        Math.floor(one.reportedAt - one.watermarkAt) / 1000,
      ]),
    ),
  );
});

it('duplicates: the rise of each run, never below zero when a collector starts anew', async () => {
  const rows = await runPanel('Repeated history items absorbed, by collector');
  const sorted = collectors.toSorted((a, b) => a.reportedAt - b.reportedAt);
  const rises = sorted.map((one, n) => {
    const before = sorted[n - 1];
    return before?.startedAt === one.startedAt ? one.duplicatesTotal - before.duplicatesTotal : 0;
  });
  expect(rows.map((row) => row['duplicates'])).toEqual(rises);
  expect(rises[sorted.findIndex(({ reportedAt }) => reportedAt >= RESTARTED_AT)]).toBe(0);
  expect(Math.max(...rises)).toBe(50);
});

it('polls per minute and their lateness', async () => {
  const inRange = polls.filter(({ startedAt }) => startedAt >= FROM && startedAt < TO);
  const rows = await runPanel('Status requests per minute, by gateway');
  expect(rows.reduce((sum, row) => sum + Number(row['polls_per_minute']), 0)).toBe(inRange.length);
  for (const row of await runPanel('Lateness of status requests, 95th percentile')) {
    const own = inRange.filter(
      ({ gateway, startedAt }) => gateway === row['gateway'] && minute(startedAt) === utc(row['time']),
    );
    expect(row['p95']).toBeLessThanOrEqual(Math.max(...own.map(({ latenessMs }) => latenessMs ?? 0)));
  }
});

it('polls per minute, however wide the panel', async () => {
  const inRange = polls.filter(({ startedAt }) => startedAt >= FROM && startedAt < TO);
  for (const minutes of [5, 20, 60]) {
    const { data } = await seeded.run(POLLS_PER_MINUTE_SQL, {}, minutes * MINUTE);
    const all = data.reduce((sum, row) => sum + Number(row['polls_per_minute']), 0) * minutes;
    expect(Math.round(all)).toBe(inRange.length);
  }
});

it('the poll budget: what the reports say is used of what is allowed', async () => {
  // Each gateway's reports stand apart, a bucket each; the second gateway's are of a version that reports no
  // budget.
  const reporting = reports.filter(({ requestsPerSecondLimit = 0 }) => requestsPerSecondLimit > 0);
  const rows = await runPanel('Share of the poll budget in use, by gateway');
  expect(new Map(rows.map((row) => [utc(row['time']), row]))).toEqual(
    new Map(
      reporting.map((one) => [
        minute(one.reportedAt),
        expect.objectContaining({
          gateway: one.gateway,
          requests_share: (one.requestsPerSecond ?? 0) / 20,
          at_once_share: (one.requestsInFlight ?? 0) / 4,
          polls: one.requestsPerSecond,
        }),
      ]),
    ),
  );
  const rates = reporting.map(({ requestsPerSecond = 0 }) => requestsPerSecond);
  expect(await runPanel('Poll budget, by gateway and collector')).toEqual([
    {
      gateway: 'acme-eu',
      collector: 'collector-1',
      mean_rate: rates.reduce((sum, rate) => sum + rate, 0) / rates.length,
      most_rate: Math.max(...rates),
      allowed_rate: 20,
      rate_share: Math.max(...rates) / 20,
      most_at_once: 4,
      allowed_at_once: 4,
      at_once_share: 1,
    },
  ]);
});

it('the poll budget of two collectors is that of both together', async () => {
  const reportedAt = FROM + 65 * MINUTE;
  const of = (collectorId: string, requestsPerSecond: number, requestsInFlight: number) => ({
    gateway: 'twice-pay',
    collectorId,
    reportedAt,
    watermarkAt: reportedAt,
    requestsPerSecond,
    requestsPerSecondLimit: 10,
    requestsInFlight,
    concurrencyLimit: 8,
  });
  const twice = await startSeeded([{ gatewayStatus: [of('one', 9, 8), of('two', 1, 0)] }]);
  try {
    expect(await twice.runPanel('Share of the poll budget in use, by gateway')).toMatchObject([
      { gateway: 'twice-pay', requests_share: 0.5, at_once_share: 0.5 },
    ]);
    expect(await twice.runPanel('Poll budget, by gateway and collector')).toMatchObject([
      { collector: 'one', rate_share: 0.9, at_once_share: 1 },
      { collector: 'two', rate_share: 0.1, at_once_share: 0 },
    ]);
  } finally {
    await twice.store.stop();
  }
});

it('orders watched and due, from the newest report of each interval', async () => {
  const rows = await runPanel('Orders watched and orders due, by gateway');
  expect(rows).toHaveLength(reports.length);
  for (const row of rows) {
    const own = reports.find(
      ({ gateway, reportedAt }) => gateway === row['gateway'] && minute(reportedAt) === utc(row['time']),
    );
    expect(row).toMatchObject({ watched_orders: own?.watchedOrders, due_orders: own?.dueOrders });
  }
});

it('collectors by their newest report, and what the store keeps', async () => {
  expect(await runPanel('Collectors')).toMatchObject([
    { collector: 'collector-1', messages_waiting: 0, running_version: '0.1.0', memory: 100_000_000 },
  ]);
  const kept = await runPanel('Size of the store, by table');
  expect(kept.map((row) => row['kept'])).toContain('history_events_store');
  for (const row of kept) expect(Number(row['stored_bytes'])).toBeGreaterThan(0);
});

it('rejects with where to read them again', async () => {
  expect(await runPanel('Newest rejects')).toMatchObject([{ reason: 'reply_truncated', gateway: 'acme-eu' }]);
});

it('evaluations: how old the newest is, how long its pass took, and how late it was', async () => {
  const row = (asOf: number, evaluator: string, tookMs: number, delayMs: number) =>
    evaluationRow({
      rule: 'GatewatchCollectorSilent',
      kind: 'gauge',
      gateway: 'acme-eu',
      asOf,
      number: 3,
      limit: 120,
      evaluator,
      tookMs,
      evaluatedAt: asOf + delayMs,
    });
  const evaluated = await startSeeded([
    {
      rows: {
        alertEvaluations: [
          row(TO - 9 * MINUTE, 'one', 700, 2500),
          row(TO - 8 * MINUTE, 'two', 1900, 61_000),
          row(TO - 7 * MINUTE, 'two', 800, 900),
        ],
      },
    },
  ]);
  try {
    expect(await evaluated.runPanel('Age of the newest evaluation')).toEqual([
      { evaluation_age: 7 * 60, pass_ms: 800 },
    ]);
    const passes = await evaluated.runPanel('Duration and delay of evaluations, by collector');
    expect(passes.map((one) => ({ ...one, time: utc(one['time']) }))).toEqual([
      { time: TO - 9 * MINUTE, collector: 'one', pass_ms: 700, delay_ms: 2500 },
      { time: TO - 8 * MINUTE, collector: 'two', pass_ms: 1900, delay_ms: 61_000 },
      { time: TO - 7 * MINUTE, collector: 'two', pass_ms: 800, delay_ms: 900 },
    ]);
  } finally {
    await evaluated.store.stop();
  }
  const none = await startSeeded([]);
  expect(await none.runPanel('Age of the newest evaluation')).toEqual([]);
  await none.store.stop();
});
