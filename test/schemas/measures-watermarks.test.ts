import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NOW, withWatermarks } from '../../schemas/measures.ts';
import { WINDOWS } from '../../schemas/windows.ts';
import { type SeededStore, startSeededStore } from '../support/seed-store.ts';
import { utc } from '../dashboards/shape.ts';
import { randomFrom } from '../dashboards/traffic.ts';

const HOUR = 3_600_000;
const END = Date.UTC(2026, 10, 21, 10, 30);
const DAYS = 9;
const random = randomFrom(4711);

interface Report {
  readonly gateway: string;
  readonly collectorId: string;
  readonly reportedAt: number;
  readonly watermarkAt: number;
}

/** Collectors that come and go; watermarks that stand still and, after a restart, even go back. */
const reports: readonly Report[] = Array.from({ length: 900 }, () => {
  const reportedAt = END - Math.floor(random() * DAYS * 24 * HOUR);
  const gateway = random() < 0.7 ? 'acme-eu' : 'gone-pay';
  return {
    gateway,
    collectorId: `collector-${Math.floor(random() * 3)}`,
    reportedAt: gateway === 'gone-pay' ? reportedAt - 6.5 * 24 * HOUR : reportedAt,
    watermarkAt: reportedAt - Math.floor(random() * 2 * HOUR),
  };
});

/** What is known at an instant: each collector's newest report, and of several the one that sees furthest. */
function watermarksAt(asOf: number, of: readonly Report[] = reports): Map<string, number> {
  const newest = new Map<string, Report>();
  for (const report of of) {
    const key = `${report.gateway}|${report.collectorId}`;
    const known = newest.get(key);
    if (report.reportedAt > asOf || report.reportedAt <= asOf - WINDOWS.forgetGatewayAfterSeconds * 1000)
      continue;
    if (known === undefined || report.reportedAt > known.reportedAt) newest.set(key, report);
  }
  const furthest = new Map<string, number>();
  for (const { gateway, watermarkAt } of newest.values())
    furthest.set(gateway, Math.max(furthest.get(gateway) ?? 0, watermarkAt));
  return furthest;
}

describe('watermarks as known at an instant', () => {
  let store: SeededStore;
  beforeAll(async () => {
    store = await startSeededStore();
    await store.seed({ gatewayStatus: reports });
    await store.seed({ gatewayStatus: reports.slice(0, 300) });
  });
  afterAll(() => store.stop());

  const instants = [
    END,
    END - 30 * 60_000,
    END - 30 * 60_000 - 1000,
    ...reports.slice(0, 12).map(({ reportedAt }) => Math.ceil(reportedAt / 1000) * 1000),
    ...Array.from({ length: 12 }, () => END - Math.floor(random() * DAYS * 24 * 3600) * 1000),
  ];

  it.each(instants.map((at) => [new Date(at).toISOString(), at] as const))('%s', async (_, at) => {
    const { data } = await store.query(
      `${withWatermarks(`toDateTime(${at / 1000})`)} SELECT arrayJoin(mapKeys(watermarks)) AS gateway, watermarks[gateway] AS watermark`,
    );
    expect(new Map(data.map((row) => [row['gateway'], utc(row['watermark'])]))).toEqual(watermarksAt(at));
  });

  it('as of now, of the newest of each hour alone', async () => {
    const now = Date.now();
    const fresh = reports.slice(0, 200).map((report): Report => {
      const reportedAt = now - 1_000 - Math.floor(random() * 3 * HOUR);
      return {
        ...report,
        gateway: 'fresh-pay',
        reportedAt,
        watermarkAt: reportedAt - Math.floor(random() * 2 * HOUR),
      };
    });
    await store.seed({ gatewayStatus: fresh });
    const { data } = await store.query(`${withWatermarks(NOW)} SELECT watermarks['fresh-pay'] AS watermark`);
    expect(utc(data[0]?.['watermark'])).toBe(watermarksAt(now, fresh).get('fresh-pay'));
  });
});
