-- Findings: what history, status replies, callbacks and watch messages of one order say against one another, and the facts about them
-- that were not kept by time yet.

-- What a callback claims, in the copy by arrival: a comparison reads the callbacks of an hour, not those of all weeks. Rows of before
-- have NULL and are compared with nothing.
ALTER TABLE callback_arrivals_store
    ADD COLUMN IF NOT EXISTS status LowCardinality(Nullable(String)),
    ADD COLUMN IF NOT EXISTS amount Nullable(String) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS currency LowCardinality(Nullable(String));

ALTER TABLE callback_deliveries_to_arrivals MODIFY QUERY
SELECT gateway, received_at, content_hash, order_type, external_id, verdict, status, amount, currency
FROM callback_deliveries_store;

-- What status replies and watch messages claim about an order, each time that it changes. The order's row keeps the newest claim only.
CREATE TABLE IF NOT EXISTS order_claims_store
(
    gateway LowCardinality(String),
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2),
    external_id String CODEC(ZSTD(1)),
    observed_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    kind Enum8('callback' = 1, 'watch' = 2, 'status_reply' = 3),
    status LowCardinality(Nullable(String)),
    amount Nullable(Decimal(38, 9)) CODEC(ZSTD(1)),
    currency LowCardinality(Nullable(String)),
    INDEX external_id_filter external_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toMonday(observed_at)
ORDER BY (observed_at, gateway, order_type, external_id, kind)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS order_observations_to_claims TO order_claims_store AS
SELECT gateway, order_type, external_id, observed_at, kind, status, amount, currency
FROM order_observations
WHERE kind != 'callback' AND (status IS NOT NULL OR amount IS NOT NULL OR currency IS NOT NULL);

-- What a reply's history lacks of what earlier replies had: how many items, and the earliest of them as `time action occurrence`.
ALTER TABLE polls_store
    ADD COLUMN IF NOT EXISTS missing_items UInt32,
    ADD COLUMN IF NOT EXISTS missing_item String CODEC(ZSTD(1));

-- One contradiction about one order. It is worked out anew from stored facts whenever one of them changes; the newest judgement counts.
CREATE TABLE IF NOT EXISTS findings_store
(
    gateway LowCardinality(String),
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2),
    external_id String,
    kind LowCardinality(String),
    subject String,
    found_at DateTime64(6, 'UTC'),
    side LowCardinality(String),
    expected String,
    received String,
    evidence Array(Tuple(source String, at DateTime64(6, 'UTC'), what String)),
    resolved_at Nullable(DateTime64(6, 'UTC')),
    judged_at DateTime64(6, 'UTC'),
    INDEX found_at_range found_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(judged_at)
ORDER BY (gateway, kind, order_type, external_id, subject)
SETTINGS non_replicated_deduplication_window = 1000;

-- Up to when the facts of a gateway were compared.
CREATE TABLE IF NOT EXISTS findings_frontier
(
    gateway LowCardinality(String),
    judged_to DateTime64(6, 'UTC'),
    judged_at DateTime64(6, 'UTC')
)
ENGINE = ReplacingMergeTree(judged_at)
ORDER BY gateway
SETTINGS non_replicated_deduplication_window = 100;

-- The first order in which one code followed another at a gateway. The first row of a move wins.
CREATE TABLE IF NOT EXISTS code_moves_store
(
    gateway LowCardinality(String),
    before LowCardinality(String),
    after LowCardinality(String),
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2),
    external_id String,
    moved_at DateTime64(6, 'UTC'),
    known_at DateTime64(6, 'UTC'),
    version UInt64 MATERIALIZED bitNot(toUInt64(toUnixTimestamp64Micro(known_at)))
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (gateway, before, after)
SETTINGS non_replicated_deduplication_window = 1000;
