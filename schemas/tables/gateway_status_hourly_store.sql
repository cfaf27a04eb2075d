-- One row: the newest report of one collector about one gateway within one hour.
-- Written by: the materialized view below, from gateway_status_store.
-- Every question about a window asks for the newest report of each collector, and looks a week back for those that are gone: a quarter of
-- a million rows otherwise. Until a merge a row for each report stands here: ask for the newest.
CREATE TABLE IF NOT EXISTS gateway_status_hourly_store
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    collector_id LowCardinality(String) COMMENT 'Which collector this is from.',
    hour DateTime('UTC') COMMENT 'Start of the hour.',
    reported_at DateTime64(6, 'UTC') COMMENT 'When the newest report was made: the version of the row.',
    watermark_at DateTime64(6, 'UTC') COMMENT 'The instant up to which the picture of this gateway was complete.'
)
ENGINE = ReplacingMergeTree(reported_at)
PARTITION BY toMonday(hour)
ORDER BY (gateway, collector_id, hour)
TTL toDateTime(hour) + toIntervalDay(30)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE MATERIALIZED VIEW IF NOT EXISTS gateway_status_to_hourly TO gateway_status_hourly_store AS
SELECT
    gateway,
    collector_id,
    toStartOfHour(reported_at) AS hour,
    reported_at,
    watermark_at
FROM gateway_status_store;
