-- One row: one order that was read to its end, or given up: the source of root spans.
-- Written by: the collector.
-- The first row wins.
CREATE TABLE IF NOT EXISTS settlements_store
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2) COMMENT 'Type of the order.',
    external_id String COMMENT 'The order''s id in the service.',
    settled_at DateTime64(6, 'UTC') COMMENT 'When it was settled or given up.',
    kind Enum8('settled' = 1, 'abandoned' = 2) COMMENT 'Which of both.',
    status Nullable(String) COMMENT 'Status of its last reply.',
    outcome LowCardinality(Nullable(String)) COMMENT 'What became of it.',
    reason_group LowCardinality(Nullable(String)) COMMENT 'Its group.',
    reason_detail LowCardinality(Nullable(String)) COMMENT 'Its name.',
    history_items UInt32 COMMENT 'Items of its history.',
    external_transaction_id String COMMENT 'The merchant''s own id of the payment; empty when not known.',
    channel LowCardinality(String) COMMENT 'The channel that a watch message named; empty when none did. The code does not carry it.',
    first_event_at DateTime64(6, 'UTC') COMMENT 'Time of its first item: the start of the root span.',
    last_event_at DateTime64(6, 'UTC') COMMENT 'Time of its last item: the end of the root span.',
    collector_id LowCardinality(String) COMMENT 'Which collector wrote the row.',
    batch_seq UInt64 COMMENT 'Number of the batch that delivered the row, counted by its collector: the source of exports.',
    version UInt64 MATERIALIZED bitNot(toUInt64(toUnixTimestamp64Micro(settled_at))) COMMENT 'Falls as time rises, so that the first row of an identity wins.',
    deciding_action Nullable(String) COMMENT 'Code of the deciding item: the latest one with the state SUCCESS or FAILED.' CODEC(ZSTD(1)),
    amount Nullable(Decimal(38, 9)) COMMENT 'Amount in units of `currency`, exact; a status reply beats a watch message, which beats a callback. A tail such as that of 29.949999999999999 is rounded to the currency. NULL where nobody named one, and where the best source named one that cannot be kept: see `rejects`, reason `field_unreadable`.' CODEC(ZSTD(1)),
    currency LowCardinality(Nullable(String)) COMMENT 'Currency code in upper case; NULL when nobody named one.',
    INDEX batch_seq_range batch_seq TYPE minmax GRANULARITY 1,
    INDEX trace_id_filter lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id)), 1, 16))) TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (gateway, order_type, external_id)
TTL toDateTime(settled_at) + toIntervalDay(400)
SETTINGS non_replicated_deduplication_window = 10000;
