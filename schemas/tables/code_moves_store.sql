-- One row: the first order in which one code followed another at a gateway.
-- Written by: the comparison of sources.
-- The first row of a move wins.
CREATE TABLE IF NOT EXISTS code_moves_store
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    before LowCardinality(String) COMMENT 'The code before.',
    after LowCardinality(String) COMMENT 'The code that followed it.',
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2) COMMENT 'Type of the order.',
    external_id String COMMENT 'The order in which it was found first.',
    moved_at DateTime64(6, 'UTC') COMMENT 'Time of the item that followed.',
    known_at DateTime64(6, 'UTC') COMMENT 'When the move was found.',
    version UInt64 MATERIALIZED bitNot(toUInt64(toUnixTimestamp64Micro(known_at))) COMMENT 'Falls as time rises, so that the first row of an identity wins.'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (gateway, before, after)
SETTINGS non_replicated_deduplication_window = 1000;
