-- Payment metrics: what was counted of orders, callbacks and findings, each once, so that counters go on over restarts and are the
-- same at every collector.

-- What was counted. The same thing counted twice is one thing (about, id, kind, subject). `id` of an order: its trace id. Rows of one
-- order and pass lie together, which halves what they take.
CREATE TABLE IF NOT EXISTS payment_counts_store
(
    about Enum8('order' = 1, 'callback' = 2, 'finding' = 3),
    counted_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    gateway LowCardinality(String),
    order_type LowCardinality(String),
    id FixedString(16) CODEC(ZSTD(1)),
    kind LowCardinality(String),
    subject String CODEC(ZSTD(1)),
    first_label LowCardinality(String),
    second_label LowCardinality(String),
    micros Nullable(Int64) CODEC(ZSTD(1)),
    amount Nullable(Decimal(38, 9)) CODEC(ZSTD(1)),
    INDEX id_filter id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toDate(counted_at)
ORDER BY (about, counted_at, gateway, order_type, id, kind, subject)
TTL toDateTime(counted_at) + toIntervalDay(8);

-- How far was counted: all rows that were observed, received or judged before `known_to` and stored by then.
CREATE TABLE IF NOT EXISTS payment_passes_store
(
    known_to DateTime64(6, 'UTC'),
    counted_at DateTime64(6, 'UTC')
)
ENGINE = ReplacingMergeTree(counted_at)
ORDER BY known_to
TTL toDateTime(counted_at) + toIntervalDay(8);

-- The sums of all that was counted up to an instant, so that nobody reads more than the last minutes. Sums of what was counted once,
-- made anew as a whole: writing them twice changes nothing.
CREATE TABLE IF NOT EXISTS payment_totals_store
(
    summed_to DateTime64(6, 'UTC'),
    about Enum8('order' = 1, 'callback' = 2, 'finding' = 3),
    kind LowCardinality(String),
    gateway LowCardinality(String),
    order_type LowCardinality(String),
    first_label LowCardinality(String),
    second_label LowCardinality(String),
    bucket Int16,
    counted UInt64,
    micros Int64,
    amount Decimal(38, 9),
    first_at DateTime64(6, 'UTC')
)
ENGINE = ReplacingMergeTree(summed_to)
ORDER BY (about, kind, gateway, order_type, first_label, second_label, bucket);
