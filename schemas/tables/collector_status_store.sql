-- One row: one report of one collector about itself, every 15 seconds.
-- Written by: the collector.
CREATE TABLE IF NOT EXISTS collector_status_store
(
    collector_id LowCardinality(String) COMMENT 'Which collector this is from.',
    reported_at DateTime64(6, 'UTC') COMMENT 'When it reported.',
    version LowCardinality(String) COMMENT 'Version of gatewatch.',
    started_at DateTime64(6, 'UTC') COMMENT 'When the process started.',
    consumer_lag UInt64 COMMENT 'Kafka records not consumed yet.',
    transaction_open_seconds Float64 DEFAULT 0 COMMENT 'How long the oldest transaction that some of them wait for has been open, in seconds; 0: none do.',
    last_progress_at DateTime64(6, 'UTC') COMMENT 'When an input was last taken to its acknowledgement.',
    watched_orders UInt32 COMMENT 'Orders it polls.',
    due_orders UInt32 COMMENT 'Orders whose next poll is due and has not begun.',
    lateness_p99_ms Float64 COMMENT '99th percentile of how late polls began, in milliseconds.',
    circuits_open UInt16 COMMENT 'Credentials and endpoints that polling spares.',
    rejects_total UInt64 COMMENT 'Rejects.',
    duplicates_total UInt64 COMMENT 'Repetitions that caused no second row.',
    retries_total UInt64 COMMENT 'Insert attempts that were repeated.',
    spans_exported_total UInt64 COMMENT 'Payment spans that the OTLP receiver accepted.',
    span_backlog UInt64 COMMENT 'Batches whose payment spans are not exported yet.',
    memory_bytes UInt64 COMMENT 'Memory of the collector without the embedded engine, in bytes.'
)
ENGINE = ReplacingMergeTree
PARTITION BY toMonday(reported_at)
ORDER BY (collector_id, reported_at)
TTL toDateTime(reported_at) + toIntervalDay(30)
SETTINGS non_replicated_deduplication_window = 1000;
