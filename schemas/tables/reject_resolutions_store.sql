-- One row: one reject that was set right: stored on a later attempt, or its order was read again without fault.
-- Written by: the collector and `gatewatch redrive`.
CREATE TABLE IF NOT EXISTS reject_resolutions_store
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    reason LowCardinality(String) COMMENT 'Its reason.',
    reject_id String COMMENT 'Which reject.',
    resolved_at DateTime64(6, 'UTC') COMMENT 'When.',
    resolution Enum8('stored' = 1, 'read_again' = 2) COMMENT '`stored`: the record went in on a later attempt; `read_again`: the order was read without fault.'
)
ENGINE = ReplacingMergeTree
ORDER BY (gateway, reason, reject_id)
TTL toDateTime(resolved_at) + toIntervalDay(90)
SETTINGS non_replicated_deduplication_window = 10000;
