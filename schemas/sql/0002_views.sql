-- The public API. Column docs: docs/reference/views.md.

CREATE OR REPLACE VIEW history_events AS
SELECT
    gateway, order_type, external_id, event_time, action, occurrence, external_transaction_id, channel, code_format,
    stage, result, state, reason_code, reason_group, reason_detail, list_position, span_start, observed_at, source
FROM history_events_store FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1;

CREATE OR REPLACE VIEW orders AS
SELECT
    gateway,
    order_type,
    external_id,
    external_transaction_id,
    channel,
    reply_now.status AS status,
    amount_now AS amount,
    currency_now AS currency,
    if(currency IS NULL, NULL, transform(bitShiftRight(currency_rank, 56), [1, 2, 3], ['callback', 'watch', 'status'], '')) AS currency_source,
    reply_now.outcome AS outcome,
    reply_now.deciding_action AS deciding_action,
    reply_now.reason_code AS reason_code,
    reply_now.reason_group AS reason_group,
    reply_now.reason_detail AS reason_detail,
    reply_now.history_items AS history_items,
    first_seen_at,
    reply_now.created_at AS created_at,
    reply_now.final_at AS final_at,
    settled_at,
    abandoned_at,
    last_reply_at
FROM
(
    SELECT
        gateway, order_type, external_id,
        max(s.external_transaction_id) AS external_transaction_id,
        max(s.channel) AS channel,
        min(s.first_seen_at) AS first_seen_at,
        max(s.last_reply_at) AS last_reply_at,
        max(s.settled_at) AS settled_at,
        max(s.abandoned_at) AS abandoned_at,
        argMaxIfMerge(s.reply) AS reply_now,
        argMaxIfMerge(s.amount_fact) AS amount_now,
        argMaxIfMerge(s.currency_fact) AS currency_now,
        max(s.currency_rank) AS currency_rank
    FROM orders_store AS s
    GROUP BY gateway, order_type, external_id
);

CREATE OR REPLACE VIEW callbacks AS
SELECT
    gateway,
    lower(hex(content_hash)) AS content_hash,
    argMax(d.verdict, d.received_at) AS verdict,
    argMax(d.external_id, d.received_at) AS external_id,
    argMax(d.status, d.received_at) AS status,
    argMax(d.amount, d.received_at) AS amount,
    argMax(d.order_type, d.received_at) AS order_type,
    argMax(d.currency, d.received_at) AS currency,
    argMax(d.problem, d.received_at) AS problem,
    argMax(d.source, d.received_at) AS source,
    min(d.received_at) AS first_received_at,
    max(d.received_at) AS last_received_at,
    uniqExact(d.delivery_id) AS deliveries
FROM callback_deliveries_store AS d
GROUP BY gateway, content_hash;

CREATE OR REPLACE VIEW polls AS
SELECT
    gateway, started_at, poll_id, endpoint, order_type, order_id, id_kind, cause, http_status, outcome, error_type,
    duration_ms, lateness_ms, reply_bytes, items, new_items, refused_items, anomaly, collector_id
FROM polls_store FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1;

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
    collector_id, reported_at, version, started_at, consumer_lag, last_progress_at, watched_orders, due_orders,
    lateness_p99_ms, circuits_open, rejects_total, duplicates_total, retries_total, spans_exported_total, span_backlog,
    memory_bytes
FROM collector_status_store FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1;

CREATE OR REPLACE VIEW gateway_status AS
SELECT
    gateway, collector_id, reported_at, watermark_at, watched_orders, due_orders, circuits_open, last_reply_at
FROM gateway_status_store FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1;

CREATE OR REPLACE VIEW annotations AS
SELECT annotation_id, starts_at, ends_at, gateway, title, text, tags
FROM annotations_store FINAL;
