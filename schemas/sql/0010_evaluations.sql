-- What the alert rules saw: one row for each rule, gateway, label and minute. The first row of an identity wins, since its version
-- falls as time rises: what was told once is not changed by a second evaluator. `points`: what the view alert_numbers shows, made once
-- and not at every question.
CREATE TABLE IF NOT EXISTS alert_evaluations_store
(
    rule LowCardinality(String),
    kind Enum8('share' = 1, 'drop' = 2, 'gauge' = 3),
    gateway LowCardinality(String),
    label LowCardinality(String),
    as_of DateTime('UTC'),
    window_from DateTime64(6, 'UTC'),
    window_to DateTime64(6, 'UTC'),
    seen UInt64,
    affected UInt64,
    expected Nullable(Float64),
    limit Float64,
    share Nullable(Float64),
    number Nullable(Float64),
    breach UInt8,
    suppressed_by LowCardinality(String),
    definition LowCardinality(String),
    evaluated_at DateTime64(6, 'UTC'),
    evaluator LowCardinality(String),
    took_ms Float64,
    points Array(Float64) MATERIALIZED [
        -1 - multiIf(breach = 1, limit, kind = 'share', greatest(limit, toFloat64(affected) + 1),
            kind = 'drop', least(limit, toFloat64(affected) - 1), greatest(limit, ifNull(number, 0))),
        multiIf(kind = 'gauge', toFloat64(0), kind = 'drop', ifNull(expected, 0), toFloat64(seen)),
        toFloat64(toUnixTimestamp(as_of)),
        if(kind = 'gauge', ifNull(number, 0), toFloat64(affected))],
    version UInt64 MATERIALIZED bitNot(toUInt64(toUnixTimestamp64Micro(evaluated_at)))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(as_of)
ORDER BY (rule, as_of, gateway, label)
SETTINGS non_replicated_deduplication_window = 1000;

-- Who may evaluate: one row for each collector that wants to, renewed while it does. `tells`: it notifies receivers, and goes
-- before one that does not. `renewed_at` is the store's own time.
CREATE TABLE IF NOT EXISTS alert_leases_store
(
    holder String,
    tells UInt8,
    taken_at DateTime64(6, 'UTC'),
    renewed_at DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC')
)
ENGINE = ReplacingMergeTree(renewed_at)
ORDER BY (holder, taken_at)
SETTINGS non_replicated_deduplication_window = 100;

-- What counts of an order, by half minute and order, for the part of the past that hardly changes any more: an order is a row here
-- only where it has something that a rule counts. All columns are such that the same fact twice changes nothing.
CREATE TABLE IF NOT EXISTS order_marks_store
(
    definition LowCardinality(String),
    slot DateTime('UTC'),
    gateway LowCardinality(String),
    order_hash UInt64,
    marks UInt64,
    paid_first UInt64 CODEC(T64, LZ4),
    paid_last UInt64 CODEC(T64, LZ4),
    failed_first UInt64 CODEC(T64, LZ4),
    failed_last UInt64 CODEC(T64, LZ4),
    confirmed_last UInt64 CODEC(T64, LZ4),
    keep_long UInt8
)
ENGINE = MergeTree
PARTITION BY toDate(slot)
ORDER BY (definition, keep_long, slot, gateway)
TTL slot + toIntervalHour(12) DELETE WHERE keep_long = 0, slot + toIntervalDay(4)
SETTINGS non_replicated_deduplication_window = 1000;

-- How far the marks go: all items before `sealed_to` that were observed by `known_to` are among them.
CREATE TABLE IF NOT EXISTS order_marks_frontier
(
    definition LowCardinality(String),
    sealed_from DateTime('UTC'),
    sealed_to DateTime('UTC'),
    known_to DateTime64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (definition, known_to)
TTL toDateTime(known_to) + toIntervalDay(4)
SETTINGS non_replicated_deduplication_window = 1000;

-- What is late is found without reading the times of all items.
ALTER TABLE history_events_by_time_store ADD INDEX IF NOT EXISTS observed_at_range observed_at TYPE minmax GRANULARITY 1;
