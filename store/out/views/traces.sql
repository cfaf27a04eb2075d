-- Generated from schemas/span-contract.ts by "npm run generate"; a collector applies it when it starts.

-- One row: one span of one order's trace: an item, or the root.
-- - Columns as Grafana's traces panel reads them. Made for single orders: give `external_id` or `traceID`, and the condition reaches the
--   tables.
-- - The same spans as are exported (docs/semantic-conventions.md). An order that is not closed has a root as well, without
--   `payment.closure`, over the items known now.
CREATE OR REPLACE VIEW order_trace
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2) COMMENT 'Type of the order.',
    external_id String COMMENT 'The order''s id in the service.',
    traceID String COMMENT 'Id of the trace: one order is one trace.',
    spanID String COMMENT 'Id of the span, as exported.',
    parentSpanID String COMMENT 'Id of the root span; empty for the root itself.',
    serviceName LowCardinality(String) COMMENT 'The gateway.',
    operationName String COMMENT 'Name of the span.',
    startTime DateTime64(6, 'UTC') COMMENT 'Time of the item before, as first seen; of the first item for the root.',
    duration Float64 COMMENT 'Milliseconds.',
    tags Array(Map(String, String)) COMMENT 'Attributes as maps with `key` and `value`.',
    serviceTags Array(Map(String, String)) COMMENT 'The service''s attributes.',
    kind String COMMENT '`Internal`.',
    statusCode UInt8 COMMENT '2 when the operation failed, else 0.',
    statusMessage String COMMENT 'What the code of a failure means.',
    logs Array(Tuple(name String, timestamp String, fields Array(Map(String, String)))) COMMENT 'Span events; `timestamp` in milliseconds since 1970.',
    `references` Array(Tuple(traceID String, spanID String, tags Array(Map(String, String)))) COMMENT 'Links to the collector''s own spans.'
)
AS
SELECT
    gateway, order_type, external_id,
    trace_id AS traceID,
    span_id AS spanID,
    parent_span_id AS parentSpanID,
    toString(gateway) AS serviceName,
    name AS operationName,
    started_at AS startTime,
    dateDiff('microsecond', started_at, ended_at) / 1000 AS duration,
    arrayMap(attribute -> map('key', attribute.1, 'value', attribute.2), attributes) AS tags,
    [map('key', 'service.name', 'value', toString(gateway)), map('key', 'service.namespace', 'value', 'gatewatch')] AS serviceTags,
    'Internal' AS kind,
    toUInt8(if(failed, 2, 0)) AS statusCode,
    if(failed, transform(code, ['1.2.4.31', '1.2.4.32', '1.2.4.34', '2.2.4.11', '2.2.4.12', '2.2.4.13', '2.2.4.14', '2.2.4.15', '2.2.4.21', '2.2.4.22', '2.2.4.31', '2.2.4.32', '2.2.4.33', '3.2.4.56', '3.2.4.57', '4.2.2.13', '4.2.2.15', '4.2.2.21', '4.2.2.22', '5.2.2.16', '5.2.2.17'], ['Rejected by the pre-check: balance too low', 'Rejected by the pre-check: limit reached', 'Rejected by the pre-check: routing blocked', 'Gateway did not answer the create request in time', 'No connection to the gateway on create', 'Gateway unavailable on create', 'Gateway answered the create request with something unreadable', 'Gateway refused the create request as malformed', 'Gateway refused our credentials on create (401)', 'Gateway forbade the create request (403)', 'Gateway declined the create request: balance too low', 'Gateway declined the create request: limit reached', 'Gateway declined the create request: currency not accepted', 'Payer failed 3-D Secure', 'Payer failed the one-time password', 'Status check failed: gateway unavailable, payment still processing', 'Status check refused as malformed, payment still processing', 'Status check refused our credentials (401), payment still processing', 'Status check forbidden (403), payment still processing', 'Gateway callback with a signature that does not match, payment still processing', 'Gateway callback with an unreadable payload, payment still processing'], detail), '') AS statusMessage,
    arrayMap(event -> CAST((event.1, toString(toUnixTimestamp64Milli(event.2)), []), 'Tuple(name String, timestamp String, fields Array(Map(String, String)))'), events) AS logs,
    arrayMap(to -> CAST((substring(to, 1, 32), substring(to, 34), []), 'Tuple(traceID String, spanID String, tags Array(Map(String, String)))'), arrayFilter(to -> to != '', [link])) AS references
