-- One row: one order that was read to its end, or given up.
-- Written by: the materialized view below, from settlements_store.
-- Sorted by the start of the root span, for questions about a range of time.
CREATE TABLE IF NOT EXISTS settlements_by_time_store
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2) COMMENT 'Type of the order.',
    external_id String COMMENT 'The order''s id in the service.' CODEC(ZSTD(1)),
    settled_at DateTime64(6, 'UTC') COMMENT 'When it was settled or given up.' CODEC(Delta(8), ZSTD(1)),
    kind Enum8('settled' = 1, 'abandoned' = 2) COMMENT 'Which of both.',
    status LowCardinality(Nullable(String)) COMMENT 'Status of its last reply.',
    outcome LowCardinality(Nullable(String)) COMMENT 'What became of it.',
    reason_group LowCardinality(Nullable(String)) COMMENT 'Its group.',
    reason_detail LowCardinality(Nullable(String)) COMMENT 'Its name.',
    history_items UInt32 COMMENT 'Items of its history.',
    external_transaction_id String COMMENT 'The merchant''s own id of the payment; empty when not known.' CODEC(ZSTD(1)),
    channel LowCardinality(String) COMMENT 'The channel that a watch message named; empty when none did. The code does not carry it.',
    first_event_at DateTime64(6, 'UTC') COMMENT 'Time of its first item: the start of the root span.' CODEC(Delta(8), ZSTD(1)),
    last_event_at DateTime64(6, 'UTC') COMMENT 'Time of its last item: the end of the root span.' CODEC(Delta(8), ZSTD(1)),
    deciding_action LowCardinality(Nullable(String)) COMMENT 'Code of the deciding item: the latest one with the state SUCCESS or FAILED.',
    amount Nullable(Decimal(38, 9)) COMMENT 'Amount in units of `currency`, exact; a status reply beats a watch message, which beats a callback. A tail such as that of 29.949999999999999 is rounded to the currency. NULL where nobody named one, and where the best source named one that cannot be kept: see `rejects`, reason `field_unreadable`.' CODEC(ZSTD(1)),
    currency LowCardinality(Nullable(String)) COMMENT 'Currency code in upper case; NULL when nobody named one.',
    version UInt64 MATERIALIZED bitNot(toUInt64(toUnixTimestamp64Micro(settled_at))) COMMENT 'Falls as time rises, so that the first row of an identity wins.',
    INDEX trace_id_filter lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id)), 1, 16))) TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toMonday(first_event_at)
ORDER BY (first_event_at, gateway, order_type, external_id)
TTL toDateTime(settled_at) + toIntervalDay(400)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS settlements_to_by_time TO settlements_by_time_store AS
SELECT
    gateway, order_type, external_id, settled_at, kind, status, outcome, reason_group, reason_detail, history_items,
    external_transaction_id, channel, first_event_at, last_event_at, deciding_action, amount, currency
FROM settlements_store;
