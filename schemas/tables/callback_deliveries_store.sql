-- One row: one delivery of one callback, at the place where it was read.
-- Written by: the collector, with each callback from Kafka or over HTTP.
-- The place is part of the identity: a producer that repeats a send puts one delivery onto Kafka twice, and each record is accounted for.
-- The view `callbacks` shows the hash as text: the index finds it, 75 ms instead of 0.8 s among 15 million.
CREATE TABLE IF NOT EXISTS callback_deliveries_store
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    content_hash FixedString(32) COMMENT 'SHA-256 over body and signature, 64 hexadecimal digits.',
    delivery_id String COMMENT 'Delivery it was part of; may be empty.' CODEC(ZSTD(1)),
    received_at DateTime64(6, 'UTC') COMMENT 'When it was taken.',
    verdict Enum8('valid' = 1, 'valid_previous_key' = 2, 'mismatch' = 3, 'missing_signature' = 4, 'malformed' = 5) COMMENT 'Verdict on the signature. `malformed`: it could not be read, or had more than one signature.',
    external_id Nullable(String) COMMENT 'Order it speaks of; NULL when malformed.' CODEC(ZSTD(1)),
    status Nullable(String) COMMENT 'Status it claims.' CODEC(ZSTD(1)),
    amount Nullable(String) COMMENT 'Amount it claims, the exact text.' CODEC(ZSTD(1)),
    order_type LowCardinality(Nullable(String)) COMMENT 'Order type it claims.',
    currency LowCardinality(Nullable(String)) COMMENT 'Currency it claims. Not covered by the signature.',
    problem String COMMENT 'What is wrong with it, for people; empty when nothing is. Values are redacted.',
    source LowCardinality(String) COMMENT '`kafka` or `http`.',
    topic LowCardinality(String) COMMENT 'Kafka topic to read it again from; empty when it did not come from Kafka.',
    kafka_partition Nullable(Int32) COMMENT 'Kafka partition.',
    kafka_offset Nullable(Int64) COMMENT 'Kafka offset.' CODEC(ZSTD(1)),
    body_bytes UInt32 COMMENT 'Length of the body in bytes.',
    collector_id LowCardinality(String) COMMENT 'Which collector wrote the row.',
    batch_seq UInt64 COMMENT 'Number of the batch that delivered the row, counted by its collector: the source of exports.' CODEC(ZSTD(1)),
    version UInt64 MATERIALIZED bitNot(toUInt64(toUnixTimestamp64Micro(received_at))) COMMENT 'Falls as time rises, so that the first row of an identity wins.',
    signature_cause LowCardinality(String) DEFAULT if(verdict = 'mismatch', 'not_examined', 'none') COMMENT 'What would make a signature with the verdict `mismatch` verify: a name of [the list](signature-causes.md); `none` with any other verdict. A diagnosis, on which nothing depends.',
    body_seal UInt16 COMMENT 'Whose seal `body_key` is part of (schemas/rows.ts); 0: none is kept.',
    body_key UInt32 COMMENT 'Four bytes of the seal of the body, of final callbacks that verify: deliveries of one body have it in common. 0: not kept.' CODEC(ZSTD(1)),
    INDEX batch_seq_range batch_seq TYPE minmax GRANULARITY 1,
    INDEX content_hash_text lower(hex(content_hash)) TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (gateway, content_hash, delivery_id, topic, ifNull(kafka_partition, -1), ifNull(kafka_offset, -1))
TTL toDateTime(received_at) + toIntervalDay(400)
SETTINGS non_replicated_deduplication_window = 10000;
