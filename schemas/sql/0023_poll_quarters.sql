-- Status requests counted by quarter of an hour, for dashboards: there are several for each order, and a panel over a month read all of
-- them (alerts/evaluate/quarter-keeper.ts, schemas/poll-quarters.ts). `definition`: what another version has counted is not read.

-- When the store took a request in, by its own clock: so what comes late for a quarter that is counted is found. What is there already gets
-- 1970, as with history items (migration 0014).
ALTER TABLE polls_store
    ADD COLUMN IF NOT EXISTS stored_at DateTime('UTC') DEFAULT toDateTime(0, 'UTC') CODEC(Delta(4), ZSTD(1)),
    ADD INDEX IF NOT EXISTS stored_at_range stored_at TYPE minmax GRANULARITY 1;
ALTER TABLE polls_store
    MODIFY COLUMN stored_at DateTime('UTC') DEFAULT toDateTime(0, 'UTC') CODEC(Delta(4), ZSTD(1));
ALTER TABLE polls_store MATERIALIZE COLUMN stored_at SETTINGS mutations_sync = 2;
ALTER TABLE polls_store
    MODIFY COLUMN stored_at DateTime('UTC') DEFAULT now('UTC') CODEC(Delta(4), ZSTD(1));
ALTER TABLE polls_store MATERIALIZE INDEX stored_at_range SETTINGS mutations_sync = 0;

-- A quarter that is counted again replaces what was counted first: requests are only ever added.
CREATE TABLE IF NOT EXISTS poll_quarters_store
(
    definition LowCardinality(String),
    quarter DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    gateway LowCardinality(String),
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2),
    outcome Enum8('ok' = 1, 'not_found' = 2, 'unauthorized' = 3, 'forbidden' = 4, 'locked' = 5, 'rate_limited' = 6, 'client_error' = 7, 'unknown' = 8, 'invalid_response' = 9),
    requests UInt64 CODEC(ZSTD(1)),
    durations AggregateFunction(quantilesDD(0.01, 0.5, 0.95), Float64) CODEC(ZSTD(1)),
    lateness AggregateFunction(quantilesDD(0.01, 0.5, 0.95), Float64) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(requests)
PARTITION BY toMonday(quarter)
ORDER BY (definition, quarter, gateway, order_type, outcome);
