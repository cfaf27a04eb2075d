-- The newest report of every hour. Every windowed question asks each collector's newest report about each gateway, and looks a
-- week back for those that are gone: that was a quarter of a million rows. The state is the same however often a report arrives.
CREATE TABLE IF NOT EXISTS gateway_status_hourly_store
(
    gateway LowCardinality(String),
    collector_id LowCardinality(String),
    hour DateTime('UTC'),
    reported_at SimpleAggregateFunction(max, DateTime64(6, 'UTC')),
    watermark AggregateFunction(argMax, DateTime64(6, 'UTC'), DateTime64(6, 'UTC'))
)
ENGINE = AggregatingMergeTree
PARTITION BY toMonday(hour)
ORDER BY (gateway, collector_id, hour)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE MATERIALIZED VIEW IF NOT EXISTS gateway_status_to_hourly TO gateway_status_hourly_store AS
SELECT
    gateway,
    collector_id,
    toStartOfHour(s.reported_at) AS hour,
    max(s.reported_at) AS reported_at,
    argMaxState(s.watermark_at, s.reported_at) AS watermark
FROM gateway_status_store AS s
GROUP BY gateway, collector_id, hour;

INSERT INTO gateway_status_hourly_store (gateway, collector_id, hour, reported_at, watermark)
SELECT
    gateway,
    collector_id,
    toStartOfHour(s.reported_at) AS hour,
    max(s.reported_at) AS reported_at,
    argMaxState(s.watermark_at, s.reported_at) AS watermark
FROM gateway_status_store AS s
GROUP BY gateway, collector_id, hour
SETTINGS max_partitions_per_insert_block = 0;

CREATE OR REPLACE VIEW gateway_status_hourly AS
SELECT
    gateway,
    collector_id,
    hour,
    max(s.reported_at) AS reported_at,
    argMaxMerge(s.watermark) AS watermark_at
FROM gateway_status_hourly_store AS s
GROUP BY gateway, collector_id, hour;
