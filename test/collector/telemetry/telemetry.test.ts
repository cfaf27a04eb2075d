import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Telemetry } from '../../../collector/telemetry/telemetry.ts';
import { startTelemetry } from '../../../collector/telemetry/telemetry.ts';
import { isOtlpWanted } from '../../../collector/telemetry/otel-env.ts';
import type { MetricKey } from '../../../schemas/metrics.ts';
import { METRICS, prometheusName } from '../../../schemas/metrics.ts';

const running: Telemetry[] = [];
afterEach(async () => {
  for (const telemetry of running.splice(0)) await telemetry.stop();
  vi.unstubAllEnvs();
});

function start(): Telemetry {
  const telemetry = startTelemetry({ version: '1.2.3', collectorId: 'c1', env: process.env });
  running.push(telemetry);
  return telemetry;
}

describe("the collector's metrics", () => {
  it('show every instrument under its Prometheus name', async () => {
    const { instruments, observe, renderMetrics } = start();
    for (const key of Object.keys(METRICS) as MetricKey[]) {
      const { kind, labels } = METRICS[key];
      const attributes = Object.fromEntries(labels.map((label) => [label, 'x']));
      if (kind === 'counter') instruments[key as 'received'].add(2, attributes);
      else if (kind === 'histogram') instruments[key as 'batchRows'].record(2, attributes);
      else observe({ [key]: () => [{ value: 2, labels: attributes }] });
    }
    const { contentType, body } = await renderMetrics();
    expect(contentType).toContain('version=0.0.4');
    for (const key of Object.keys(METRICS) as MetricKey[]) {
      const { kind, labels } = METRICS[key];
      const shown = labels.length === 0 ? '' : `{${labels.map((label) => `${label}="x"`).join(',')}}`;
      expect(body).toContain(`${prometheusName(key)}${kind === 'histogram' ? '_sum' : ''}${shown} 2\n`);
    }
  });

  it('have names that Prometheus accepts', () => {
    for (const key of Object.keys(METRICS) as MetricKey[])
      expect(prometheusName(key)).toMatch(/^(gatewatch|process)_[a-z_]+$/);
    expect(prometheusName('received')).toBe('gatewatch_received_total');
    expect(prometheusName('pollLateness')).toBe('gatewatch_poll_lateness_seconds');
  });

  it('read gauges at each scrape, with and without labels', async () => {
    const { observe, renderMetrics } = start();
    let watched = 1;
    observe({
      watchedOrders: () => [{ value: watched, labels: { gateway: 'acme-eu' } }],
      spanBacklog: () => 9,
    });
    expect((await renderMetrics()).body).toContain('gatewatch_watched_orders{gateway="acme-eu"} 1\n');
    watched = 5;
    const { body } = await renderMetrics();
    expect(body).toContain('gatewatch_watched_orders{gateway="acme-eu"} 5\n');
    expect(body).toContain('gatewatch_span_backlog 9\n');
  });

  it('start from nothing after a stop', async () => {
    const first = start();
    first.instruments.received.add(1, { source: 'kafka' });
    await first.stop();
    const second = start();
    second.instruments.received.add(1, { source: 'kafka' });
    expect((await second.renderMetrics()).body).toContain('gatewatch_received_total{source="kafka"} 1\n');
  });

  it('go out by OTLP when the environment names a receiver', async () => {
    const bodies: Buffer[] = [];
    const receiver = createServer(async (request, response) => {
      if (request.url === '/v1/metrics') bodies.push(await buffer(request));
      response.writeHead(200).end();
    });
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`);
    vi.stubEnv('OTEL_SERVICE_NAME', 'payments-watch');
    vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment.name=test');
    const telemetry = start();
    telemetry.instruments.callbacks.add(3, { verdict: 'valid' });
    await telemetry.stop();
    const text = Buffer.concat(bodies).toString('latin1');
    for (const part of ['gatewatch.callbacks', 'payments-watch', 'deployment.environment.name', 'c1'])
      expect(text).toContain(part);
    receiver.close();
  });

  it('go out at a short interval that somebody asks for, without a timeout to go with it', async () => {
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://127.0.0.1:1');
    vi.stubEnv('OTEL_METRIC_EXPORT_INTERVAL', '1000');
    expect(() => start()).not.toThrow();
  });

  it('are switched off by OTEL_SDK_DISABLED, and recording goes on doing nothing', async () => {
    vi.stubEnv('OTEL_SDK_DISABLED', 'true');
    const { instruments, renderMetrics } = start();
    instruments.received.add(1, { source: 'kafka' });
    expect((await renderMetrics()).body).toBe('# switched off by OTEL_SDK_DISABLED\n');
  });
});

describe('whether a signal goes out by OTLP', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' };
  it.each([
    ['is no without an endpoint', {}, undefined, false],
    ['is yes with one in the environment', endpoint, undefined, true],
    [
      'is yes with one for traces',
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://x/v1/traces' },
      undefined,
      true,
    ],
    [
      'is no with one for metrics only',
      { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://x' },
      undefined,
      false,
    ],
    ['is yes with one in the configuration', {}, 'http://localhost:4318', true],
    [
      'is no when traces are exported nowhere',
      { ...endpoint, OTEL_TRACES_EXPORTER: 'none' },
      undefined,
      false,
    ],
    [
      'is yes when OTLP is one of several',
      { ...endpoint, OTEL_TRACES_EXPORTER: 'console, otlp' },
      undefined,
      true,
    ],
    ['is no when the SDK is disabled', { ...endpoint, OTEL_SDK_DISABLED: 'TRUE' }, undefined, false],
  ])('%s', (_title, env, configured, wanted) => {
    expect(isOtlpWanted(env, 'TRACES', configured)).toBe(wanted);
  });
});
