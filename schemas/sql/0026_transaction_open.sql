-- Records that wait in Kafka for a transaction to end.
ALTER TABLE collector_status_store ADD COLUMN IF NOT EXISTS transaction_open_seconds Float64 DEFAULT 0 AFTER consumer_lag;
