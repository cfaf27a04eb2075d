-- One row: what one order did within a quarter of an hour, for dashboards.
-- Written by: alerts/evaluate/quarter-keeper.ts once the quarter is over.
-- A question about a day reads a tenth of the rows. What came late is a further row of the same order and quarter.
CREATE TABLE IF NOT EXISTS order_quarters_store
(
    definition LowCardinality(String) COMMENT 'Which version of the counting made the row: those of others are not read.',
    quarter DateTime('UTC') COMMENT 'Start of the quarter of an hour.' CODEC(Delta(4), ZSTD(1)),
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2) COMMENT 'Type of the order.',
    channel LowCardinality(String) COMMENT 'The channel, as far as it was known when the item was first seen; a watch message that came later shows in `orders`.',
    external_id String COMMENT 'The order''s id in the service.' CODEC(ZSTD(1)),
    order_number UInt64 COMMENT 'Hash of gateway, type and id of the order.',
    began_at UInt64 COMMENT 'When the order began; 0: not in this quarter.' CODEC(ZSTD(1)),
    decision UInt64 COMMENT 'Its deciding item, packed (schemas/order-quarters.ts).' CODEC(ZSTD(1)),
    form_at UInt64 COMMENT 'When it came to the payment form, packed.' CODEC(ZSTD(1)),
    submitted_at UInt64 COMMENT 'When the payer submitted, packed.' CODEC(ZSTD(1)),
    form_step UInt8 COMMENT 'How far it came on the form.',
    form_exits UInt8 COMMENT 'How it left the form, one bit each.',
    first_technical_failure_at UInt64 COMMENT 'First technical failure, packed.' CODEC(ZSTD(1)),
    processing_at UInt64 COMMENT 'When processing began, packed.' CODEC(ZSTD(1)),
    items Array(UInt64) COMMENT 'Its items, packed.' CODEC(Delta(8), ZSTD(1)),
    failures Array(Tuple(at DateTime64(6, 'UTC'), stage LowCardinality(String), is_operation UInt8, reason_code UInt8, reason_group LowCardinality(String), reason_detail LowCardinality(String), action LowCardinality(String), list_position UInt32)) COMMENT 'Its failures.' CODEC(ZSTD(1)),
    unknown Array(Tuple(at DateTime64(6, 'UTC'), action String, code_format LowCardinality(String))) COMMENT 'Its codes that are not in the catalogue.' CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toMonday(quarter)
ORDER BY (definition, quarter, gateway, order_type, channel)
TTL toDateTime(quarter) + toIntervalDay(400)
SETTINGS non_replicated_deduplication_window = 1000;
