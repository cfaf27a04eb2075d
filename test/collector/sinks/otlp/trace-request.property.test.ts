import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { markSampled } from '../../../../collector/decode/sampling.ts';
import { itemSpans, rootSpan } from '../../../../collector/decode/spans.ts';
import { createReadableSpans } from '../../../../collector/sinks/otlp/readable-span.ts';
import { createTraceRequests } from '../../../../collector/sinks/otlp/trace-request.ts';
import type { SpanData } from '../../../../schemas/span.ts';
import { readRequest } from '../../../support/otlp-receiver.ts';
import { historyEvent, settlement } from '../support/rows.ts';

const VERSION = '1.2.3';
const write = createTraceRequests(VERSION);
const toReadable = createReadableSpans(VERSION);
const byTheLibrary = (spans: readonly SpanData[]): Buffer =>
  Buffer.from(ProtobufTraceSerializer.serializeRequest(spans.map(toReadable)) ?? []);

const hex = (digits: number) =>
  fc
    .array(fc.constantFrom(...'0123456789abcdef'), { minLength: digits, maxLength: digits })
    .map((all) => all.join(''));
const micros = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) * 1000 });
/** Also half of a pair of surrogates, and text of each length that a length of one or two bytes has. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ unit: 'grapheme', maxLength: 70 }),
  fc.constantFrom('', '\ud800', 'a\udfffb', 'ü'.repeat(64), 'x'.repeat(127), 'y'.repeat(20_000)),
);
const number = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double(),
  fc.constantFrom(0, -0, 127, 128, 2 ** 32, -(2 ** 63), 2 ** 63, Number.NaN),
);
const attributes = fc.dictionary(
  text.filter((name) => name !== '__proto__'),
  fc.oneof(text, number, fc.boolean()),
  { maxKeys: 12, noNullPrototype: true },
);
const ref = fc.record({ traceId: hex(32), spanId: hex(16) });

/** Spans of some gateways, some of which share attributes. */
const anySpans: fc.Arbitrary<SpanData[]> = fc
  .array(attributes, { minLength: 1, maxLength: 4 })
  .chain((parts) =>
    fc.array(
      fc.record({
        traceId: hex(32),
        spanId: hex(16),
        parentSpanId: fc.option(hex(16)),
        service: fc.constantFrom('acme-eu', 'blue-pay', 'c'),
        name: text,
        start: micros,
        end: micros,
        error: fc.option(fc.record({ message: text })),
        // No name is in two parts of one span.
        attributes: fc.option(fc.constantFrom(...parts), { nil: {} }).map((part) => [part]),
        events: fc.array(fc.record({ at: micros, name: text }), { maxLength: 3 }),
        links: fc.array(ref, { maxLength: 2 }),
        traceState: fc.constantFrom('', 'ot=th:c'),
      }),
      { maxLength: 20 },
    ),
  );

describe('a request in protobuf', () => {
  it('has the bytes that the OpenTelemetry library writes, whatever the spans are', () => {
    fc.assert(
      fc.property(anySpans, (spans) => {
        expect(write(spans).equals(byTheLibrary(spans))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('has the same bytes for spans that share attributes as for those that do not', () => {
    const rows = ['a', 'b'].flatMap((order) =>
      ['1.1.1.00', '2.2.4.11', '4.2.2.13', 'x'].flatMap((action) =>
        [0, 1].map((occurrence) => historyEvent({ external_id: order, action, occurrence })),
      ),
    );
    const sampling = { rate: 0.25, traceState: 'ot=th:c' };
    const shared = markSampled([...itemSpans(rows), rootSpan(settlement())], sampling);
    const apart = markSampled([...rows.flatMap((row) => itemSpans([row])), rootSpan(settlement())], sampling);
    expect(write(shared).equals(write(apart))).toBe(true);
    expect(write(shared).equals(byTheLibrary(shared))).toBe(true);
    expect(readRequest(write(shared))).toHaveLength(17);
  });

  it('is empty without spans', () => {
    expect(write([])).toHaveLength(0);
    expect(byTheLibrary([])).toHaveLength(0);
  });
});
