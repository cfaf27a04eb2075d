import { describe, expect, it } from 'vitest';
import { gaugeReaders } from '../../../collector/telemetry/gauges.ts';
import { createRequestRates } from '../../../collector/telemetry/status-reporter.ts';
import {
  startReports,
  statusReport,
  type ReportOptions,
} from '../../../collector/telemetry/status-reporter.ts';
import { createReportCounters } from '../../../collector/telemetry/report-counters.ts';
import { createMemorySink } from '../../../collector/sinks/memory/sink.ts';
import type { PollerStatus } from '../../../schemas/polling.ts';
import type { PollRow } from '../../../schemas/rows.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { T0 } from '../../support/watched-order.ts';

const status = (more: Partial<PollerStatus>): PollerStatus => ({
  watched: 0,
  due: 0,
  inFlight: 0,
  concurrencyLimit: 16,
  requests: 0,
  requestsPerSecondLimit: 50,
  stalledMs: 0,
  pausedMs: 0,
  circuitsOpen: 0,
  watermarkAt: T0,
  lastReplyAt: null,
  clockSkewSeconds: null,
  ...more,
});

function scene(kafka: object | null = null) {
  const clock = createFakeClock();
  const sink = createMemorySink();
  const counters = createReportCounters(clock);
  const failures: string[] = [];
  const options = {
    collectorId: 'c1',
    version: '1.2.3',
    clock,
    stamp: clock.now,
    counters,
    sink,
    orders: {
      status: () =>
        new Map([
          [
            'acme-eu',
            status({ watched: 10, due: 2, circuitsOpen: 1, lastReplyAt: T0 - 1, clockSkewSeconds: -28_800 }),
          ],
          ['acme-us', status({ watched: 5 })],
        ]),
    },
    kafka: kafka === null ? null : { status: () => kafka },
    spans: { status: () => ({ spansExported: 7, backlogBatches: 3 }) },
    lastProgressAt: counters.lastProgressAt,
    memoryBytes: () => 123,
    fail: (reason: string) => failures.push(reason),
  } as unknown as ReportOptions;
  return { clock, sink, counters, options, failures };
}

const poll = (more: Partial<PollRow>) => ({ items: 0, new_items: 0, lateness_ms: 0, ...more }) as PollRow;

describe('the reports of a collector', () => {
  it('describe the collector as a whole and of each gateway', () => {
    const { options, counters } = scene({ lag: 9 });
    counters.acknowledged({
      rejects: [{}, {}] as never,
      polls: [poll({ items: 5, new_items: 2, lateness_ms: 40 })],
    });
    const { collectorStatus, gatewayStatus } = statusReport(options, T0 - 5, T0, () => 2.5);
    expect(collectorStatus).toMatchObject([
      {
        collector_id: 'c1',
        reported_at: T0,
        started_at: T0 - 5,
        consumer_lag: 9,
        watched_orders: 15,
        due_orders: 2,
        circuits_open: 1,
        rejects_total: 2,
        duplicates_total: 3,
        lateness_p99_ms: 40,
        spans_exported_total: 7,
        span_backlog: 3,
        memory_bytes: 123,
      },
    ]);
    expect(gatewayStatus).toMatchObject([
      {
        gateway: 'acme-eu',
        watermark_at: T0,
        watched_orders: 10,
        last_reply_at: T0 - 1,
        clock_skew_seconds: -28_800,
      },
      { gateway: 'acme-us', watched_orders: 5, last_reply_at: null },
    ]);
    expect(gatewayStatus?.[0]).toMatchObject({
      requests_per_second: 2.5,
      requests_per_second_limit: 50,
      requests_in_flight: 0,
      concurrency_limit: 16,
    });
  });

  it('have the requests a second since the report before, of each gateway', async () => {
    const clock = createFakeClock();
    const rate = createRequestRates(clock);
    // As after a restart: many orders are due at once.
    await clock.advance(1);
    expect(rate('acme-eu', 16)).toBe(0);
    await clock.advance(14_999);
    expect([rate('acme-eu', 30), rate('acme-us', 60)]).toEqual([2, 4]);
    // A report that could not be written is left out: its time counts with the next one.
    await clock.advance(30_000);
    expect([rate('acme-eu', 60), rate('acme-us', 60)]).toEqual([1, 0]);
  });

  it('are written at once and every 15 seconds, one at a time while the store is away, until stopped', async () => {
    const { clock, sink, options } = scene();
    const stop = startReports(options);
    await clock.advance(45_000);
    expect(sink.rows('collectorStatus')).toHaveLength(4);
    sink.hold();
    await clock.advance(600_000);
    expect(sink.status().backlogRows).toBe(3);
    sink.release();
    await clock.advance(15_000);
    expect(sink.rows('collectorStatus')).toHaveLength(6);
    await stop();
    await clock.advance(600_000);
    expect(sink.rows('collectorStatus')).toHaveLength(6);
    expect(clock.pending()).toBe(0);
  });

  it.each([
    [{ stalled: true, fatal: null }, /no progress/],
    [{ stalled: false, fatal: new Error('not authorized') }, /not authorized/],
  ])('end the process when the consumer cannot go on', (kafka, reason) => {
    const { options, failures } = scene(kafka);
    startReports(options);
    expect(failures).toEqual([expect.stringMatching(reason)]);
  });

  it('take the lateness of the last thousand polls', () => {
    const { counters } = scene();
    const many = (count: number, lateness_ms: number) =>
      Array.from({ length: count }, () => poll({ lateness_ms }));
    counters.acknowledged({ polls: many(5000, 900) });
    counters.acknowledged({ polls: many(1000, 10) });
    expect(counters.totals().lateness_p99_ms).toBe(10);
    expect(createReportCounters(createFakeClock()).totals().lateness_p99_ms).toBe(0);
  });

  it('and the gauges say the same', () => {
    const { options, clock } = scene({
      partitions: [
        { topic: 'a', lag: 1 },
        { topic: 'a', lag: 2 },
        { topic: 'b', lag: null },
      ],
    });
    const gauges = gaugeReaders(options, clock);
    expect(gauges.watchedOrders?.()).toEqual([
      { value: 10, labels: { gateway: 'acme-eu' } },
      { value: 5, labels: { gateway: 'acme-us' } },
    ]);
    expect(gauges.consumerLag?.()).toEqual([
      { value: 3, labels: { topic: 'a' } },
      { value: 0, labels: { topic: 'b' } },
    ]);
    expect(gauges.spanBacklog?.()).toBe(3);
  });
});
