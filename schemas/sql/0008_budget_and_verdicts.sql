-- What dashboards ask for and could not, or at too high a price: the poll budget, and signature verdicts by time.

-- What polling may use of a gateway and what it uses, in the collectors' reports. 0 for a limit: the report's version did not tell.
ALTER TABLE gateway_status_store
    ADD COLUMN IF NOT EXISTS requests_per_second Float64,
    ADD COLUMN IF NOT EXISTS requests_per_second_limit Float64,
    ADD COLUMN IF NOT EXISTS requests_in_flight UInt32,
    ADD COLUMN IF NOT EXISTS concurrency_limit UInt32;

CREATE OR REPLACE VIEW gateway_status AS
SELECT
    gateway, collector_id, reported_at, watermark_at, watched_orders, due_orders, circuits_open, last_reply_at,
    requests_per_second, requests_per_second_limit, requests_in_flight, concurrency_limit
FROM gateway_status_store FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1;

-- Verdicts by time, in the copy that is there already: a question about six hours of callbacks read the deliveries of all weeks,
-- which are sorted by the hash of their content. The key is the hash's first eight bytes: a content is looked for among all
-- arrivals by it, and what else is needed of it lies together. `unknown`: copied before the verdict was.
ALTER TABLE callback_arrivals_store
    ADD COLUMN IF NOT EXISTS verdict Enum8('unknown' = 0, 'valid' = 1, 'valid_previous_key' = 2, 'mismatch' = 3, 'missing_signature' = 4, 'malformed' = 5),
    ADD COLUMN IF NOT EXISTS content_key UInt64 MATERIALIZED reinterpretAsUInt64(content_hash);

ALTER TABLE callback_deliveries_to_arrivals MODIFY QUERY
SELECT gateway, received_at, content_hash, order_type, external_id, verdict
FROM callback_deliveries_store;

-- What was there before; it replaces the rows without a verdict when the engine folds them.
INSERT INTO callback_arrivals_store (gateway, received_at, content_hash, order_type, external_id, verdict)
SELECT gateway, received_at, content_hash, order_type, external_id, verdict
FROM callback_deliveries_store
SETTINGS max_partitions_per_insert_block = 0;

CREATE OR REPLACE VIEW callback_arrivals AS
SELECT gateway, lower(hex(content_hash)) AS content_hash, received_at, order_type, external_id, content_key
FROM callback_arrivals_store FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1;

CREATE OR REPLACE VIEW callback_verdicts AS
SELECT gateway, lower(hex(hash)) AS content_hash, content_key, verdict, external_id, order_type, first_received_at
FROM
(
    SELECT
        a.gateway AS gateway,
        a.content_hash AS hash,
        a.content_key AS content_key,
        argMaxIf(a.verdict, a.received_at, a.verdict != 'unknown') AS verdict,
        argMax(a.external_id, a.received_at) AS external_id,
        argMax(a.order_type, a.received_at) AS order_type,
        min(a.received_at) AS first_received_at
    FROM callback_arrivals_store AS a
    GROUP BY a.gateway, a.content_hash, a.content_key
);