FROM
(
    SELECT
        gateway, order_type, external_id,
        lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id)), 1, 16))) AS trace_id,
        lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id, '|', formatDateTime(event_time, '%FT%T.%fZ'), '|', action, '|', toString(occurrence))), 1, 8))) AS span_id,
        lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id, '|root')), 1, 8))) AS parent_span_id,
        ifNull(concat('payment ', toString(stage), ' ', toString(result)), concat('payment ', toString(code_format), ' code')) AS name,
        span_start AS started_at,
        event_time AS ended_at,
        ifNull(result = 'FAILURE', 0) AS failed,
        action AS code,
        ifNull(toString(reason_detail), '') AS detail,
        arrayFilter(attribute -> attribute.2 != '', [
            ('payment.gateway', ifNull(toString(gateway), '')),
            ('payment.order_type', ifNull(toString(order_type), '')),
            ('payment.external_id', ifNull(toString(external_id), '')),
            ('payment.external_transaction_id', ifNull(toString(external_transaction_id), '')),
            ('payment.channel', ifNull(toString(channel), '')),
            ('payment.action', ifNull(toString(action), '')),
            ('payment.code_format', ifNull(toString(code_format), '')),
            ('payment.stage', ifNull(toString(stage), '')),
            ('payment.result', ifNull(toString(result), '')),
            ('payment.state', ifNull(toString(state), '')),
            ('payment.reason_code', ifNull(toString(reason_code), '')),
            ('payment.reason_group', ifNull(toString(reason_group), '')),
            ('payment.reason_detail', ifNull(toString(reason_detail), '')),
            ('payment.catalogued', if(action IN ('1.0.0.00', '1.1.1.00', '1.2.4.31', '1.2.4.32', '1.2.4.34', '2.1.1.00', '2.2.4.11', '2.2.4.12', '2.2.4.13', '2.2.4.14', '2.2.4.15', '2.2.4.21', '2.2.4.22', '2.2.4.31', '2.2.4.32', '2.2.4.33', '3.0.1.00', '3.0.1.51', '3.0.1.52', '3.0.1.53', '3.0.4.54', '3.1.1.55', '3.2.4.56', '3.2.4.57', '3.0.1.58', '4.2.2.13', '4.2.2.15', '4.2.2.21', '4.2.2.22', '4.1.3.00', '4.1.4.00', '4.1.4.61', '4.1.4.62', '4.1.4.63', '4.1.4.41', '5.2.2.16', '5.2.2.17', '5.1.3.00', '5.1.3.35', '6.1.1.00'), 'true', 'false')),
            ('payment.occurrence', ifNull(toString(occurrence), '')),
            ('payment.source', ifNull(toString(source), '')),
            ('error.type', if(ifNull(result = 'FAILURE', 0), ifNull(toString(reason_detail), ''), ''))
        ]) AS attributes,
        arrayFilter(event -> event.2 != toDateTime64(0, 6, 'UTC'), [('payment.callback_received', ifNull(callback_at, toDateTime64(0, 6, 'UTC'))), ('payment.item_read', ifNull(observed_at, toDateTime64(0, 6, 'UTC')))]) AS events,
        read_span AS link
    FROM history_events_store FINAL
    UNION ALL
    SELECT
        gateway, order_type, external_id,
        lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id)), 1, 16))) AS trace_id,
        lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id, '|root')), 1, 8))) AS span_id,
        '' AS parent_span_id,
        concat('payment ', toString(order_type)) AS name,
        first_event_at AS started_at,
        last_event_at AS ended_at,
        ifNull(substring(deciding_action, 3, 1) = '2', 0) AS failed,
        ifNull(deciding_action, '') AS code,
        ifNull(toString(reason_detail), '') AS detail,
        arrayFilter(attribute -> attribute.2 != '', [
            ('payment.gateway', ifNull(toString(gateway), '')),
            ('payment.order_type', ifNull(toString(order_type), '')),
            ('payment.external_id', ifNull(toString(external_id), '')),
            ('payment.external_transaction_id', ifNull(toString(external_transaction_id), '')),
            ('payment.channel', ifNull(toString(channel), '')),
            ('payment.reason_group', ifNull(toString(reason_group), '')),
            ('payment.reason_detail', ifNull(toString(reason_detail), '')),
            ('payment.status', ifNull(toString(status), '')),
            ('payment.outcome', ifNull(toString(outcome), '')),
            ('payment.deciding_action', ifNull(toString(deciding_action), '')),
            ('payment.amount', ifNull(toString(amount), '')),
            ('payment.currency', ifNull(toString(currency), '')),
            ('payment.history_items', ifNull(toString(history_items), '')),
            ('payment.closure', ifNull(toString(kind), '')),
            ('error.type', if(ifNull(substring(deciding_action, 3, 1) = '2', 0), ifNull(toString(reason_detail), ''), ''))
        ]) AS attributes,
        arrayFilter(event -> 0, [('', toDateTime64(0, 6, 'UTC'))]) AS events,
        '' AS link
    FROM (
        SELECT *,
            multiIf(settled_at IS NOT NULL, 'settled', abandoned_at IS NOT NULL, 'abandoned', '') AS kind,
            ifNull(created_at, first_seen_at) AS first_event_at,
            coalesce(last_item_at, abandoned_at, first_seen_at) AS last_event_at
        FROM orders
        WHERE created_at IS NOT NULL OR abandoned_at IS NOT NULL
    )
);

