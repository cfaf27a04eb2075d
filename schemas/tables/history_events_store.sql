-- One row: one item of the history of one order, decoded.
-- Written by: the collector, with each status reply that delivers the item.
-- Sorted by time: a question about a range of time reads that range only. The items of one order are in its row of `orders`, too; a bloom
-- filter finds them here.
CREATE TABLE IF NOT EXISTS history_events_store
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2) COMMENT 'Type of the order.',
    external_id String COMMENT 'The order''s id in the service.' CODEC(ZSTD(1)),
    event_time DateTime64(6, 'UTC') COMMENT 'The item''s `time`, to the microsecond.' CODEC(GCD, Delta(8), ZSTD(1)),
    action LowCardinality(String) COMMENT 'The code as it came, `A.C.B.RR` or anything else.',
    occurrence UInt16 COMMENT 'Counts equal pairs of time and code within one order, from 0: the second of two identical items has 1.',
    external_transaction_id String COMMENT 'The merchant''s own id of the payment; empty when not known.' CODEC(ZSTD(1)),
    channel LowCardinality(String) COMMENT 'The channel, as far as it was known when the item was first seen; a watch message that came later shows in `orders`.',
    code_format Enum8('v2' = 1, 'legacy' = 2, 'unrecognized' = 3) COMMENT 'Form of the code. All decoded columns are NULL unless it is `v2`.',
    stage Nullable(Enum8('INTERNAL' = 1, 'GATEWAY_CREATE' = 2, 'PAYFORM' = 3, 'CHECK' = 4, 'GATEWAY_CALLBACK' = 5, 'MERCHANT_CALLBACK' = 6)) COMMENT 'Segment A: where it happened.',
    result Nullable(Enum8('INFO' = 0, 'SUCCESS' = 1, 'FAILURE' = 2)) COMMENT 'Segment C: how the operation ended.',
    state Nullable(Enum8('INIT' = 0, 'CREATED' = 1, 'PROCESSING' = 2, 'SUCCESS' = 3, 'FAILED' = 4)) COMMENT 'Segment B: state of the payment.',
    reason_code Nullable(UInt8) COMMENT 'Segment RR, 0 to 69.',
    reason_group LowCardinality(Nullable(String)) COMMENT '`NONE`, `TECH`, `AUTHZ`, `BUSINESS`, `RISK`, `USER` or `ISSUER`.',
    reason_detail LowCardinality(Nullable(String)) COMMENT 'Name of the reason, or `UNKNOWN_18` for one that the dictionary lacks.',
    list_position UInt32 COMMENT 'Index in the list when first seen, from 0.' CODEC(ZSTD(1)),
    span_start DateTime64(6, 'UTC') COMMENT 'Time of the item before it as first seen; its own time for the first item. Made for traces: late items make it differ from the final neighbour, so take durations from `event_time`.' CODEC(GCD, Delta(8), ZSTD(1)),
    observed_at DateTime64(6, 'UTC') COMMENT 'When gatewatch first saw the item. `observed_at - event_time` is how late we were.' CODEC(Delta(8), ZSTD(1)),
    source LowCardinality(String) COMMENT 'How it was read.',
    collector_id LowCardinality(String) COMMENT 'Which collector wrote the row.',
    batch_seq UInt64 COMMENT 'Number of the batch that delivered the row, counted by its collector: the source of exports.' CODEC(Delta(8), ZSTD(1)),
    version UInt64 MATERIALIZED bitNot(toUInt64(toUnixTimestamp64Micro(observed_at))) COMMENT 'Falls as time rises, so that the first row of an identity wins.' CODEC(Delta(8), ZSTD(1)),
    stored_at DateTime('UTC') DEFAULT now('UTC') COMMENT 'When the store took the row in, by its own clock: what came late is found by it.' CODEC(Delta(4), ZSTD(1)),
    callback_at Nullable(DateTime64(6, 'UTC')) COMMENT 'When the verified callback was received that asked for the read which delivered the item.' CODEC(Delta(8), ZSTD(1)),
    read_span String COMMENT 'The span of the collector for that read, as `traceId-spanId`, where it is exported.' CODEC(ZSTD(1)),
    INDEX external_id_filter external_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX observed_at_range observed_at TYPE minmax GRANULARITY 1,
    INDEX batch_seq_range batch_seq TYPE minmax GRANULARITY 1,
    INDEX stored_at_range stored_at TYPE minmax GRANULARITY 1,
    INDEX trace_id_filter lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id)), 1, 16))) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX span_start_range span_start TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toMonday(event_time)
ORDER BY (event_time, gateway, order_type, external_id, action, occurrence)
TTL toDateTime(event_time) + toIntervalDay(400)
SETTINGS non_replicated_deduplication_window = 10000;
