-- One row: one order as one status reply left it, written whole; of the rows of an order the newest counts.
-- Written by: the collector, as `foldOrder` makes it, with each read that changes it.
-- Sorted by the hour in which the order was first heard of, which never changes: a question about a day reads that day.
CREATE TABLE IF NOT EXISTS orders_store
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2) COMMENT 'Type of the order.',
    external_id String COMMENT 'The order''s id in the service.' CODEC(ZSTD(1)),
    external_transaction_id String COMMENT 'The merchant''s own id of the payment; empty when not known.' CODEC(ZSTD(1)),
    channel LowCardinality(String) COMMENT 'The channel that a watch message named; empty when none did. The code does not carry it.',
    status LowCardinality(Nullable(String)) COMMENT '`orderStatus` of the newest status reply, as it came. NULL: there was none, and all that a history says is NULL or empty, too.',
    amount Nullable(Decimal(38, 9)) COMMENT 'Amount in units of `currency`, exact; a status reply beats a watch message, which beats a callback. A tail such as that of 29.949999999999999 is rounded to the currency. NULL where nobody named one, and where the best source named one that cannot be kept: see `rejects`, reason `field_unreadable`.' CODEC(ZSTD(1)),
    amount_source Nullable(Enum8('callback' = 1, 'watch' = 2, 'status' = 3)) COMMENT 'Who named the amount, also where it cannot be kept.',
    currency LowCardinality(Nullable(String)) COMMENT 'Currency code in upper case; NULL when nobody named one.',
    currency_source Nullable(Enum8('callback' = 1, 'watch' = 2, 'status' = 3)) COMMENT 'Who named the currency. One from a callback is not authenticated.',
    outcome LowCardinality(Nullable(String)) COMMENT '`succeeded`, `technical_failure`, `business_failure`, `risk_decline`, `user_abandoned`, `issuer_decline` or `unspecified_failure`, by the deciding item; NULL while the order is pending.',
    deciding_action LowCardinality(Nullable(String)) COMMENT 'Code of the deciding item: the latest one with the state SUCCESS or FAILED.',
    reason_code Nullable(UInt8) COMMENT 'Reason of the deciding item.',
    reason_group LowCardinality(Nullable(String)) COMMENT 'Its group.',
    reason_detail LowCardinality(Nullable(String)) COMMENT 'Its name.',
    furthest_step LowCardinality(Nullable(String)) COMMENT 'The last step of the payment form that the order reached: `presented`, `visited`, `data entered`, `submitted` or `confirmed`.',
    reasons Array(UInt8) COMMENT 'Reasons of all failing items, each once, in rising order.',
    failed_stages Array(LowCardinality(String)) COMMENT 'Stages at which an operation failed, in the order of the stages.',
    created_at Nullable(DateTime64(6, 'UTC')) COMMENT 'Time of the first history item.' CODEC(ZSTD(1)),
    gateway_created_at Nullable(DateTime64(6, 'UTC')) COMMENT 'First success at the stage GATEWAY_CREATE: the gateway accepted the order.' CODEC(ZSTD(1)),
    form_shown_at Nullable(DateTime64(6, 'UTC')) COMMENT 'First item of the payment form.' CODEC(ZSTD(1)),
    form_submitted_at Nullable(DateTime64(6, 'UTC')) COMMENT 'The payer submitted the form: first 3.1.1.55.' CODEC(ZSTD(1)),
    processing_at Nullable(DateTime64(6, 'UTC')) COMMENT 'First item that only an order in processing has.' CODEC(ZSTD(1)),
    first_technical_failure_at Nullable(DateTime64(6, 'UTC')) COMMENT 'First failed operation with a reason of the groups TECH or AUTHZ.' CODEC(ZSTD(1)),
    first_failed_at Nullable(DateTime64(6, 'UTC')) COMMENT 'First item with the state FAILED.' CODEC(ZSTD(1)),
    first_paid_at Nullable(DateTime64(6, 'UTC')) COMMENT 'First item with the state SUCCESS.' CODEC(ZSTD(1)),
    final_at Nullable(DateTime64(6, 'UTC')) COMMENT 'Time of the deciding item. `final_at - created_at` is the time to final.' CODEC(ZSTD(1)),
    merchant_callback_at Nullable(DateTime64(6, 'UTC')) COMMENT 'The merchant acknowledged a callback: first 6.1.1.00.' CODEC(ZSTD(1)),
    last_item_at Nullable(DateTime64(6, 'UTC')) COMMENT 'Time of the last history item.' CODEC(ZSTD(1)),
    first_seen_at DateTime64(6, 'UTC') COMMENT 'When gatewatch first heard of the order.' CODEC(Delta(8), ZSTD(1)),
    observed_at DateTime64(6, 'UTC') COMMENT 'When the row was written: with a status reply that had news, with the end of the order, or with the callback or watch message that first named it. The newest row counts.' CODEC(Delta(8), ZSTD(1)),
    settled_at Nullable(DateTime64(6, 'UTC')) COMMENT 'When the re-reads after the final status ended without news; NULL again while an order is read anew.' CODEC(ZSTD(1)),
    abandoned_at Nullable(DateTime64(6, 'UTC')) COMMENT 'When the order was given up without a final status.' CODEC(ZSTD(1)),
    history_items UInt32 COMMENT 'Number of history items known.',
    late_items UInt32 COMMENT 'Items that were first seen after a final state had been seen.',
    `history.time` Array(DateTime64(6, 'UTC')) COMMENT 'The items in time order. Their times.' CODEC(ZSTD(1)),
    `history.action` Array(LowCardinality(String)) COMMENT 'Their codes as they came.',
    `history.stage` Array(Nullable(Enum8('INTERNAL' = 1, 'GATEWAY_CREATE' = 2, 'PAYFORM' = 3, 'CHECK' = 4, 'GATEWAY_CALLBACK' = 5, 'MERCHANT_CALLBACK' = 6))) COMMENT 'Segment A of each.',
    `history.result` Array(Nullable(Enum8('INFO' = 0, 'SUCCESS' = 1, 'FAILURE' = 2))) COMMENT 'Segment C of each.',
    `history.state` Array(Nullable(Enum8('INIT' = 0, 'CREATED' = 1, 'PROCESSING' = 2, 'SUCCESS' = 3, 'FAILED' = 4))) COMMENT 'Segment B of each.',
    `history.reason_code` Array(Nullable(UInt8)) COMMENT 'Segment RR of each.',
    `history.occurrence` Array(UInt16) COMMENT 'Counts equal pairs of time and code, from 0.',
    `history.list_position` Array(UInt32) COMMENT 'Index in the list when first seen, from 0.' CODEC(ZSTD(1)),
    `history.observed_at` Array(DateTime64(6, 'UTC')) COMMENT 'When each was first seen: what was known at an instant is a condition on this.' CODEC(ZSTD(1)),
    order_number UInt64 MATERIALIZED sipHash64(toString(gateway), toString(order_type), external_id) COMMENT 'The order as a number, a hash of gateway, type and id: where `ARRAY JOIN` gives a row an item, `uniqExact(order_number)` counts orders.' CODEC(NONE),
    INDEX external_id_filter external_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX external_transaction_id_filter external_transaction_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX created_at_range created_at TYPE minmax GRANULARITY 1,
    INDEX final_at_range final_at TYPE minmax GRANULARITY 1,
    INDEX last_item_at_range last_item_at TYPE minmax GRANULARITY 1,
    INDEX observed_at_range observed_at TYPE minmax GRANULARITY 1,
    INDEX root_start_range ifNull(created_at, first_seen_at) TYPE minmax GRANULARITY 1,
    INDEX trace_id_filter lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id)), 1, 16))) TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(observed_at)
PARTITION BY toMonday(first_seen_at)
ORDER BY (toStartOfHour(first_seen_at), gateway, order_type, external_id)
TTL toDateTime(first_seen_at) + toIntervalDay(400)
SETTINGS non_replicated_deduplication_window = 10000;
