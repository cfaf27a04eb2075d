import type { Attributes, Link, Span } from '@opentelemetry/api';
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OWN_ATTRIBUTES, OWN_SPANS, type OwnSpan } from '../../schemas/own-spans.ts';

const KINDS: Readonly<Partial<Record<OwnSpan, SpanKind>>> = {
  statusRead: SpanKind.CLIENT,
  insert: SpanKind.CLIENT,
  kafkaBatch: SpanKind.CONSUMER,
  intake: SpanKind.SERVER,
};

/**
 * Does work within a span of the collector's own. A failure is recorded by the error's code alone: a message
 * may quote what came from outside. Without a provider (`startTelemetry`) it costs next to nothing.
 */
export async function withSpan<T>(
  name: OwnSpan,
  attributes: Attributes,
  work: (span: Span) => Promise<T>,
  links: Link[] = [],
): Promise<T> {
  const span = trace
    .getTracer('gatewatch')
    .startSpan(OWN_SPANS[name], { kind: KINDS[name] ?? SpanKind.INTERNAL, attributes, links });
  if (!span.isRecording()) return work(span);
  try {
    return await context.with(trace.setSpan(context.active(), span), () => work(span));
  } catch (error) {
    fail(span, typeOf(error));
    throw error;
  } finally {
    span.end();
  }
}

/** The work did not do what it should, and says so without throwing. */
export function fail(span: Span, errorType: string): void {
  span.setAttribute(OWN_ATTRIBUTES.errorType, errorType);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function typeOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'code' in error) return String(error.code);
  return error instanceof Error ? error.name : 'unknown';
}

/** Ids for a line of the log, while a span is recorded. */
export function logIds(): Readonly<Record<string, string>> {
  const span = trace.getActiveSpan();
  if (span === undefined || !span.isRecording()) return {};
  const { traceId, spanId } = span.spanContext();
  return { trace_id: traceId, span_id: spanId };
}
