import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildJaeger, type Jaeger, type JaegerSpan, startJaeger } from '../support/jaeger.ts';
import {
  expectSameSpans,
  type ReceiverScene,
  type SeenSpan,
  startReceiverScene,
} from './support/receiver-scene.ts';

const program = await buildJaeger();
const reason = 'reason' in program ? program.reason : null;
if (reason !== null && process.env['GATEWATCH_REQUIRE_GO'] === '1') throw new Error(reason);

describe.skipIf(reason !== null)(`a real Jaeger${reason === null ? '' : `: ${reason}`}`, () => {
  let jaeger: Jaeger;
  let scene: ReceiverScene;
  beforeAll(async () => {
    if (!('path' in program)) return;
    jaeger = await startJaeger(program.path);
    scene = await startReceiverScene({ OTEL_EXPORTER_OTLP_ENDPOINT: jaeger.http });
  });
  afterAll(async () => {
    await scene?.stop();
    await jaeger?.stop();
  });

  it('finds an order by the trace id that SQL shows, with the same ids, times, status and attributes', async () => {
    const stored = await scene.spansOfStore();
    expect(new Set(stored.map(({ traceId }) => traceId))).toEqual(new Set(scene.traceIds));
    for (const traceId of scene.traceIds) {
      const wanted = stored.filter((span) => span.traceId === traceId);
      await expect.poll(async () => (await jaeger.trace(traceId))?.spans.length).toBe(wanted.length);
      const trace = await jaeger.trace(traceId);
      expectSameSpans((trace?.spans ?? []).map(fromJaeger), wanted);
    }
  });
});

function fromJaeger(span: JaegerSpan): SeenSpan {
  const attributes = Object.fromEntries(span.tags.map(({ key, value }) => [key, value]));
  return {
    traceId: span.traceID,
    spanId: span.spanID,
    parentSpanId: span.references.find(({ refType }) => refType === 'CHILD_OF')?.spanID ?? '',
    name: span.operationName,
    startMicros: span.startTime,
    endMicros: span.startTime + span.duration,
    isError: attributes['error'] === true,
    attributes,
  };
}
