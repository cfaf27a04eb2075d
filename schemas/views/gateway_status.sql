-- One row: one report of one collector about one gateway, every 15 seconds.
-- - Windows of measures end at the watermark: a gateway that we cannot see keeps its last value instead of looking healthy.
CREATE OR REPLACE VIEW gateway_status
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    collector_id LowCardinality(String) COMMENT 'Which collector this is from.',
    reported_at DateTime64(6, 'UTC') COMMENT 'When it was reported.',
    watermark_at DateTime64(6, 'UTC') COMMENT 'The instant up to which the picture of this gateway is complete.',
    watched_orders UInt32 COMMENT 'Orders of this gateway that the collector polls.',
    due_orders UInt32 COMMENT 'Of these, orders whose next poll is due and has not begun.',
    circuits_open UInt16 COMMENT 'Open circuits of this gateway.',
    last_reply_at Nullable(DateTime64(6, 'UTC')) COMMENT 'When the gateway last answered; NULL when it never did.',
    clock_skew_seconds Nullable(Float64) COMMENT 'How far the history is dated ahead of our clock, or behind it (negative); 0: by nothing that can be measured, NULL: unknown.',
    requests_per_second Float64 COMMENT 'Status requests a second that the collector began since its report before.',
    requests_per_second_limit Float64 COMMENT 'As many as its configuration allows; 0 in reports of versions that did not say.',
    requests_in_flight UInt32 COMMENT 'Status requests that waited for an answer at the report.',
    concurrency_limit UInt32 COMMENT 'As many as its configuration allows; 0 in reports of versions that did not say.'
)
AS
SELECT
    gateway, collector_id, reported_at, watermark_at, watched_orders, due_orders, circuits_open, last_reply_at,
    clock_skew_seconds, requests_per_second, requests_per_second_limit, requests_in_flight, concurrency_limit
FROM gateway_status_store FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1;
