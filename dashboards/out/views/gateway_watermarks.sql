-- Generated from the measures by "npm run generate"; a collector applies it when it starts.
CREATE OR REPLACE VIEW gateway_watermarks AS
SELECT gateway, max(newest) AS watermark
FROM
(
  SELECT toString(gateway) AS gateway, argMax(watermark_at, reported_at) AS newest
  FROM
  (
    SELECT gateway, collector_id, reported_at, watermark_at
    FROM gateway_status_hourly
    WHERE hour > now64(6) - INTERVAL 608400 SECOND AND hour <= toStartOfHour(toDateTime64(now64(6), 6, 'UTC'))
  )
  WHERE reported_at > now64(6) - INTERVAL 604800 SECOND
  GROUP BY gateway, collector_id
)
GROUP BY gateway
ORDER BY gateway;
