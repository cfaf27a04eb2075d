-- One row: how far was counted: all rows that were observed, received or judged before `known_to` and stored by then.
-- Written by: payment metrics.
CREATE TABLE IF NOT EXISTS payment_passes_store
(
    known_to DateTime64(6, 'UTC') COMMENT 'Rows before this were counted.',
    counted_at DateTime64(6, 'UTC') COMMENT 'When.'
)
ENGINE = ReplacingMergeTree(counted_at)
ORDER BY known_to
TTL toDateTime(counted_at) + toIntervalDay(8);
