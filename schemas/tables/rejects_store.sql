-- One row: one thing that fits no other row, with the reason and where to read it again.
-- Written by: the collector.
CREATE TABLE IF NOT EXISTS rejects_store
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    reason LowCardinality(String) COMMENT 'Why; see [the reasons](#reasons-of-rejects).',
    reject_id String COMMENT 'Stable: the same thing read again has the same id.',
    rejected_at DateTime64(6, 'UTC') COMMENT 'When it was rejected.',
    source LowCardinality(String) COMMENT 'Where it came from.',
    field String COMMENT 'The field that is wrong.',
    expected String COMMENT 'What belongs there.',
    received String COMMENT 'What was there, redacted.',
    content String COMMENT 'What identifies it among its like, redacted.',
    topic LowCardinality(String) COMMENT 'Kafka topic to read it again from; empty when it did not come from Kafka.',
    kafka_partition Nullable(Int32) COMMENT 'Kafka partition.',
    kafka_offset Nullable(Int64) COMMENT 'Kafka offset.',
    delivery_id String COMMENT 'Delivery it was part of; may be empty.',
    order_type LowCardinality(Nullable(String)) COMMENT 'Type of the order it concerns, if known.',
    order_id Nullable(String) COMMENT 'Id of that order, if known.',
    collector_id LowCardinality(String) COMMENT 'Which collector this is from.',
    batch_seq UInt64 COMMENT 'Number of the batch that delivered the row, counted by its collector: the source of exports.',
    version UInt64 MATERIALIZED bitNot(toUInt64(toUnixTimestamp64Micro(rejected_at))) COMMENT 'Falls as time rises, so that the first row of an identity wins.',
    INDEX batch_seq_range batch_seq TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (gateway, reason, reject_id)
TTL toDateTime(rejected_at) + toIntervalDay(90)
SETTINGS non_replicated_deduplication_window = 10000;
