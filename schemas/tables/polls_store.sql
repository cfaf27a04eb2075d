-- One row: one status request.
-- Written by: the collector.
CREATE TABLE IF NOT EXISTS polls_store
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    started_at DateTime64(6, 'UTC') COMMENT 'When the request began.' CODEC(Delta(8), ZSTD(1)),
    poll_id String COMMENT 'Identity of the request.' CODEC(ZSTD(1)),
    endpoint LowCardinality(String) COMMENT '`deposit-status`, `deposit-status-by-transaction`, `withdrawal-status` or `withdrawal-status-by-transaction`.',
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2) COMMENT 'Type of the order.',
    order_id String COMMENT 'The id that was asked for.' CODEC(ZSTD(1)),
    id_kind Enum8('external-id' = 1, 'transaction-id' = 2) COMMENT 'Whose id that is: the service''s or the merchant''s.',
    cause LowCardinality(String) COMMENT 'Why the order was read: `schedule`, `callback`, `watch`, `reread` or `probe`.',
    http_status Nullable(UInt16) COMMENT 'HTTP status; NULL without an answer.',
    outcome Enum8('ok' = 1, 'not_found' = 2, 'unauthorized' = 3, 'forbidden' = 4, 'locked' = 5, 'rate_limited' = 6, 'client_error' = 7, 'unknown' = 8, 'invalid_response' = 9) COMMENT 'How it ended. `unknown`: 499 and above, or no usable answer. `locked`: 423.',
    error_type LowCardinality(String) COMMENT '`timeout`, `connection_refused`, `connection_reset`, `dns`, `tls`, `truncated`, `too_large`, `http_503` and the like; empty when there is nothing to say.',
    duration_ms Float64 COMMENT 'Time from the request to the end of the reply, in milliseconds.' CODEC(ZSTD(1)),
    lateness_ms Float64 COMMENT 'How much later than due it began, in milliseconds.' CODEC(ZSTD(1)),
    reply_bytes UInt32 COMMENT 'Size of the reply''s body, in bytes.' CODEC(ZSTD(1)),
    items UInt32 COMMENT 'History items in the reply.',
    new_items UInt32 COMMENT 'History items that were not known before.',
    refused_items UInt32 COMMENT 'History items that could not be read; each is a reject.',
    anomaly LowCardinality(String) COMMENT '`history_shrank`, `history_out_of_order`, `history_inserted` (a late item in the middle) or empty.',
    collector_id LowCardinality(String) COMMENT 'Which collector this is from.',
    batch_seq UInt64 COMMENT 'Number of the batch that delivered the row, counted by its collector: the source of exports.' CODEC(Delta(8), ZSTD(1)),
    missing_items UInt32 COMMENT 'History items that an earlier reply had and this one lacks.',
    missing_item String COMMENT 'The earliest of them: time, code and occurrence; empty without one.' CODEC(ZSTD(1)),
    news LowCardinality(String) COMMENT 'What it found that was not known, the first that is true: `status` (another status than before), `items` (history items, refused ones included), `facts` (another amount, currency or merchant''s id), `nothing`.',
    stored_at DateTime('UTC') MATERIALIZED now('UTC') COMMENT 'When the store took the row in, by its own clock: what came late is found by it.' CODEC(Delta(4), ZSTD(1)),
    INDEX batch_seq_range batch_seq TYPE minmax GRANULARITY 1,
    INDEX order_id_filter order_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX stored_at_range stored_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toMonday(started_at)
ORDER BY (gateway, started_at, poll_id)
TTL toDateTime(started_at) + toIntervalDay(30)
SETTINGS non_replicated_deduplication_window = 10000;
