-- What the collector did, refused and reports about itself and its gateways.

-- The requests about one order are found by an index, which FINAL widens to all that lies at the same time, in case another version of a row
-- says otherwise (`use_skip_indexes_if_final_exact_mode`): 1.3 s among 57 million, 0.06 without. A request that stands here twice says the
-- same twice.
CREATE OR REPLACE VIEW polls AS
SELECT
    gateway, started_at, poll_id, endpoint, order_type, order_id, id_kind, cause, http_status, outcome, error_type,
    duration_ms, lateness_ms, reply_bytes, items, new_items, refused_items, anomaly, missing_items, missing_item,
    brought, collector_id
FROM polls_store FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1, use_skip_indexes_if_final_exact_mode = 0;

CREATE OR REPLACE VIEW rejects AS
SELECT
    gateway, reason, reject_id, rejected_at, source, field, expected, received, content, topic, kafka_partition,
    kafka_offset, delivery_id, order_type, order_id, collector_id, resolved.resolved_at AS resolved_at,
    resolved.resolution AS resolution
FROM
(
    SELECT *
    FROM rejects_store FINAL
) AS r
LEFT JOIN
(
    SELECT gateway, reason, reject_id, toNullable(max(s.resolved_at)) AS resolved_at,
        toNullable(toString(argMax(s.resolution, s.resolved_at))) AS resolution
    FROM reject_resolutions_store AS s
    GROUP BY gateway, reason, reject_id
) AS resolved USING (gateway, reason, reject_id);

CREATE OR REPLACE VIEW watch_requests AS
SELECT
    gateway, received_at, request_id, order_type, id_kind, order_id, channel, amount, currency, source, topic,
    kafka_partition, kafka_offset, collector_id
FROM watch_requests_store FINAL;

CREATE OR REPLACE VIEW collector_status AS
SELECT
    collector_id, reported_at, version, started_at, consumer_lag, transaction_open_seconds, last_progress_at,
    watched_orders, due_orders, lateness_p99_ms, circuits_open, rejects_total, duplicates_total, retries_total,
    spans_exported_total, span_backlog, memory_bytes
FROM collector_status_store FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1;

CREATE OR REPLACE VIEW gateway_status AS
SELECT
    gateway, collector_id, reported_at, watermark_at, watched_orders, due_orders, circuits_open, last_reply_at,
    clock_skew_seconds, requests_per_second, requests_per_second_limit, requests_in_flight, concurrency_limit
FROM gateway_status_store FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1;

-- The newest report of every hour.
CREATE OR REPLACE VIEW gateway_status_hourly AS
SELECT
    gateway,
    collector_id,
    hour,
    max(s.reported_at) AS reported_at,
    argMaxMerge(s.watermark) AS watermark_at
FROM gateway_status_hourly_store AS s
GROUP BY gateway, collector_id, hour;

CREATE OR REPLACE VIEW annotations AS
SELECT annotation_id, starts_at, ends_at, gateway, title, text, tags
FROM annotations_store FINAL;

-- What the store keeps, now. A reader does not see the tables themselves.
CREATE OR REPLACE VIEW store_tables AS
SELECT database, name, assumeNotNull(total_rows) AS stored_rows, assumeNotNull(total_bytes) AS stored_bytes
FROM system.tables
WHERE database != 'system' AND total_bytes > 0;
