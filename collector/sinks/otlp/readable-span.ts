import type { HrTime } from '@opentelemetry/api';
import { createTraceState, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import type { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { EpochMicros } from '../../../schemas/rows.ts';
import { SPAN_SCOPE } from '../../../schemas/span-contract.ts';
import type { SpanData, SpanRef } from '../../../schemas/span.ts';
import { createGatewayResource } from '../../telemetry/resource.ts';

/** What the library's serializers take. */
export type ReadableSpan = Parameters<typeof ProtobufTraceSerializer.serializeRequest>[0][number];

/**
 * Spans as data into the shape of spans that the SDK has ended. Those of one gateway share one resource,
 * which is what the serializer groups them by.
 * @param version of gatewatch
 */
export function createReadableSpans(version: string): (span: SpanData) => ReadableSpan {
  const resources = new Map<string, ReadableSpan['resource']>();
  const resourceOf = (gateway: string): ReadableSpan['resource'] => {
    const known = resources.get(gateway) ?? createGatewayResource(gateway);
    resources.set(gateway, known);
    return known;
  };
  const instrumentationScope = { name: SPAN_SCOPE, version };
  return (span) => ({
    name: span.name,
    kind: SpanKind.INTERNAL,
    spanContext: () => ({
      ...contextOf(span),
      ...(span.traceState === undefined ? {} : { traceState: createTraceState(span.traceState) }),
    }),
    ...(span.parentSpanId === null
      ? {}
      : { parentSpanContext: contextOf({ traceId: span.traceId, spanId: span.parentSpanId }) }),
    startTime: toHrTime(span.start),
    endTime: toHrTime(span.end),
    duration: toHrTime(span.end - span.start),
    status:
      span.error === null
        ? { code: SpanStatusCode.UNSET }
        : { code: SpanStatusCode.ERROR, message: span.error.message },
    attributes: span.attributes,
    links: span.links.map((to) => ({ context: contextOf(to) })),
    events: span.events.map(({ name, at }) => ({ name, time: toHrTime(at) })),
    ended: true,
    resource: resourceOf(span.service),
    instrumentationScope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  });
}

const contextOf = ({ traceId, spanId }: SpanRef) => ({ traceId, spanId, traceFlags: TraceFlags.SAMPLED });

/** Seconds and nanoseconds, exactly. */
function toHrTime(micros: EpochMicros): HrTime {
  const seconds = Math.floor(micros / 1_000_000);
  return [seconds, (micros - seconds * 1_000_000) * 1000];
}
