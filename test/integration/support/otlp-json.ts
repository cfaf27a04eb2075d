import type { SeenSpan } from './receiver-scene.ts';

type Value = Readonly<Record<string, unknown>>;
interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status?: { readonly code?: number };
  readonly attributes?: readonly { readonly key: string; readonly value: Value }[];
}
interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

/** Spans of requests in OTLP's JSON form, one a line, as the Collector's file exporter writes them. */
export function readOtlpJson(text: string): SeenSpan[] {
  // The last line may still be written.
  const lines = text.split('\n').slice(0, -1);
  return lines
    .map((line) => JSON.parse(line) as OtlpRequest)
    .flatMap(({ resourceSpans }) => resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans)
    .map(readSpan);
}

const readSpan = (span: OtlpSpan): SeenSpan => ({
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentSpanId ?? '',
  name: span.name,
  startMicros: microsOf(span.startTimeUnixNano),
  endMicros: microsOf(span.endTimeUnixNano),
  isError: span.status?.code === 2,
  attributes: Object.fromEntries(
    (span.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]),
  ),
});

const microsOf = (nanos: string): number => Number(BigInt(nanos) / 1000n);
