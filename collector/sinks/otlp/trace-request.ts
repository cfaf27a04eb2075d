import type { Resource } from '@opentelemetry/resources';
import { SPAN_SCOPE } from '../../../schemas/span-contract.ts';
import type { Attributes, SpanData, SpanEvent, SpanRef } from '../../../schemas/span.ts';
import { createGatewayResource } from '../../telemetry/resource.ts';
import {
  beginMessage,
  createProtobufWriter,
  endMessage,
  type ProtobufWriter,
  repeat,
  writeDouble,
  writeFixed32,
  writeHex,
  writeNanos,
  writeText,
  writeVarint,
  written,
} from './protobuf-writer.ts';

/** Payment spans are internal; the enumeration begins with "unspecified". */
const KIND_INTERNAL = 1;
const STATUS_UNSET = 0;
const STATUS_ERROR = 2;
/** Sampled, and known not to come from elsewhere (opentelemetry/proto/trace/v1/trace.proto, SpanFlags). */
const FLAGS = 0x101;

/** A span of ours has about 720 bytes. */
const EXPECTED_SPAN_BYTES = 800;
const LARGEST_INT = 2 ** 63;

/**
 * Writes requests as OTLP over protobuf has them: ExportTraceServiceRequest. The bytes are those of the
 * OpenTelemetry library, in a fifth of its time: no object is made on the way, sizes are not computed
 * beforehand, and attributes that spans share are written once and copied then.
 *
 * @param version of gatewatch
 */
export function createTraceRequests(version: string): (spans: readonly SpanData[]) => Buffer {
  const resources = new Map<string, Resource>();
  const resourceOf = (gateway: string): Resource => {
    const known = resources.get(gateway) ?? createGatewayResource(gateway);
    resources.set(gateway, known);
    return known;
  };
  return (spans) => {
    const writer = createProtobufWriter(spans.length * EXPECTED_SPAN_BYTES);
    const places: Places = new Map();
    for (const [service, some] of Map.groupBy(spans, (span) => span.service))
      writeResourceSpans(writer, { resource: resourceOf(service), version, spans: some, places });
    return written(writer);
  };
}

/** Where the bytes of attributes stand in the request. */
type Places = Map<Attributes, { readonly start: number; readonly end: number }>;

interface ResourceSpans {
  readonly resource: Resource;
  readonly version: string;
  readonly spans: readonly SpanData[];
  readonly places: Places;
}

/** ResourceSpans: resource 1, scope_spans 2 { scope 1, spans 2 }, schema_url 3. */
function writeResourceSpans(
  writer: ProtobufWriter,
  { resource, version, spans, places }: ResourceSpans,
): void {
  const outer = beginMessage(writer, 1, 3);
  const itself = beginMessage(writer, 1, 1);
  writeAttributes(writer, 1, resource.attributes as Attributes);
  writeVarint(writer, 2, 0);
  endMessage(writer, itself, 1);
  const inner = beginMessage(writer, 2, 3);
  const scope = beginMessage(writer, 1, 1);
  writeText(writer, 1, SPAN_SCOPE);
  if (version !== '') writeText(writer, 2, version);
  endMessage(writer, scope, 1);
  for (const span of spans) writeSpan(writer, span, places);
  endMessage(writer, inner, 3);
  if (resource.schemaUrl) writeText(writer, 3, resource.schemaUrl);
  endMessage(writer, outer, 3);
  // Both ends may have moved the bytes.
  places.clear();
}

/**
 * Span: trace_id 1, span_id 2, trace_state 3, parent_span_id 4, name 5, kind 6, start 7, end 8, attributes 9,
 * events 11, links 13, status 15, flags 16; 10, 12 and 14 count what was dropped, which is nothing.
 */
function writeSpan(writer: ProtobufWriter, span: SpanData, places: Places): void {
  const start = beginMessage(writer, 2, 2);
  writeHex(writer, 1, span.traceId);
  writeHex(writer, 2, span.spanId);
  if (span.traceState !== undefined && span.traceState !== '') writeText(writer, 3, span.traceState);
  if (span.parentSpanId !== null) writeHex(writer, 4, span.parentSpanId);
  writeText(writer, 5, span.name);
  writeVarint(writer, 6, KIND_INTERNAL);
  writeNanos(writer, 7, span.start);
  writeNanos(writer, 8, span.end);
  for (const attributes of span.attributes) writeOnce(writer, 9, attributes, places);
  writeVarint(writer, 10, 0);
  for (const event of span.events) writeEvent(writer, event);
  writeVarint(writer, 12, 0);
  for (const link of span.links) writeLink(writer, link);
  writeVarint(writer, 14, 0);
  writeStatus(writer, span.error);
  writeFixed32(writer, 16, FLAGS);
  if (endMessage(writer, start, 2)) places.clear();
}

/** Attributes, or their bytes where they have been written before. */
function writeOnce(writer: ProtobufWriter, field: number, attributes: Attributes, places: Places): void {
  const known = places.get(attributes);
  if (known !== undefined) return repeat(writer, known.start, known.end);
  const start = writer.at;
  writeAttributes(writer, field, attributes);
  places.set(attributes, { start, end: writer.at });
}

/** KeyValue: key 1, value 2 { string 1, bool 2, int 3, double 4 }. */
function writeAttributes(writer: ProtobufWriter, field: number, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    const pair = beginMessage(writer, field, 1);
    writeText(writer, 1, name);
    const inner = beginMessage(writer, 2, 1);
    if (typeof value === 'string') writeText(writer, 1, value);
    else if (typeof value === 'boolean') writeVarint(writer, 2, value ? 1 : 0);
    else if (Number.isInteger(value) && value >= -LARGEST_INT && value < LARGEST_INT)
      writeVarint(writer, 3, value);
    else writeDouble(writer, 4, value);
    endMessage(writer, inner, 1);
    endMessage(writer, pair, 1);
  }
}

/** Event: time 1, name 2; 4 counts what was dropped. */
function writeEvent(writer: ProtobufWriter, { at, name }: SpanEvent): void {
  const start = beginMessage(writer, 11, 1);
  writeNanos(writer, 1, at);
  writeText(writer, 2, name);
  writeVarint(writer, 4, 0);
  endMessage(writer, start, 1);
}

/** Link: trace_id 1, span_id 2, flags 6; 5 counts what was dropped. */
function writeLink(writer: ProtobufWriter, { traceId, spanId }: SpanRef): void {
  const start = beginMessage(writer, 13, 1);
  writeHex(writer, 1, traceId);
  writeHex(writer, 2, spanId);
  writeVarint(writer, 5, 0);
  writeFixed32(writer, 6, FLAGS);
  endMessage(writer, start, 1);
}

/** Status: message 2, code 3. */
function writeStatus(writer: ProtobufWriter, error: SpanData['error']): void {
  const start = beginMessage(writer, 15, 1);
  if (error !== null && error.message !== '') writeText(writer, 2, error.message);
  writeVarint(writer, 3, error === null ? STATUS_UNSET : STATUS_ERROR);
  endMessage(writer, start, 1);
}
