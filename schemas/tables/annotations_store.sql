-- One row: one note, such as a deployment.
-- Written by: the collector, for `POST /annotations`.
CREATE TABLE IF NOT EXISTS annotations_store
(
    annotation_id String COMMENT 'Identity.',
    starts_at DateTime64(6, 'UTC') COMMENT 'Begin.',
    ends_at Nullable(DateTime64(6, 'UTC')) COMMENT 'End; NULL for a single instant.',
    gateway LowCardinality(String) COMMENT 'The gateway it concerns; empty for all.',
    title String COMMENT 'Headline.',
    text String COMMENT 'More.',
    tags Array(String) COMMENT 'Tags.'
)
ENGINE = ReplacingMergeTree
ORDER BY annotation_id
TTL toDateTime(starts_at) + toIntervalDay(400)
SETTINGS non_replicated_deduplication_window = 1000;
