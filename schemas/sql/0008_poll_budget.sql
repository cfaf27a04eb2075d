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
