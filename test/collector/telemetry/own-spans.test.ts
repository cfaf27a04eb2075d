import { afterEach, describe, expect, it, vi } from 'vitest';
import { logIds, withSpan } from '../../../collector/telemetry/own-spans.ts';
import { startTelemetry, type Telemetry } from '../../../collector/telemetry/telemetry.ts';

const running: Telemetry[] = [];
afterEach(async () => {
  for (const telemetry of running.splice(0)) await telemetry.stop(0);
  vi.unstubAllEnvs();
});

function start(sampler: string): void {
  vi.stubEnv('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'http://127.0.0.1:1/v1/traces');
  vi.stubEnv('OTEL_TRACES_SAMPLER', sampler);
  running.push(startTelemetry({ version: '1.2.3', collectorId: 'c1', env: process.env }));
}

describe('ids in the log', () => {
  it('are those of the work that is under way, also after a pause', async () => {
    start('always_on');
    const ids = await withSpan('job', {}, async (span) => {
      await new Promise(setImmediate);
      const { traceId, spanId } = span.spanContext();
      expect(logIds()).toEqual({ trace_id: traceId, span_id: spanId });
      return withSpan('insert', {}, async (inner) => {
        expect(logIds()).toEqual({ trace_id: traceId, span_id: inner.spanContext().spanId });
        return logIds();
      });
    });
    expect(ids['trace_id']).toMatch(/^[0-9a-f]{32}$/);
    expect(logIds()).toEqual({});
  });

  it.each(['', 'always_off'])('are absent with the sampler %j', async (sampler) => {
    start(sampler);
    await withSpan('job', {}, async (span) => {
      expect(span.isRecording()).toBe(false);
      expect(logIds()).toEqual({});
    });
  });
});

it('work within a span gives what it gives and throws what it throws', async () => {
  start('always_on');
  expect(await withSpan('insert', {}, async () => 7)).toBe(7);
  const error = new Error('mine');
  await expect(withSpan('insert', {}, () => Promise.reject(error))).rejects.toBe(error);
});
