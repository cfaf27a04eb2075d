import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { startTelemetry, type Telemetry } from '../../../collector/telemetry/telemetry.ts';
import {
  BUCKETS,
  MOST_SERIES,
  type PaymentTotal,
  type PaymentTotals,
} from '../../../schemas/payment-metrics.ts';

const running: Telemetry[] = [];
afterEach(async () => {
  for (const telemetry of running.splice(0)) await telemetry.stop();
  vi.unstubAllEnvs();
});

const TRACE = 'e9aa68962ba7f508d810ef274ad7c745';
const decided: PaymentTotal = {
  kind: 'outcome',
  gateway: 'acme-eu',
  orderType: 'Deposit',
  labels: ['succeeded', ''],
  bucket: 39,
  counted: 3,
  seconds: 90,
  amount: 0,
  firstAt: 100,
  example: { traceId: TRACE, seconds: 30.5, countedAt: 200 },
};

/** Telemetry that reads payments from `answer`, on a clock that stands still. */
function show(answer: () => Promise<PaymentTotals>, env: Record<string, string> = {}) {
  const telemetry = startTelemetry({ version: '1.2.3', collectorId: 'c1', env });
  running.push(telemetry);
  const seen = { nowMs: 0, reads: 0, errors: [] as unknown[], folded: [] as [string, number][] };
  telemetry.showPayments({
    read: () => {
      seen.reads += 1;
      return answer();
    },
    nowSeconds: () => 300,
    monotonicMs: () => seen.nowMs,
    onFolded: (metric, sets) => void seen.folded.push([metric, sets]),
    onError: (error) => void seen.errors.push(error),
  });
  return { telemetry, seen };
}
/** Field numbers of a protobuf message with fields of bytes only, shorter than 128 but for the last one. */
function readFields(bytes: Buffer): number[] {
  const numbers: number[] = [];
  for (let at = 0; at < bytes.length && numbers.length < 4; at += 2 + (bytes[at + 1] ?? 0))
    numbers.push((bytes[at] ?? 0) >> 3);
  return numbers;
}
const OPEN_METRICS = 'application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1';

describe('metrics of payments', () => {
  it('stand beside those of the collector, in the plain format', async () => {
    const { telemetry } = show(async () => ({ countedTo: 250, totals: [decided] }));
    telemetry.instruments.received.add(2, { source: 'kafka' });
    const { contentType, body } = await telemetry.renderMetrics();
    expect(contentType).toContain('text/plain');
    expect(body).toContain('gatewatch_received_total{source="kafka"} 2\n');
    expect(body).toContain(
      'gatewatch_payment_orders_total{gateway="acme-eu",order_type="Deposit",outcome="succeeded"} 3\n',
    );
    expect(body).toContain('gatewatch_payment_counted_to_timestamp_seconds 250\n');
    expect(body).not.toContain(TRACE);
  });

  it('lead to the traces of orders where OpenMetrics is asked for, and end with its mark', async () => {
    const { telemetry } = show(async () => ({ countedTo: 250, totals: [decided] }));
    telemetry.instruments.received.add(2, { source: 'kafka' });
    const { contentType, body } = await telemetry.renderMetrics(OPEN_METRICS);
    expect(contentType).toContain('application/openmetrics-text; version=1.0.0');
    expect(body).toContain('# TYPE gatewatch_received counter\ngatewatch_received_total{source="kafka"} 2\n');
    expect(body).toContain(`outcome="succeeded"} 3 # {trace_id="${TRACE}"} 1 200\n`);
    expect(body).toContain(`outcome="succeeded",le="32"} 3 # {trace_id="${TRACE}"} 30.5 200\n`);
    expect(body).toContain('outcome="succeeded",le="+Inf"} 3\n');
    expect(body.endsWith('# EOF\n')).toBe(true);
  });

  it('are read when they are asked for, and not again at once', async () => {
    const { telemetry, seen } = show(async () => ({ countedTo: 250, totals: [decided] }));
    expect(seen.reads).toBe(0);
    await Promise.all([telemetry.renderMetrics(), telemetry.renderMetrics()]);
    await telemetry.renderMetrics();
    expect(seen.reads).toBe(1);
    seen.nowMs = 10_000;
    await telemetry.renderMetrics();
    expect(seen.reads).toBe(2);
  });

  it('stay what they were while the store does not answer: a counter does not go back', async () => {
    let fails = false;
    const { telemetry, seen } = show(() =>
      fails ? Promise.reject(new Error('away')) : Promise.resolve({ countedTo: 250, totals: [decided] }),
    );
    const before = await telemetry.renderMetrics();
    fails = true;
    seen.nowMs = 60_000;
    expect(await telemetry.renderMetrics()).toEqual(before);
    expect(seen.errors).toHaveLength(1);
  });

  it.each([
    ['classic', {}],
    [
      'exponential',
      { OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION: 'base2_exponential_bucket_histogram' },
    ],
  ])('go out by OTLP, their durations %s', async (form, more) => {
    const bodies: Buffer[] = [];
    const receiver = createServer(async (request, response) => {
      bodies.push(await buffer(request));
      response.writeHead(200).end();
    });
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', url);
    const { telemetry } = show(async () => ({ countedTo: 250, totals: [decided] }), {
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      ...more,
    });
    await telemetry.stop();
    receiver.close();
    const sent = Buffer.concat(bodies);
    const names = sent.toString('latin1');
    expect(names).toContain('gatewatch.payment.orders');
    const at = sent.indexOf('gatewatch.payment.time_to_final_seconds');
    const length = sent[at - 1] ?? 0;
    // Metric: name, description and unit, then the data; field 9 is a histogram and 10 an exponential one.
    const field = readFields(sent.subarray(at + length)).find((number) => number >= 5);
    expect(field).toBe(form === 'classic' ? 9 : 10);
  });

  it('report once when there are too many sets of labels', async () => {
    const totals = Array.from({ length: MOST_SERIES + 5 }, (_, n) => ({
      ...decided,
      kind: 'callback' as const,
      gateway: `g-${n}`,
      labels: ['valid', ''] as const,
      bucket: BUCKETS.none,
    }));
    const { telemetry, seen } = show(async () => ({ countedTo: 250, totals }));
    const { body } = await telemetry.renderMetrics();
    expect(body).toContain('gatewatch_payment_folded_series{metric="gatewatch.payment.callbacks"} 5\n');
    seen.nowMs = 60_000;
    await telemetry.renderMetrics();
    expect(seen.folded).toEqual([['gatewatch.payment.callbacks', 5]]);
  });
});
