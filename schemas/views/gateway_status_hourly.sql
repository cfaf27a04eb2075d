-- One row: one hour of what one collector reported of one gateway.
-- - The newest report of the hour. For the watermark at an instant within an hour ask `gateway_status`.
CREATE OR REPLACE VIEW gateway_status_hourly
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    collector_id LowCardinality(String) COMMENT 'Which collector this is from.',
    hour DateTime('UTC') COMMENT 'Begin of the hour.',
    reported_at DateTime64(6, 'UTC') COMMENT 'The newest report of the hour.',
    watermark_at DateTime64(6, 'UTC') COMMENT 'Its watermark: up to when our picture of the gateway was complete.'
)
AS
SELECT
    gateway,
    collector_id,
    hour,
    reported_at,
    watermark_at
FROM gateway_status_hourly_store FINAL;
