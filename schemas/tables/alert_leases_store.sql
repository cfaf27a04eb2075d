-- One row: one collector that wants to evaluate, renewed while it does.
-- Written by: the evaluator.
CREATE TABLE IF NOT EXISTS alert_leases_store
(
    holder String COMMENT 'Which collector, and which run of it.',
    notifies UInt8 COMMENT 'Whether it notifies receivers: it goes before one that does not.',
    taken_at DateTime64(6, 'UTC') COMMENT 'Since when it wants to evaluate.',
    renewed_at DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC') COMMENT 'When it said so last, by the store''s clock.'
)
ENGINE = ReplacingMergeTree(renewed_at)
ORDER BY (holder, taken_at)
SETTINGS non_replicated_deduplication_window = 100;
