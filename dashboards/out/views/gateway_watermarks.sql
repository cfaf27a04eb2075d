-- Generated from the measures by "npm run generate"; a collector applies it when it starts.
CREATE OR REPLACE VIEW gateway_watermarks AS
SELECT toString(gateway) AS gateway, max(newest) AS watermark
FROM
(
  SELECT gateway, argMaxMerge(s.watermark) AS newest
  FROM gateway_status_hourly_store AS s
  WHERE hour > now64(6) - INTERVAL 608400 SECOND AND hour <= now64(6)
  GROUP BY gateway, collector_id
  HAVING max(s.reported_at) > now64(6) - INTERVAL 604800 SECOND
)
GROUP BY gateway
ORDER BY gateway;
