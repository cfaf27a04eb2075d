import type { HrTime } from '@opentelemetry/api';
import { SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import type { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import type { EpochMicros } from '../../../schemas/rows.ts';
import type { SpanData } from '../../../schemas/span.ts';

/** What the OTLP exporter takes. */
export type ReadableSpan = Parameters<OTLPTraceExporter['export']>[0][number];
export type Origin = Pick<ReadableSpan, 'resource' | 'instrumentationScope'>;

/** A span as data, in the shape of a span that the SDK has ended. */
export function toReadableSpan(span: SpanData, { resource, instrumentationScope }: Origin): ReadableSpan {
  const context = { traceId: span.traceId, spanId: span.spanId, traceFlags: TraceFlags.SAMPLED };
  const parent =
    span.parentSpanId === null ? {} : { parentSpanContext: { ...context, spanId: span.parentSpanId } };
  return {
    name: span.name,
    kind: SpanKind.INTERNAL,
    spanContext: () => context,
    ...parent,
    startTime: toHrTime(span.start),
    endTime: toHrTime(span.end),
    duration: toHrTime(span.end - span.start),
    status:
      span.error === null
        ? { code: SpanStatusCode.UNSET }
        : { code: SpanStatusCode.ERROR, message: span.error.message },
    attributes: span.attributes,
    links: [],
    events: [],
    ended: true,
    resource,
    instrumentationScope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** Seconds and nanoseconds, exactly. */
function toHrTime(micros: EpochMicros): HrTime {
  const seconds = Math.floor(micros / 1_000_000);
  return [seconds, (micros - seconds * 1_000_000) * 1000];
}
