-- Copies laid out by time, for questions about a time range. The tables of 0001 are sorted by order or by content, whose ids are
-- random: a question about six hours had to read, and to fold, all rows of the week.

-- The same items with the same identity, the time in front. Reading a range touches that range only, and parts that do not
-- overlap in time need no folding. The bloom filter keeps single orders findable here too.
CREATE TABLE IF NOT EXISTS history_events_by_time_store
(
    gateway LowCardinality(String),
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2),
    external_id String,
    event_time DateTime64(6, 'UTC'),
    action LowCardinality(String),
    occurrence UInt16,
    external_transaction_id String,
    channel LowCardinality(String),
    code_format Enum8('v2' = 1, 'legacy' = 2, 'unrecognized' = 3),
    stage Nullable(Enum8('INTERNAL' = 1, 'GATEWAY_CREATE' = 2, 'PAYFORM' = 3, 'CHECK' = 4, 'GATEWAY_CALLBACK' = 5, 'MERCHANT_CALLBACK' = 6)),
    result Nullable(Enum8('INFO' = 0, 'SUCCESS' = 1, 'FAILURE' = 2)),
    state Nullable(Enum8('INIT' = 0, 'CREATED' = 1, 'PROCESSING' = 2, 'SUCCESS' = 3, 'FAILED' = 4)),
    reason_code Nullable(UInt8),
    reason_group LowCardinality(Nullable(String)),
    reason_detail LowCardinality(Nullable(String)),
    list_position UInt32,
    span_start DateTime64(6, 'UTC'),
    observed_at DateTime64(6, 'UTC'),
    source LowCardinality(String),
    version UInt64 MATERIALIZED bitNot(toUInt64(toUnixTimestamp64Micro(observed_at))),
    INDEX external_id_filter external_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toMonday(event_time)
ORDER BY (event_time, gateway, order_type, external_id, action, occurrence)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS history_events_to_by_time TO history_events_by_time_store AS
SELECT
    gateway, order_type, external_id, event_time, action, occurrence, external_transaction_id, channel, code_format,
    stage, result, state, reason_code, reason_group, reason_detail, list_position, span_start, observed_at, source
FROM history_events_store;

-- What was there before. Rows that arrive meanwhile come twice and fold into one.
INSERT INTO history_events_by_time_store
    (gateway, order_type, external_id, event_time, action, occurrence, external_transaction_id, channel, code_format,
    stage, result, state, reason_code, reason_group, reason_detail, list_position, span_start, observed_at, source)
SELECT
    gateway, order_type, external_id, event_time, action, occurrence, external_transaction_id, channel, code_format,
    stage, result, state, reason_code, reason_group, reason_detail, list_position, span_start, observed_at, source
FROM history_events_store
SETTINGS max_partitions_per_insert_block = 0;

CREATE OR REPLACE VIEW history_events AS
SELECT
    gateway, order_type, external_id, event_time, action, occurrence, external_transaction_id, channel, code_format,
    stage, result, state, reason_code, reason_group, reason_detail, list_position, span_start, observed_at, source
FROM history_events_by_time_store FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1;

-- When which callback came, about which order. It only narrows what must be read of `callbacks`: a delivery that we read again
-- after a restart stands here once more, later.
CREATE TABLE IF NOT EXISTS callback_arrivals_store
(
    gateway LowCardinality(String),
    received_at DateTime64(6, 'UTC'),
    content_hash FixedString(32),
    order_type LowCardinality(Nullable(String)),
    external_id Nullable(String),
    INDEX external_id_filter external_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toMonday(received_at)
ORDER BY (received_at, gateway, content_hash)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS callback_deliveries_to_arrivals TO callback_arrivals_store AS
SELECT gateway, received_at, content_hash, order_type, external_id
FROM callback_deliveries_store;

INSERT INTO callback_arrivals_store (gateway, received_at, content_hash, order_type, external_id)
SELECT gateway, received_at, content_hash, order_type, external_id
FROM callback_deliveries_store
SETTINGS max_partitions_per_insert_block = 0;

CREATE OR REPLACE VIEW callback_arrivals AS
SELECT gateway, lower(hex(content_hash)) AS content_hash, received_at, order_type, external_id
FROM callback_arrivals_store FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1;
