-- One row: what rules count of one order within half a minute.
-- Written by: the evaluation of rules (alerts/evaluate).
-- Only orders that have something a rule counts. The same fact twice changes nothing.
CREATE TABLE IF NOT EXISTS order_marks_store
(
    definition LowCardinality(String) COMMENT 'Which version of the counting made the row: those of others are not read.',
    slot DateTime('UTC') COMMENT 'Start of the half minute.',
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    order_hash UInt64 COMMENT 'Hash of type and id of the order.',
    marks UInt64 COMMENT 'What rules count of it, one bit each.',
    paid_first UInt64 COMMENT 'First item with state SUCCESS.' CODEC(T64, LZ4),
    paid_last UInt64 COMMENT 'Last item with state SUCCESS.' CODEC(T64, LZ4),
    failed_first UInt64 COMMENT 'First item with state FAILED.' CODEC(T64, LZ4),
    failed_last UInt64 COMMENT 'Last item with state FAILED.' CODEC(T64, LZ4),
    confirmed_last UInt64 COMMENT 'Last item of stage MERCHANT_CALLBACK.' CODEC(T64, LZ4),
    keep_long UInt8 COMMENT '1: kept for four days instead of twelve hours.'
)
ENGINE = MergeTree
PARTITION BY toDate(slot)
ORDER BY (definition, keep_long, slot, gateway)
TTL slot + toIntervalHour(12) WHERE keep_long = 0, slot + toIntervalDay(4)
SETTINGS non_replicated_deduplication_window = 1000;