-- One row: one exported span: an item, or the root of a closed order.
-- - The table of the OpenTelemetry Collector's ClickHouse exporter, so that what is made for it works here. What the spans say:
--   docs/semantic-conventions.md.
-- - Give a range of `Timestamp`, or a `TraceId`: without either, all that is stored is read. Times have microseconds.
CREATE OR REPLACE VIEW otel_traces
(
    `Timestamp` DateTime64(6, 'UTC') COMMENT 'Start of the span.',
    TraceId String COMMENT '32 hex digits.',
    SpanId String COMMENT '16 hex digits.',
    ParentSpanId String COMMENT 'Id of the root span; empty for the root itself.',
    TraceState String COMMENT 'Empty.',
    SpanName String COMMENT 'Name of the span.',
    SpanKind String COMMENT '`Internal`.',
    ServiceName LowCardinality(String) COMMENT 'The gateway.',
    ResourceAttributes Map(LowCardinality(String), String) COMMENT '`service.name` and `service.namespace`.',
    ScopeName String COMMENT '`gatewatch`.',
    ScopeVersion String COMMENT 'Empty: rows do not keep which version made them.',
    SpanAttributes Map(LowCardinality(String), String) COMMENT 'The attributes, as text.',
    Duration UInt64 COMMENT 'Nanoseconds.',
    StatusCode String COMMENT '`Error` when the operation failed, else `Unset`.',
    StatusMessage String COMMENT 'What the code of a failure means.',
    `Events.Timestamp` Array(DateTime64(6, 'UTC')) COMMENT 'When each span event was.',
    `Events.Name` Array(String) COMMENT 'Its name.',
    `Events.Attributes` Array(Map(LowCardinality(String), String)) COMMENT 'Empty maps.',
    `Links.TraceId` Array(String) COMMENT 'The collector''s own spans that delivered the item: their traces.',
    `Links.SpanId` Array(String) COMMENT 'Their ids.',
    `Links.TraceState` Array(String) COMMENT 'Empty texts.',
    `Links.Attributes` Array(Map(LowCardinality(String), String)) COMMENT 'Empty maps.'
)
AS
SELECT
    started_at AS Timestamp,
    trace_id AS TraceId,
    span_id AS SpanId,
    parent_span_id AS ParentSpanId,
    '' AS TraceState,
    name AS SpanName,
    'Internal' AS SpanKind,
    gateway AS ServiceName,
    CAST(map('service.name', toString(gateway), 'service.namespace', 'gatewatch'), 'Map(LowCardinality(String), String)') AS ResourceAttributes,
    'gatewatch' AS ScopeName,
    '' AS ScopeVersion,
    CAST(attributes, 'Map(LowCardinality(String), String)') AS SpanAttributes,
    toUInt64(dateDiff('microsecond', started_at, ended_at) * 1000) AS Duration,
    if(failed, 'Error', 'Unset') AS StatusCode,
    if(failed, transform(code, ['1.2.4.31', '1.2.4.32', '1.2.4.34', '2.2.4.11', '2.2.4.12', '2.2.4.13', '2.2.4.14', '2.2.4.15', '2.2.4.21', '2.2.4.22', '2.2.4.31', '2.2.4.32', '2.2.4.33', '3.2.4.56', '3.2.4.57', '4.2.2.13', '4.2.2.15', '4.2.2.21', '4.2.2.22', '5.2.2.16', '5.2.2.17'], ['Rejected by the pre-check: balance too low', 'Rejected by the pre-check: limit reached', 'Rejected by the pre-check: routing blocked', 'Gateway did not answer the create request in time', 'No connection to the gateway on create', 'Gateway unavailable on create', 'Gateway answered the create request with something unreadable', 'Gateway refused the create request as malformed', 'Gateway refused our credentials on create (401)', 'Gateway forbade the create request (403)', 'Gateway declined the create request: balance too low', 'Gateway declined the create request: limit reached', 'Gateway declined the create request: currency not accepted', 'Payer failed 3-D Secure', 'Payer failed the one-time password', 'Status check failed: gateway unavailable, payment still processing', 'Status check refused as malformed, payment still processing', 'Status check refused our credentials (401), payment still processing', 'Status check forbidden (403), payment still processing', 'Gateway callback with a signature that does not match, payment still processing', 'Gateway callback with an unreadable payload, payment still processing'], detail), '') AS StatusMessage,
    arrayMap(event -> event.2, events) AS `Events.Timestamp`,
    arrayMap(event -> event.1, events) AS `Events.Name`,
    arrayMap(one -> CAST(map(), 'Map(LowCardinality(String), String)'), events) AS `Events.Attributes`,
    arrayMap(to -> substring(to, 1, 32), arrayFilter(to -> to != '', [link])) AS `Links.TraceId`,
    arrayMap(to -> substring(to, 34), arrayFilter(to -> to != '', [link])) AS `Links.SpanId`,
    arrayMap(to -> '', arrayFilter(to -> to != '', [link])) AS `Links.TraceState`,
    arrayMap(one -> CAST(map(), 'Map(LowCardinality(String), String)'), arrayFilter(to -> to != '', [link])) AS `Links.Attributes`
