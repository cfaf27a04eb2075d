import { TABLES, VIEWS } from '../schemas/names.ts';
import {
  FAILED,
  FAILURE_MESSAGE,
  ITEM_EVENTS,
  SERVICE_NAMESPACE,
  SPAN_ATTRIBUTES,
  SPAN_NAMES,
  SPAN_SCOPE,
} from '../schemas/span-contract.ts';
import { quoteString } from './sql/quote.ts';
import { ORDER_TRACE_HEAD, OTEL_TRACE_TIMES_HEAD, OTEL_TRACES_HEAD } from './trace-view-heads.ts';

/**
 * Payment spans as SQL, by the same contract as the exported ones: one view for one order, in the columns of
 * Grafana's traces panel, and the two tables of the OpenTelemetry Collector's ClickHouse exporter.
 */
export function traceViews(): string {
  return `${HEAD}\n${[orderTrace(), otelTraces(), otelTraceTimes()].join('\n')}`;
}

const HEAD =
  '-- Generated from schemas/span-contract.ts by "npm run generate"; a collector applies it when it starts.\n';

const ORDER = ['gateway', 'order_type', 'external_id'] as const;

const ORDER_TEXT = "gateway, '|', toString(order_type), '|', external_id";
const hashed = (text: string, bytes: number): string =>
  `lower(hex(substring(SHA256(concat(${text})), 1, ${bytes})))`;
/** As the skip indexes `trace_id_filter` have it, so that a condition on it reads few granules. */
const TRACE_ID = hashed(ORDER_TEXT, 16);
const ROOT_ID = hashed(`${ORDER_TEXT}, '|root'`, 8);
const ITEM_ID = hashed(
  `${ORDER_TEXT}, '|', formatDateTime(event_time, '%FT%T.%fZ'), '|', action, '|', toString(occurrence)`,
  8,
);

/** Once for both kinds of spans: to plan it takes the engine longer than to run it. */
const MESSAGE = `if(failed, ${FAILURE_MESSAGE.sql}, '')`;

/** Spans of one kind: which rows they are made of, and what differs between items and roots. */
interface Source {
  readonly kind: 'item' | 'root';
  readonly from: string;
}

const SHAPE = {
  item: { id: ITEM_ID, parent: ROOT_ID, start: 'span_start', end: 'event_time', code: 'action' },
  root: {
    id: ROOT_ID,
    parent: "''",
    start: 'first_event_at',
    end: 'last_event_at',
    code: "ifNull(deciding_action, '')",
  },
} as const;

/** What every span is made of; the shapes of the views are made of these. */
function spans({ kind, from }: Source): string {
  const { id, parent, start, end, code } = SHAPE[kind];
  return `SELECT
        ${ORDER.join(', ')},
        ${TRACE_ID} AS trace_id,
        ${id} AS span_id,
        ${parent} AS parent_span_id,
        ${SPAN_NAMES[kind].sql} AS name,
        ${start} AS started_at,
        ${end} AS ended_at,
        ${FAILED[kind].sql} AS failed,
        ${code} AS code,
        ifNull(toString(reason_detail), '') AS detail,
        arrayFilter(attribute -> attribute.2 != '', [
            ${attributes(kind).join(',\n            ')}
        ]) AS attributes,
        ${events(kind)} AS events,
        ${kind === 'item' ? 'read_span' : "''"} AS link
    FROM ${from}`;
}

function attributes(kind: 'item' | 'root'): string[] {
  return SPAN_ATTRIBUTES.flatMap((attribute) => {
    const presence = attribute[kind];
    return presence === undefined ? [] : [`(${quoteString(attribute.name)}, ${presence.sql})`];
  });
}

const NO_EVENT = "toDateTime64(0, 6, 'UTC')";

function events(kind: 'item' | 'root'): string {
  if (kind === 'root') return `arrayFilter(event -> 0, [('', ${NO_EVENT})])`;
  const all = ITEM_EVENTS.map(({ name, column }) => `(${quoteString(name)}, ifNull(${column}, ${NO_EVENT}))`);
  return `arrayFilter(event -> event.2 != ${NO_EVENT}, [${all.join(', ')}])`;
}

