-- Bytes on disk: nearly all of a stored item is times and ids. Times of neighbouring rows differ little, and those of gateways are whole
-- milliseconds; ids are digits. Measured with 500,000 items and what comes with them: a third less, for 3 us of processor time an item. It is
-- not worth it for deliveries, whose hashes nothing makes smaller. What is stored already is packed anew when it is merged.

ALTER TABLE history_events_store
    MODIFY COLUMN event_time CODEC(GCD, Delta(8), ZSTD(1)),
    MODIFY COLUMN span_start CODEC(GCD, Delta(8), ZSTD(1)),
    MODIFY COLUMN observed_at CODEC(Delta(8), ZSTD(1)),
    MODIFY COLUMN version CODEC(Delta(8), ZSTD(1)),
    MODIFY COLUMN external_id CODEC(ZSTD(1)),
    MODIFY COLUMN external_transaction_id CODEC(ZSTD(1)),
    MODIFY COLUMN action CODEC(ZSTD(1)),
    MODIFY COLUMN list_position CODEC(ZSTD(1)),
    MODIFY COLUMN batch_seq CODEC(Delta(8), ZSTD(1));

ALTER TABLE history_events_by_time_store
    MODIFY COLUMN event_time CODEC(GCD, Delta(8), ZSTD(1)),
    MODIFY COLUMN span_start CODEC(GCD, Delta(8), ZSTD(1)),
    MODIFY COLUMN observed_at CODEC(Delta(8), ZSTD(1)),
    MODIFY COLUMN version CODEC(Delta(8), ZSTD(1)),
    MODIFY COLUMN external_id CODEC(ZSTD(1)),
    MODIFY COLUMN external_transaction_id CODEC(ZSTD(1)),
    MODIFY COLUMN list_position CODEC(ZSTD(1));

ALTER TABLE polls_store
    MODIFY COLUMN started_at CODEC(Delta(8), ZSTD(1)),
    MODIFY COLUMN poll_id CODEC(ZSTD(1)),
    MODIFY COLUMN order_id CODEC(ZSTD(1)),
    MODIFY COLUMN duration_ms CODEC(ZSTD(1)),
    MODIFY COLUMN lateness_ms CODEC(ZSTD(1)),
    MODIFY COLUMN reply_bytes CODEC(ZSTD(1)),
    MODIFY COLUMN batch_seq CODEC(Delta(8), ZSTD(1));

ALTER TABLE callback_arrivals_store
    MODIFY COLUMN received_at CODEC(Delta(8), ZSTD(1)),
    MODIFY COLUMN external_id CODEC(ZSTD(1));

ALTER TABLE orders_store
    MODIFY COLUMN external_id CODEC(ZSTD(1)),
    MODIFY COLUMN external_transaction_id CODEC(ZSTD(1)),
    MODIFY COLUMN first_seen_at CODEC(ZSTD(1)),
    MODIFY COLUMN last_reply_at CODEC(ZSTD(1)),
    MODIFY COLUMN settled_at CODEC(ZSTD(1)),
    MODIFY COLUMN reply CODEC(ZSTD(1)),
    MODIFY COLUMN amount_fact CODEC(ZSTD(1)),
    MODIFY COLUMN currency_fact CODEC(ZSTD(1)),
    MODIFY COLUMN currency_rank CODEC(ZSTD(1));
