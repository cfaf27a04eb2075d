-- One row: up to when the facts of one gateway were compared.
-- Written by: the comparison of sources.
CREATE TABLE IF NOT EXISTS findings_frontier
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    judged_to DateTime64(6, 'UTC') COMMENT 'All facts before this were compared.',
    judged_at DateTime64(6, 'UTC') COMMENT 'When that was noted.'
)
ENGINE = ReplacingMergeTree(judged_at)
ORDER BY gateway
SETTINGS non_replicated_deduplication_window = 100;
