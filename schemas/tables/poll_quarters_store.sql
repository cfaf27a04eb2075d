-- One row: status requests of a quarter of an hour by gateway, type and outcome.
-- Written by: alerts/evaluate/quarter-keeper.ts.
-- A panel over a month reads this instead of every request. A quarter that is counted again replaces what was counted first: requests are
-- only ever added.
CREATE TABLE IF NOT EXISTS poll_quarters_store
(
    definition LowCardinality(String) COMMENT 'Which version of the counting made the row: those of others are not read.',
    quarter DateTime('UTC') COMMENT 'Start of the quarter of an hour.' CODEC(Delta(4), ZSTD(1)),
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2) COMMENT 'Type of the order.',
    outcome Enum8('ok' = 1, 'not_found' = 2, 'unauthorized' = 3, 'forbidden' = 4, 'locked' = 5, 'rate_limited' = 6, 'client_error' = 7, 'unknown' = 8, 'invalid_response' = 9) COMMENT 'What came of the requests.',
    requests UInt64 COMMENT 'How many.' CODEC(ZSTD(1)),
    durations AggregateFunction(quantilesDD(0.01, 0.5, 0.95), Float64) COMMENT 'Sketch of their durations in ms.' CODEC(ZSTD(1)),
    lateness AggregateFunction(quantilesDD(0.01, 0.5, 0.95), Float64) COMMENT 'Sketch of by how much they were late, in ms.' CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(requests)
PARTITION BY toMonday(quarter)
ORDER BY (definition, quarter, gateway, order_type, outcome)
TTL toDateTime(quarter) + toIntervalDay(30);
