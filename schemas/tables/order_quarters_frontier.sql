-- One row: how far order_quarters_store goes: all items of this time that were stored by `known_to` are in it.
-- Written by: alerts/evaluate/quarter-keeper.ts.
CREATE TABLE IF NOT EXISTS order_quarters_frontier
(
    definition LowCardinality(String) COMMENT 'Which version of the counting made the row: those of others are not read.',
    kept_from DateTime('UTC') COMMENT 'Start of the time that is counted.',
    kept_to DateTime('UTC') COMMENT 'Its end.',
    known_to DateTime('UTC') COMMENT 'Items stored by then are in it.',
    written_at DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC') COMMENT 'When that was noted.'
)
ENGINE = ReplacingMergeTree(written_at)
ORDER BY definition
SETTINGS non_replicated_deduplication_window = 1000;
