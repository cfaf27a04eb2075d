import type { PanelAnswer } from '../../../schemas/console.ts';
import type { ReceivedSpan } from '../../support/otlp-receiver.ts';

/** A span in one form, whichever interface it was read from. */
export interface ComparableSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly service: readonly [name: string, namespace: string];
  readonly name: string;
  /** Microseconds. */
  readonly start: number;
  /** Microseconds. */
  readonly duration: number;
  readonly failed: boolean;
  readonly message: string;
  /** Values as text, as the ClickHouse exporter of the OpenTelemetry Collector has them. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Name and milliseconds. */
  readonly events: readonly (readonly [string, number])[];
  readonly links: readonly string[];
}

/** By their ids, so that the spans of two interfaces can be compared. */
export const inOrderOfIds = (spans: readonly ComparableSpan[]): ComparableSpan[] =>
  spans.toSorted((a, b) => (a.spanId < b.spanId ? -1 : 1));

const SERVICE = ['service.name', 'service.namespace'] as const;

export const fromOtlp = (span: ReceivedSpan): ComparableSpan => ({
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentSpanId,
  service: [String(span.resource[SERVICE[0]]), String(span.resource[SERVICE[1]])],
  name: span.name,
  start: Number(span.startNanos / 1000n),
  duration: Number((span.endNanos - span.startNanos) / 1000n),
  failed: span.statusCode === 2,
  message: span.statusMessage,
  attributes: Object.fromEntries(
    Object.entries(span.attributes).map(([name, value]) => [name, String(value)]),
  ),
  events: span.events.map(({ name, nanos }) => [name, Number(nanos / 1_000_000n)] as const),
  links: span.links.map(({ traceId, spanId }) => `${traceId}-${spanId}`),
});

type Tags = readonly { readonly key: string; readonly value: string }[];
const fromTags = (tags: Tags): Record<string, string> =>
  Object.fromEntries(tags.map(({ key, value }) => [key, value]));

/** A row of `order_trace`, which is one of the panel. */
export interface TraceRow {
  readonly traceID: string;
  readonly spanID: string;
  readonly parentSpanID: string;
  readonly serviceName: string;
  readonly operationName: string;
  readonly startTime: string;
  readonly duration: number;
  readonly tags: Tags;
  readonly serviceTags: Tags;
  readonly statusCode: number;
  readonly statusMessage: string;
  readonly logs: readonly { readonly name: string; readonly timestamp: string }[];
  readonly references: readonly { readonly traceID: string; readonly spanID: string }[];
}

export function fromTraceRow(row: TraceRow): ComparableSpan {
  const { [SERVICE[0]]: name = '', [SERVICE[1]]: namespace = '' } = fromTags(row.serviceTags);
  return {
    traceId: row.traceID,
    spanId: row.spanID,
    parentSpanId: row.parentSpanID,
    service: [name === row.serviceName ? name : '', namespace],
    name: row.operationName,
    start: micros(row.startTime),
    duration: Math.round(row.duration * 1000),
    failed: row.statusCode === 2,
    message: row.statusMessage,
    attributes: fromTags(row.tags),
    events: row.logs.map(({ name: event, timestamp }) => [event, Number(timestamp)] as const),
    links: row.references.map(({ traceID, spanID }) => `${traceID}-${spanID}`),
  };
}

/** A row of `otel_traces`. */
export interface OtelRow {
  readonly TraceId: string;
  readonly SpanId: string;
  readonly ParentSpanId: string;
  readonly SpanName: string;
  readonly ServiceName: string;
  readonly ResourceAttributes: Readonly<Record<string, string>>;
  readonly SpanAttributes: Readonly<Record<string, string>>;
  readonly Timestamp: string;
  readonly Duration: number;
  readonly StatusCode: string;
  readonly StatusMessage: string;
  readonly 'Events.Name': readonly string[];
  readonly 'Events.Timestamp': readonly string[];
  readonly 'Links.TraceId': readonly string[];
  readonly 'Links.SpanId': readonly string[];
}

export const fromOtelRow = (row: OtelRow): ComparableSpan => ({
  traceId: row.TraceId,
  spanId: row.SpanId,
  parentSpanId: row.ParentSpanId,
  service: [
    row.ResourceAttributes[SERVICE[0]] === row.ServiceName ? row.ServiceName : '',
    row.ResourceAttributes[SERVICE[1]] ?? '',
  ],
  name: row.SpanName,
  start: micros(row.Timestamp),
  duration: row.Duration / 1000,
  failed: row.StatusCode === 'Error',
  message: row.StatusMessage,
  attributes: row.SpanAttributes,
  events: row['Events.Name'].map(
    (name, n) => [name, Math.floor(micros(row['Events.Timestamp'][n] ?? '') / 1000)] as const,
  ),
  links: row['Links.TraceId'].map((traceId, n) => `${traceId}-${row['Links.SpanId'][n]}`),
});

/** The spans of a panel, as the console's server answers its page: instants there are in milliseconds. */
export function fromConsole({ frames }: PanelAnswer): ComparableSpan[] {
  const rows = frames.flatMap(({ columns }) =>
    (columns[0]?.values ?? []).map((_value, row) =>
      Object.fromEntries(columns.map(({ name, values }) => [name, values[row]])),
    ),
  );
  return rows.map((row) => {
    const startTime = new Date(Number(row['startTime'])).toISOString();
    return fromTraceRow({ ...row, startTime } as unknown as TraceRow);
  });
}

/** The same with its start in whole milliseconds. */
export const toTheMillisecond = (span: ComparableSpan): ComparableSpan => ({
  ...span,
  start: Math.floor(span.start / 1000) * 1000,
});

/** `YYYY-MM-DD HH:MM:SS.ffffff`, with a `T` and a `Z` or without. */
export function micros(text: string): number {
  const [, date = '', time = '', fraction = ''] =
    /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)\.?(\d*)Z?$/.exec(text) ?? [];
  return Date.parse(`${date}T${time}Z`) * 1000 + Number(fraction.slice(0, 6).padEnd(6, '0'));
}
