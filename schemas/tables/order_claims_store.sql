-- One row: one claim of a status reply or a watch message about one order, each time that it changes.
-- Written by: the collector.
-- What findings compare. The row of the order keeps the newest claim only.
CREATE TABLE IF NOT EXISTS order_claims_store
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2) COMMENT 'Type of the order.',
    external_id String COMMENT 'The order''s id in the service.' CODEC(ZSTD(1)),
    observed_at DateTime64(6, 'UTC') COMMENT 'When it was said to us.' CODEC(Delta(8), ZSTD(1)),
    kind Enum8('callback' = 1, 'watch' = 2, 'status_reply' = 3) COMMENT 'Who said it.',
    status LowCardinality(Nullable(String)) COMMENT '`orderStatus` of the newest status reply, as it came.',
    amount Nullable(Decimal(38, 9)) COMMENT 'Amount in units of `currency`, exact; a status reply beats a watch message, which beats a callback. A tail such as that of 29.949999999999999 is rounded to the currency. NULL where nobody named one, and where the best source named one that cannot be kept: see `rejects`, reason `field_unreadable`.' CODEC(ZSTD(1)),
    currency LowCardinality(Nullable(String)) COMMENT 'Currency code in upper case; NULL when nobody named one.',
    INDEX external_id_filter external_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toMonday(observed_at)
ORDER BY (observed_at, gateway, order_type, external_id, kind)
TTL toDateTime(observed_at) + toIntervalDay(30)
SETTINGS non_replicated_deduplication_window = 10000;
