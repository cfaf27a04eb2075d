-- What each order did within each quarter of an hour, for dashboards: a question about a day reads a tenth of the rows. Made of the
-- items once a quarter is over (alerts/evaluate/quarter-keeper.ts); what came late is a further row of the same order and quarter.
-- `definition`: quarters that were made by another version are not read.

-- When the store took an item in, by its own clock: what came late is found by it, however long it was under way. What is there already
-- gets 1970: the default is read for rows that lack the column, so they must have it before the default is the present. The price: an insert
-- that is repeated is not known again in this copy, since its rows differ, and stands here twice until a merge; the view folds it.
ALTER TABLE history_events_by_time_store
    ADD COLUMN IF NOT EXISTS stored_at DateTime('UTC') DEFAULT toDateTime(0, 'UTC') CODEC(Delta(4), ZSTD(1)),
    ADD INDEX IF NOT EXISTS stored_at_range stored_at TYPE minmax GRANULARITY 1;
ALTER TABLE history_events_by_time_store
    MODIFY COLUMN stored_at DateTime('UTC') DEFAULT toDateTime(0, 'UTC') CODEC(Delta(4), ZSTD(1));
ALTER TABLE history_events_by_time_store MATERIALIZE COLUMN stored_at SETTINGS mutations_sync = 2;
ALTER TABLE history_events_by_time_store
    MODIFY COLUMN stored_at DateTime('UTC') DEFAULT now('UTC') CODEC(Delta(4), ZSTD(1));

CREATE TABLE IF NOT EXISTS order_quarters_store
(
    definition LowCardinality(String),
    quarter DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    gateway LowCardinality(String),
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2),
    channel LowCardinality(String),
    external_id String CODEC(ZSTD(1)),
    order_number UInt64,
    began_at UInt64 CODEC(ZSTD(1)),
    decision UInt64 CODEC(ZSTD(1)),
    form_at UInt64 CODEC(ZSTD(1)),
    submitted_at UInt64 CODEC(ZSTD(1)),
    form_step UInt8,
    form_exits UInt8,
    stumbled_at UInt64 CODEC(ZSTD(1)),
    processing_at UInt64 CODEC(ZSTD(1)),
    items Array(UInt64) CODEC(Delta(8), ZSTD(1)),
    failures Array(Tuple(at DateTime64(6, 'UTC'), stage LowCardinality(String), is_operation UInt8, reason_code UInt8,
        reason_group LowCardinality(String), reason_detail LowCardinality(String), action LowCardinality(String), list_position UInt32)) CODEC(ZSTD(1)),
    unknown Array(Tuple(at DateTime64(6, 'UTC'), action String, code_format LowCardinality(String))) CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toMonday(quarter)
ORDER BY (definition, quarter, gateway, order_type, channel)
SETTINGS non_replicated_deduplication_window = 1000;

-- How far they go: all items of this time that were stored by `known_to` are among them.
CREATE TABLE IF NOT EXISTS order_quarters_frontier
(
    definition LowCardinality(String),
    kept_from DateTime('UTC'),
    kept_to DateTime('UTC'),
    known_to DateTime('UTC'),
    written_at DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC')
)
ENGINE = ReplacingMergeTree(written_at)
ORDER BY definition
SETTINGS non_replicated_deduplication_window = 1000;
