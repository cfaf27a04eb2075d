import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { createReadableSpans } from '../../../../collector/sinks/otlp/readable-span.ts';
import type { SpanData } from '../../../../schemas/span.ts';
import { readRequest, type ReceivedSpan } from '../../../support/otlp-receiver.ts';

const toReadable = createReadableSpans('1.2.3');

const hex = (digits: number) =>
  fc
    .array(fc.constantFrom(...'0123456789abcdef'), { minLength: digits, maxLength: digits })
    .map((all) => all.join(''));
const micros = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) * 1000 });
const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.constant('y'.repeat(20_000)));
const value = fc.oneof(text, fc.boolean(), fc.maxSafeInteger(), fc.double({ noNaN: true }));
const ref = fc.record({ traceId: hex(32), spanId: hex(16) });

const anySpan: fc.Arbitrary<SpanData> = fc.record({
  traceId: hex(32),
  spanId: hex(16),
  parentSpanId: fc.option(hex(16)),
  service: fc.constantFrom('acme-eu', 'blue-pay'),
  name: text,
  start: micros,
  end: micros,
  error: fc.option(fc.record({ message: text })),
  attributes: fc.dictionary(fc.string({ unit: 'grapheme', minLength: 1 }), value, { noNullPrototype: true }),
  events: fc.array(fc.record({ at: micros, name: text }), { maxLength: 3 }),
  links: fc.array(ref, { maxLength: 2 }),
  traceState: fc.constantFrom('', 'ot=th:c'),
});

/** What a receiver should read, written down without the library. */
const received = (span: SpanData): ReceivedSpan => ({
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentSpanId ?? '',
  traceState: span.traceState ?? '',
  name: span.name,
  startNanos: BigInt(span.start) * 1000n,
  endNanos: BigInt(span.end) * 1000n,
  statusCode: span.error === null ? 0 : 2,
  statusMessage: span.error?.message ?? '',
  // A zero has no sign in an integer.
  attributes: Object.fromEntries(
    Object.entries(span.attributes).map(([name, is]) => [name, is === 0 ? 0 : is]),
  ),
  events: span.events.map(({ name, at }) => ({ name, nanos: BigInt(at) * 1000n })),
  links: span.links,
  resource: { 'service.name': span.service, 'service.namespace': 'gatewatch' },
  scope: 'gatewatch',
});

it('spans arrive with all that they say, exactly, whatever it is', () => {
  fc.assert(
    fc.property(fc.array(anySpan, { maxLength: 20 }), (spans) => {
      const request = ProtobufTraceSerializer.serializeRequest(spans.map(toReadable));
      const wanted = [...Map.groupBy(spans, ({ service }) => service).values()].flat().map(received);
      expect(readRequest(request ?? new Uint8Array())).toEqual(wanted);
    }),
  );
});
