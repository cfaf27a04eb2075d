-- One row: one request to watch an order that was taken: a message of the watch topic, or an entry of `POST /orders`.
-- Written by: the collector.
CREATE TABLE IF NOT EXISTS watch_requests_store
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    received_at DateTime64(6, 'UTC') COMMENT 'When it was taken.',
    request_id String COMMENT 'Identity; for Kafka where it was read, so that a re-read counts once.',
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2) COMMENT 'Type of the order.',
    id_kind Enum8('external-id' = 1, 'transaction-id' = 2) COMMENT 'Which of the two ids it names.',
    order_id String COMMENT 'That id.',
    channel LowCardinality(String) COMMENT 'The channel that it names; may be empty.',
    amount Nullable(String) COMMENT 'The amount that it names, as text.',
    currency LowCardinality(Nullable(String)) COMMENT 'The currency that it names.',
    source LowCardinality(String) COMMENT '`kafka`, `http` or `backfill`.',
    topic LowCardinality(String) COMMENT 'Kafka topic; empty when it did not come from Kafka.',
    kafka_partition Nullable(Int32) COMMENT 'Kafka partition.',
    kafka_offset Nullable(Int64) COMMENT 'Kafka offset.',
    collector_id LowCardinality(String) COMMENT 'Which collector this is from.',
    batch_seq UInt64 COMMENT 'Number of the batch that delivered the row, counted by its collector: the source of exports.',
    version UInt64 MATERIALIZED bitNot(toUInt64(toUnixTimestamp64Micro(received_at))) COMMENT 'Falls as time rises, so that the first row of an identity wins.',
    INDEX batch_seq_range batch_seq TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (gateway, order_id, request_id)
TTL toDateTime(received_at) + toIntervalDay(400)
SETTINGS non_replicated_deduplication_window = 10000;
