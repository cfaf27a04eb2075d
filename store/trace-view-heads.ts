/** Grain, columns and their meaning: how the definitions of the views of payment spans begin. */

export const ORDER_TRACE_HEAD = `-- One row: one span of one order's trace: an item, or the root.
-- - Columns as Grafana's traces panel reads them. Made for single orders: give \`external_id\` or \`traceID\`, and the condition reaches the
--   tables.
-- - The same spans as are exported (docs/semantic-conventions.md). An order that is not closed has a root as well, without
--   \`payment.closure\`, over the items known now.
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
    tags Array(Map(String, String)) COMMENT 'Attributes as maps with \`key\` and \`value\`.',
    serviceTags Array(Map(String, String)) COMMENT 'The service''s attributes.',
    kind String COMMENT '\`Internal\`.',
    statusCode UInt8 COMMENT '2 when the operation failed, else 0.',
    statusMessage String COMMENT 'What the code of a failure means.',
    logs Array(Tuple(name String, timestamp String, fields Array(Map(String, String)))) COMMENT 'Span events; \`timestamp\` in milliseconds since 1970.',
    \`references\` Array(Tuple(traceID String, spanID String, tags Array(Map(String, String)))) COMMENT 'Links to the collector''s own spans.'
)
AS`;

export const OTEL_TRACES_HEAD = `-- One row: one exported span: an item, or the root of a closed order.
-- - The table of the OpenTelemetry Collector's ClickHouse exporter, so that what is made for it works here. What the spans say:
--   docs/semantic-conventions.md.
-- - Give a range of \`Timestamp\`, or a \`TraceId\`: without either, all that is stored is read. Times have microseconds.
CREATE OR REPLACE VIEW otel_traces
(
    \`Timestamp\` DateTime64(6, 'UTC') COMMENT 'Start of the span.',
    TraceId String COMMENT '32 hex digits.',
    SpanId String COMMENT '16 hex digits.',
    ParentSpanId String COMMENT 'Id of the root span; empty for the root itself.',
    TraceState String COMMENT 'Empty.',
    SpanName String COMMENT 'Name of the span.',
    SpanKind String COMMENT '\`Internal\`.',
    ServiceName LowCardinality(String) COMMENT 'The gateway.',
    ResourceAttributes Map(LowCardinality(String), String) COMMENT '\`service.name\` and \`service.namespace\`.',
    ScopeName String COMMENT '\`gatewatch\`.',
    ScopeVersion String COMMENT 'Empty: rows do not keep which version made them.',
    SpanAttributes Map(LowCardinality(String), String) COMMENT 'The attributes, as text.',
    Duration UInt64 COMMENT 'Nanoseconds.',
    StatusCode String COMMENT '\`Error\` when the operation failed, else \`Unset\`.',
    StatusMessage String COMMENT 'What the code of a failure means.',
    \`Events.Timestamp\` Array(DateTime64(6, 'UTC')) COMMENT 'When each span event was.',
    \`Events.Name\` Array(String) COMMENT 'Its name.',
    \`Events.Attributes\` Array(Map(LowCardinality(String), String)) COMMENT 'Empty maps.',
    \`Links.TraceId\` Array(String) COMMENT 'The collector''s own spans that delivered the item: their traces.',
    \`Links.SpanId\` Array(String) COMMENT 'Their ids.',
    \`Links.TraceState\` Array(String) COMMENT 'Empty texts.',
    \`Links.Attributes\` Array(Map(LowCardinality(String), String)) COMMENT 'Empty maps.'
)
AS`;

export const OTEL_TRACE_TIMES_HEAD = `-- One row: one trace: an order of which items are known.
-- - The exporter's look-up beside \`otel_traces\`. Give a \`TraceId\`.
CREATE OR REPLACE VIEW otel_traces_trace_id_ts
(
    TraceId String COMMENT '32 hex digits.',
    \`Start\` DateTime64(6, 'UTC') COMMENT 'Start of the first span.',
    \`End\` DateTime64(6, 'UTC') COMMENT 'Start of the last span.'
)
AS`;
