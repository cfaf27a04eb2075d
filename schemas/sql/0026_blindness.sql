-- Records that wait in Kafka for a transaction to end.
ALTER TABLE collector_status_store ADD COLUMN IF NOT EXISTS transaction_open_seconds Float64 DEFAULT 0 AFTER consumer_lag;

-- How far a gateway's history is dated from our clock.
ALTER TABLE gateway_status_store ADD COLUMN IF NOT EXISTS clock_skew_seconds Nullable(Float64) AFTER last_reply_at;
