-- What payment spans say beyond the item and the outcome (schemas/span-contract.ts), and how a trace is found by its id or by time.

-- By which read an item came: when the verified callback was received that asked for it, and the collector's own span of the read where that
-- one is exported, as `traceId-spanId`. Rows of before have neither.
--
-- The id of an order's trace is a hash of its identity. The index holds the hash, so that a condition on it reads a few granules; `span_start`
-- is when a span begins, which the table by time is not sorted by.
ALTER TABLE history_events_store
    ADD COLUMN IF NOT EXISTS callback_at Nullable(DateTime64(6, 'UTC')) CODEC(Delta(8), ZSTD(1)),
    ADD COLUMN IF NOT EXISTS read_span String CODEC(ZSTD(1)),
    ADD INDEX IF NOT EXISTS trace_id_filter lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id)), 1, 16))) TYPE bloom_filter(0.001) GRANULARITY 1;

ALTER TABLE history_events_by_time_store
    ADD COLUMN IF NOT EXISTS callback_at Nullable(DateTime64(6, 'UTC')) CODEC(Delta(8), ZSTD(1)),
    ADD COLUMN IF NOT EXISTS read_span String CODEC(ZSTD(1)),
    ADD INDEX IF NOT EXISTS trace_id_filter lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id)), 1, 16))) TYPE bloom_filter(0.01) GRANULARITY 1,
    ADD INDEX IF NOT EXISTS span_start_range span_start TYPE minmax GRANULARITY 1;

ALTER TABLE history_events_to_by_time MODIFY QUERY
SELECT
    gateway, order_type, external_id, event_time, action, occurrence, external_transaction_id, channel, code_format,
    stage, result, state, reason_code, reason_group, reason_detail, list_position, span_start, observed_at, source,
    callback_at, read_span
FROM history_events_store;

-- What was known of the order when it was closed.
ALTER TABLE settlements_store
    ADD COLUMN IF NOT EXISTS deciding_action Nullable(String) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS amount Nullable(Decimal(38, 9)) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS currency LowCardinality(Nullable(String)),
    ADD INDEX IF NOT EXISTS trace_id_filter lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id)), 1, 16))) TYPE bloom_filter(0.001) GRANULARITY 1;

-- The same closed orders by the start of their root span, for questions about a time range.
CREATE TABLE IF NOT EXISTS settlements_by_time_store
(
    gateway LowCardinality(String),
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2),
    external_id String CODEC(ZSTD(1)),
    settled_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    kind Enum8('settled' = 1, 'abandoned' = 2),
    status LowCardinality(Nullable(String)),
    outcome LowCardinality(Nullable(String)),
    reason_group LowCardinality(Nullable(String)),
    reason_detail LowCardinality(Nullable(String)),
    history_items UInt32,
    external_transaction_id String CODEC(ZSTD(1)),
    channel LowCardinality(String),
    first_event_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    last_event_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    deciding_action LowCardinality(Nullable(String)),
    amount Nullable(Decimal(38, 9)) CODEC(ZSTD(1)),
    currency LowCardinality(Nullable(String)),
    version UInt64 MATERIALIZED bitNot(toUInt64(toUnixTimestamp64Micro(settled_at))),
    INDEX trace_id_filter lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id)), 1, 16))) TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toMonday(first_event_at)
ORDER BY (first_event_at, gateway, order_type, external_id)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS settlements_to_by_time TO settlements_by_time_store AS
SELECT
    gateway, order_type, external_id, settled_at, kind, status, outcome, reason_group, reason_detail, history_items,
    external_transaction_id, channel, first_event_at, last_event_at, deciding_action, amount, currency
FROM settlements_store;

-- What was there before. Rows that arrive meanwhile come twice and fold into one.
INSERT INTO settlements_by_time_store
    (gateway, order_type, external_id, settled_at, kind, status, outcome, reason_group, reason_detail, history_items,
    external_transaction_id, channel, first_event_at, last_event_at, deciding_action, amount, currency)
SELECT
    gateway, order_type, external_id, settled_at, kind, status, outcome, reason_group, reason_detail, history_items,
    external_transaction_id, channel, first_event_at, last_event_at, deciding_action, amount, currency
FROM settlements_store
SETTINGS max_partitions_per_insert_block = 0;

ALTER TABLE history_events_store MATERIALIZE INDEX trace_id_filter SETTINGS mutations_sync = 0;

ALTER TABLE history_events_by_time_store MATERIALIZE INDEX trace_id_filter SETTINGS mutations_sync = 0;

ALTER TABLE history_events_by_time_store MATERIALIZE INDEX span_start_range SETTINGS mutations_sync = 0;

ALTER TABLE settlements_store MATERIALIZE INDEX trace_id_filter SETTINGS mutations_sync = 0;