FROM
(
    SELECT
        gateway, order_type, external_id,
        lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id)), 1, 16))) AS trace_id,
        lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id, '|', formatDateTime(event_time, '%FT%T.%fZ'), '|', action, '|', toString(occurrence))), 1, 8))) AS span_id,
        lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id, '|root')), 1, 8))) AS parent_span_id,
        ifNull(concat('payment ', toString(stage), ' ', toString(result)), concat('payment ', toString(code_format), ' code')) AS name,
        span_start AS started_at,
        event_time AS ended_at,
        ifNull(result = 'FAILURE', 0) AS failed,
        action AS code,
        ifNull(toString(reason_detail), '') AS detail,
        arrayFilter(attribute -> attribute.2 != '', [
            ('payment.gateway', ifNull(toString(gateway), '')),
            ('payment.order_type', ifNull(toString(order_type), '')),
            ('payment.external_id', ifNull(toString(external_id), '')),
            ('payment.external_transaction_id', ifNull(toString(external_transaction_id), '')),
            ('payment.channel', ifNull(toString(channel), '')),
            ('payment.action', ifNull(toString(action), '')),
            ('payment.code_format', ifNull(toString(code_format), '')),
            ('payment.stage', ifNull(toString(stage), '')),
            ('payment.result', ifNull(toString(result), '')),
            ('payment.state', ifNull(toString(state), '')),
            ('payment.reason_code', ifNull(toString(reason_code), '')),
            ('payment.reason_group', ifNull(toString(reason_group), '')),
            ('payment.reason_detail', ifNull(toString(reason_detail), '')),
            ('payment.catalogued', if(action IN ('1.0.0.00', '1.1.1.00', '1.2.4.31', '1.2.4.32', '1.2.4.34', '2.1.1.00', '2.2.4.11', '2.2.4.12', '2.2.4.13', '2.2.4.14', '2.2.4.15', '2.2.4.21', '2.2.4.22', '2.2.4.31', '2.2.4.32', '2.2.4.33', '3.0.1.00', '3.0.1.51', '3.0.1.52', '3.0.1.53', '3.0.4.54', '3.1.1.55', '3.2.4.56', '3.2.4.57', '3.0.1.58', '4.2.2.13', '4.2.2.15', '4.2.2.21', '4.2.2.22', '4.1.3.00', '4.1.4.00', '4.1.4.61', '4.1.4.62', '4.1.4.63', '4.1.4.41', '5.2.2.16', '5.2.2.17', '5.1.3.00', '5.1.3.35', '6.1.1.00'), 'true', 'false')),
            ('payment.occurrence', ifNull(toString(occurrence), '')),
            ('payment.source', ifNull(toString(source), '')),
            ('error.type', if(ifNull(result = 'FAILURE', 0), ifNull(toString(reason_detail), ''), ''))
        ]) AS attributes,
        arrayFilter(event -> event.2 != toDateTime64(0, 6, 'UTC'), [('payment.callback_received', ifNull(callback_at, toDateTime64(0, 6, 'UTC'))), ('payment.item_read', ifNull(observed_at, toDateTime64(0, 6, 'UTC')))]) AS events,
        read_span AS link
    FROM history_events_store FINAL
    UNION ALL
    SELECT
        gateway, order_type, external_id,
        lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id)), 1, 16))) AS trace_id,
        lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id, '|root')), 1, 8))) AS span_id,
        '' AS parent_span_id,
        concat('payment ', toString(order_type)) AS name,
        first_event_at AS started_at,
        last_event_at AS ended_at,
        ifNull(substring(deciding_action, 3, 1) = '2', 0) AS failed,
        ifNull(deciding_action, '') AS code,
        ifNull(toString(reason_detail), '') AS detail,
        arrayFilter(attribute -> attribute.2 != '', [
            ('payment.gateway', ifNull(toString(gateway), '')),
            ('payment.order_type', ifNull(toString(order_type), '')),
            ('payment.external_id', ifNull(toString(external_id), '')),
            ('payment.external_transaction_id', ifNull(toString(external_transaction_id), '')),
            ('payment.channel', ifNull(toString(channel), '')),
            ('payment.reason_group', ifNull(toString(reason_group), '')),
            ('payment.reason_detail', ifNull(toString(reason_detail), '')),
            ('payment.status', ifNull(toString(status), '')),
            ('payment.outcome', ifNull(toString(outcome), '')),
            ('payment.deciding_action', ifNull(toString(deciding_action), '')),
            ('payment.amount', ifNull(toString(amount), '')),
            ('payment.currency', ifNull(toString(currency), '')),
            ('payment.history_items', ifNull(toString(history_items), '')),
            ('payment.closure', ifNull(toString(kind), '')),
            ('error.type', if(ifNull(substring(deciding_action, 3, 1) = '2', 0), ifNull(toString(reason_detail), ''), ''))
        ]) AS attributes,
        arrayFilter(event -> 0, [('', toDateTime64(0, 6, 'UTC'))]) AS events,
        '' AS link
    FROM (
        SELECT *,
            multiIf(settled_at IS NOT NULL, 'settled', abandoned_at IS NOT NULL, 'abandoned', '') AS kind,
            ifNull(created_at, first_seen_at) AS first_event_at,
            coalesce(last_item_at, abandoned_at, first_seen_at) AS last_event_at
        FROM orders
        WHERE settled_at IS NOT NULL OR abandoned_at IS NOT NULL
    )
)
SETTINGS do_not_merge_across_partitions_select_final = 1;

-- One row: one trace: an order of which items are known.
-- - The exporter's look-up beside `otel_traces`. Give a `TraceId`.
CREATE OR REPLACE VIEW otel_traces_trace_id_ts
(
    TraceId String COMMENT '32 hex digits.',
    `Start` DateTime64(6, 'UTC') COMMENT 'Start of the first span.',
    `End` DateTime64(6, 'UTC') COMMENT 'Start of the last span.'
)
AS
SELECT
    lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id)), 1, 16))) AS TraceId,
    min(h.span_start) AS Start,
    max(h.span_start) AS End
FROM history_events_store AS h
GROUP BY gateway, order_type, external_id;
