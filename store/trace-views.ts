import { ITEMS_BY_TIME } from '../schemas/names.ts';
import { COLUMNS } from '../schemas/rows.ts';
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
const ITEM = [...ORDER, 'event_time', 'action', 'occurrence'] as const;
const without = (all: object, some: readonly string[]) =>
  Object.keys(all).filter((name) => !some.includes(name));
const ITEM_FACTS = without(COLUMNS.historyEvents, ITEM);
const ROOT_FACTS = without(COLUMNS.settlements, ORDER);

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
    ${spans({ kind: 'item', from: itemsByOrder() })}
    UNION ALL
    ${spans({ kind: 'root', from: rootsByOrder() })}
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
    ${spans({ kind: 'item', from: `${ITEMS_BY_TIME} FINAL` })}
    UNION ALL
    ${spans({ kind: 'root', from: 'settlements_by_time_store FINAL' })}
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
FROM history_events_store AS h
GROUP BY ${ORDER.join(', ')};
`;
}

/** The first version of each item, where the table is sorted by order: FINAL costs one order far more. */
function itemsByOrder(): string {
  return `(
        SELECT ${ITEM.join(', ')}, ${fields('first', ITEM_FACTS)}
        FROM
        (
            SELECT ${ORDER.join(', ')}, s.event_time AS event_time, s.action AS action, s.occurrence AS occurrence,
                argMin((${ITEM_FACTS.map((name) => `s.${name}`).join(', ')}), s.observed_at) AS first
            FROM history_events_store AS s
            GROUP BY ${ORDER.join(', ')}, event_time, action, occurrence
        )
    )`;
}

/** What an item tells of its order, which is not closed: nothing but that it is one of its items. */
const OF_ITEM: Readonly<Record<string, string>> = {
  settled_at: NO_EVENT,
  kind: "''",
  history_items: 'toUInt32(1)',
  external_transaction_id: 'external_transaction_id',
  channel: 'channel',
  first_event_at: 'event_time',
  last_event_at: 'event_time',
};
/** What all items tell of an order that is not closed. */
const OF_ITEMS: Readonly<Record<string, string>> = {
  history_items: 'toUInt32(uniqExactIf(s.item, NOT s.is_closed))',
  external_transaction_id: 'max(s.external_transaction_id)',
  channel: 'max(s.channel)',
  first_event_at: 'min(s.first_event_at)',
  last_event_at: 'max(s.last_event_at)',
};

/**
 * Closed orders as they were closed, and others as far as they are known. One grouping of both tables: a
 * condition on the order reaches each of them, and no order has two roots.
 */
function rootsByOrder(): string {
  const facts = ROOT_FACTS.join(', ');
  const open = ROOT_FACTS.map((name) => OF_ITEMS[name] ?? OF_ITEM[name] ?? 'NULL');
  return `(
        SELECT ${ORDER.join(', ')}, ${fields('facts', ROOT_FACTS)}
        FROM
        (
            SELECT ${ORDER.join(', ')},
                if(countIf(s.is_closed) > 0, argMinIf(tuple(${ROOT_FACTS.map((name) => `s.${name}`).join(', ')}), s.settled_at, s.is_closed),
                    tuple(${open.join(', ')})) AS facts
            FROM
            (
                SELECT ${ORDER.join(', ')}, 1 AS is_closed, (${NO_EVENT}, '', toUInt16(0)) AS item,
                    ${facts.replace(', kind,', ', toString(kind) AS kind,')}
                FROM settlements_store
                UNION ALL
                SELECT ${ORDER.join(', ')}, 0 AS is_closed, (event_time, action, occurrence) AS item,
                    ${ROOT_FACTS.map((name) => `${OF_ITEM[name] ?? 'NULL'} AS ${name}`).join(', ')}
                FROM history_events_store
            ) AS s
            GROUP BY ${ORDER.join(', ')}
        )
    )`;
}

const fields = (tuple: string, names: readonly string[]): string =>
  names.map((name, index) => `${tuple}.${index + 1} AS ${name}`).join(', ');