/** Columns as Grafana's traces panel reads them, behind the identity of the order. */
function orderTrace(): string {
  return `${ORDER_TRACE_HEAD}
SELECT
    ${ORDER.join(', ')},
    trace_id AS traceID,
    span_id AS spanID,
    parent_span_id AS parentSpanID,
    toString(gateway) AS serviceName,
    name AS operationName,
    started_at AS startTime,
    dateDiff('microsecond', started_at, ended_at) / 1000 AS duration,
    arrayMap(attribute -> map('key', attribute.1, 'value', attribute.2), attributes) AS tags,
    [map('key', 'service.name', 'value', toString(gateway)), map('key', 'service.namespace', 'value', '${SERVICE_NAMESPACE}')] AS serviceTags,
    'Internal' AS kind,
    toUInt8(if(failed, 2, 0)) AS statusCode,
    ${MESSAGE} AS statusMessage,
    arrayMap(event -> CAST((event.1, toString(toUnixTimestamp64Milli(event.2)), []), 'Tuple(name String, timestamp String, fields Array(Map(String, String)))'), events) AS logs,
    arrayMap(to -> CAST((substring(to, 1, 32), substring(to, 34), []), 'Tuple(traceID String, spanID String, tags Array(Map(String, String)))'), ${links()}) AS references
FROM
(
    ${spans({ kind: 'item', from: ITEMS })}
    UNION ALL
    ${spans({ kind: 'root', from: rootsOf('created_at IS NOT NULL OR abandoned_at IS NOT NULL') })}
);
`;
}

const links = (): string => "arrayFilter(to -> to != '', [link])";

/** The exporter's table: every span that is exported, and a root only once it is. */
function otelTraces(): string {
  return `${OTEL_TRACES_HEAD}
SELECT
    started_at AS Timestamp,
    trace_id AS TraceId,
    span_id AS SpanId,
    parent_span_id AS ParentSpanId,
    '' AS TraceState,
    name AS SpanName,
    'Internal' AS SpanKind,
    gateway AS ServiceName,
    CAST(map('service.name', toString(gateway), 'service.namespace', '${SERVICE_NAMESPACE}'), 'Map(LowCardinality(String), String)') AS ResourceAttributes,
    '${SPAN_SCOPE}' AS ScopeName,
    '' AS ScopeVersion,
    CAST(attributes, 'Map(LowCardinality(String), String)') AS SpanAttributes,
    toUInt64(dateDiff('microsecond', started_at, ended_at) * 1000) AS Duration,
    if(failed, 'Error', 'Unset') AS StatusCode,
    ${MESSAGE} AS StatusMessage,
    arrayMap(event -> event.2, events) AS \`Events.Timestamp\`,
    arrayMap(event -> event.1, events) AS \`Events.Name\`,
    ${noAttributes('events')} AS \`Events.Attributes\`,
    arrayMap(to -> substring(to, 1, 32), ${links()}) AS \`Links.TraceId\`,
    arrayMap(to -> substring(to, 34), ${links()}) AS \`Links.SpanId\`,
    arrayMap(to -> '', ${links()}) AS \`Links.TraceState\`,
    ${noAttributes(links())} AS \`Links.Attributes\`
FROM
(
    ${spans({ kind: 'item', from: ITEMS })}
    UNION ALL
    ${spans({ kind: 'root', from: rootsOf('settled_at IS NOT NULL OR abandoned_at IS NOT NULL') })}
)
SETTINGS do_not_merge_across_partitions_select_final = 1;
`;
}

const noAttributes = (of: string): string =>
  `arrayMap(one -> CAST(map(), 'Map(LowCardinality(String), String)'), ${of})`;

/** The exporter's look-up of the time range in which a trace lies. */
function otelTraceTimes(): string {
  return `${OTEL_TRACE_TIMES_HEAD}
SELECT
    ${TRACE_ID} AS TraceId,
    min(h.span_start) AS Start,
    max(h.span_start) AS End
FROM ${TABLES.historyEvents} AS h
GROUP BY ${ORDER.join(', ')};
`;
}

const ITEMS = `${TABLES.historyEvents} FINAL`;

/**
 * What roots are made of, named as a settlement has it: an order that is closed, or as far as it is known.
 *
 * @param where which orders have a root
 */
const rootsOf = (where: string): string => `(
        SELECT *,
            multiIf(settled_at IS NOT NULL, 'settled', abandoned_at IS NOT NULL, 'abandoned', '') AS kind,
            ifNull(created_at, first_seen_at) AS first_event_at,
            coalesce(last_item_at, abandoned_at, first_seen_at) AS last_event_at
        FROM ${VIEWS.orders}
        WHERE ${where}
    )`;
