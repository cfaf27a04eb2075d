-- Generated from the measures by "npm run generate"; a collector applies it when it starts.
-- One row: one gateway that a collector reported on within the last week.
-- - As known now: measures of a gateway go no further. Of several collectors, the one that sees furthest counts.
CREATE OR REPLACE VIEW gateway_watermarks
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    watermark DateTime64(6, 'UTC') COMMENT 'Up to when our picture of the gateway is complete.'
)
AS
SELECT toString(gateway) AS gateway, max(newest) AS watermark
FROM
(
  SELECT gateway, argMax(watermark_at, reported_at) AS newest
  FROM gateway_status_hourly_store
  WHERE hour > now64(6) - INTERVAL 608400 SECOND AND hour <= now64(6)
  GROUP BY gateway, collector_id
  HAVING max(reported_at) > now64(6) - INTERVAL 604800 SECOND
)
GROUP BY gateway
ORDER BY gateway;
