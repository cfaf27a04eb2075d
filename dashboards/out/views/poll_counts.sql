-- Generated from the measures by "npm run generate"; a collector applies it when it starts.
CREATE OR REPLACE VIEW poll_counts AS
WITH
  (SELECT argMax((kept_from, kept_to, known_to), written_at) FROM order_quarters_frontier WHERE definition = 'polls-8b43d3c3') AS frontier,
  greatest(frontier.1, toDateTime(intDiv(toUnixTimestamp64Micro({from:DateTime64(6, 'UTC')}) + 899999999, 900000000) * 900, 'UTC')) AS kept_begin,
  if({step:UInt32} % 900 = 0, greatest(kept_begin, least(frontier.2, toStartOfFifteenMinutes({to:DateTime64(6, 'UTC')}))), kept_begin) AS kept_end,
  (SELECT groupUniqArray(toStartOfFifteenMinutes(started_at)) FROM polls_store WHERE started_at >= kept_begin AND started_at < kept_end AND stored_at > frontier.3) AS late
SELECT toStartOfInterval(quarter, toIntervalSecond({step:UInt32})) AS step_begin, gateway, order_type, outcome, requests, durations, lateness
FROM poll_quarters_store FINAL
WHERE definition = 'polls-8b43d3c3' AND quarter >= kept_begin AND quarter < kept_end AND quarter NOT IN (SELECT arrayJoin(late))
UNION ALL
SELECT toStartOfInterval(toDateTime(started_at), toIntervalSecond({step:UInt32})) AS step_begin, gateway, order_type, outcome, count() AS requests, quantilesDDState(0.01, 0.5, 0.95)(duration_ms) AS durations, quantilesDDState(0.01, 0.5, 0.95)(lateness_ms) AS lateness
FROM polls_store FINAL
WHERE started_at >= {from:DateTime64(6, 'UTC')} AND started_at < {to:DateTime64(6, 'UTC')} AND (started_at < kept_begin OR started_at >= kept_end OR toStartOfFifteenMinutes(started_at) IN (SELECT arrayJoin(late)))
GROUP BY step_begin, gateway, order_type, outcome
SETTINGS do_not_merge_across_partitions_select_final = 1;
