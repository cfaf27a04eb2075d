-- Physical tables end in _store; the views without the suffix are the public API (docs/reference/views.md).
-- Statements end with a semicolon at the end of a line. Every statement is safe to repeat.

-- One history item of one order. The sorting key is the item's identity; the first arrival wins, because the version falls as time rises.
CREATE TABLE IF NOT EXISTS history_events_store
(
    gateway LowCardinality(String),
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2),
    external_id String,
    event_time DateTime64(6, 'UTC'),
    action String,
    occurrence UInt16,
    external_transaction_id String,
    channel LowCardinality(String),
    code_format Enum8('v2' = 1, 'legacy' = 2, 'unrecognized' = 3),
    stage Nullable(Enum8('INTERNAL' = 1, 'GATEWAY_CREATE' = 2, 'PAYFORM' = 3, 'CHECK' = 4, 'GATEWAY_CALLBACK' = 5, 'MERCHANT_CALLBACK' = 6)),
    result Nullable(Enum8('INFO' = 0, 'SUCCESS' = 1, 'FAILURE' = 2)),
    state Nullable(Enum8('INIT' = 0, 'CREATED' = 1, 'PROCESSING' = 2, 'SUCCESS' = 3, 'FAILED' = 4)),
    reason_code Nullable(UInt8),
    reason_group LowCardinality(Nullable(String)),
    reason_detail LowCardinality(Nullable(String)),
    list_position UInt32,
    span_start DateTime64(6, 'UTC'),
    observed_at DateTime64(6, 'UTC'),
    source LowCardinality(String),
    collector_id LowCardinality(String),
    batch_seq UInt64,
    version UInt64 MATERIALIZED bitNot(toUInt64(toUnixTimestamp64Micro(observed_at))),
    INDEX batch_seq_range batch_seq TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toMonday(event_time)
ORDER BY (gateway, order_type, external_id, event_time, action, occurrence)
SETTINGS non_replicated_deduplication_window = 10000;

-- Facts about an order as they arrive; nothing is stored here, the view below folds them into orders_store.
CREATE TABLE IF NOT EXISTS order_observations
(
    gateway LowCardinality(String),
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2),
    external_id String,
    observed_at DateTime64(6, 'UTC'),
    kind Enum8('callback' = 1, 'watch' = 2, 'status_reply' = 3),
    external_transaction_id String,
    channel LowCardinality(String),
    status Nullable(String),
    amount Nullable(Decimal(38, 9)),
    currency LowCardinality(Nullable(String)),
    outcome LowCardinality(Nullable(String)),
    deciding_action Nullable(String),
    reason_code Nullable(UInt8),
    reason_group LowCardinality(Nullable(String)),
    reason_detail LowCardinality(Nullable(String)),
    history_items UInt32,
    created_at Nullable(DateTime64(6, 'UTC')),
    final_at Nullable(DateTime64(6, 'UTC')),
    settled_at Nullable(DateTime64(6, 'UTC')),
    abandoned_at Nullable(DateTime64(6, 'UTC'))
)
ENGINE = Null;

-- Only states that give the same answer however often and in whatever order the same fact arrives.
CREATE TABLE IF NOT EXISTS orders_store
(
    gateway LowCardinality(String),
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2),
    external_id String,
    external_transaction_id SimpleAggregateFunction(max, String),
    channel SimpleAggregateFunction(max, String),
    first_seen_at SimpleAggregateFunction(min, DateTime64(6, 'UTC')),
    last_reply_at SimpleAggregateFunction(max, Nullable(DateTime64(6, 'UTC'))),
    settled_at SimpleAggregateFunction(max, Nullable(DateTime64(6, 'UTC'))),
    abandoned_at SimpleAggregateFunction(max, Nullable(DateTime64(6, 'UTC'))),
    reply AggregateFunction(argMaxIf,
        Tuple(status Nullable(String), outcome Nullable(String), deciding_action Nullable(String),
            reason_code Nullable(UInt8), reason_group Nullable(String), reason_detail Nullable(String),
            history_items UInt32, created_at Nullable(DateTime64(6, 'UTC')), final_at Nullable(DateTime64(6, 'UTC'))),
        DateTime64(6, 'UTC'), UInt8),
    amount_fact AggregateFunction(argMaxIf, Nullable(Decimal(38, 9)), UInt64, UInt8),
    currency_fact AggregateFunction(argMaxIf, Nullable(String), UInt64, UInt8),
    currency_rank SimpleAggregateFunction(max, UInt64)
)
ENGINE = AggregatingMergeTree
ORDER BY (gateway, order_type, external_id)
SETTINGS non_replicated_deduplication_window = 10000;

-- `fact_rank` orders facts of one order: a better kind of source first, then the newer one (kind in the upper 8 bits, microseconds
-- below). A number is folded three times as fast as a pair.
CREATE MATERIALIZED VIEW IF NOT EXISTS order_observations_to_orders TO orders_store AS
WITH bitShiftLeft(toUInt64(CAST(o.kind, 'Int8')), 56) + toUInt64(toUnixTimestamp64Micro(o.observed_at)) AS fact_rank
SELECT
    gateway,
    order_type,
    external_id,
    max(o.external_transaction_id) AS external_transaction_id,
    max(toString(o.channel)) AS channel,
    min(o.observed_at) AS first_seen_at,
    maxIf(toNullable(o.observed_at), o.kind = 'status_reply') AS last_reply_at,
    max(o.settled_at) AS settled_at,
    max(o.abandoned_at) AS abandoned_at,
    argMaxIfState(
        CAST(tuple(o.status, o.outcome, o.deciding_action, o.reason_code, o.reason_group, o.reason_detail, o.history_items, o.created_at, o.final_at),
            'Tuple(status Nullable(String), outcome Nullable(String), deciding_action Nullable(String), reason_code Nullable(UInt8), reason_group Nullable(String), reason_detail Nullable(String), history_items UInt32, created_at Nullable(DateTime64(6, ''UTC'')), final_at Nullable(DateTime64(6, ''UTC'')))'),
        o.observed_at, toUInt8(o.kind = 'status_reply')) AS reply,
    argMaxIfState(o.amount, fact_rank, toUInt8(o.amount IS NOT NULL)) AS amount_fact,
    argMaxIfState(CAST(o.currency, 'Nullable(String)'), fact_rank, toUInt8(o.currency IS NOT NULL)) AS currency_fact,
    maxIf(fact_rank, o.currency IS NOT NULL) AS currency_rank
FROM order_observations AS o
GROUP BY gateway, order_type, external_id;

-- One delivery of one callback. The view `callbacks` folds deliveries of equal content together. Where it was read is part of the
-- identity: a producer's retry puts one delivery onto Kafka twice, and each of the two records must be accounted for.
CREATE TABLE IF NOT EXISTS callback_deliveries_store
(
    gateway LowCardinality(String),
    content_hash FixedString(32),
    delivery_id String,
    received_at DateTime64(6, 'UTC'),
    verdict Enum8('valid' = 1, 'valid_previous_key' = 2, 'mismatch' = 3, 'missing_signature' = 4, 'malformed' = 5),
    external_id Nullable(String),
    status Nullable(String),
    amount Nullable(String),
    order_type LowCardinality(Nullable(String)),
    currency LowCardinality(Nullable(String)),
    problem String,
    source LowCardinality(String),
    topic LowCardinality(String),
    kafka_partition Nullable(Int32),
    kafka_offset Nullable(Int64),
    body_bytes UInt32,
    collector_id LowCardinality(String),
    batch_seq UInt64,
    version UInt64 MATERIALIZED bitNot(toUInt64(toUnixTimestamp64Micro(received_at))),
    INDEX batch_seq_range batch_seq TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY tuple()
ORDER BY (gateway, content_hash, delivery_id, topic, ifNull(kafka_partition, -1), ifNull(kafka_offset, -1))
SETTINGS non_replicated_deduplication_window = 10000;

-- One status request of ours.
CREATE TABLE IF NOT EXISTS polls_store
(
    gateway LowCardinality(String),
    started_at DateTime64(6, 'UTC'),
    poll_id String,
    endpoint LowCardinality(String),
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2),
    order_id String,
    id_kind Enum8('external-id' = 1, 'transaction-id' = 2),
    cause LowCardinality(String),
    http_status Nullable(UInt16),
    outcome Enum8('ok' = 1, 'not_found' = 2, 'unauthorized' = 3, 'forbidden' = 4, 'locked' = 5, 'rate_limited' = 6, 'client_error' = 7, 'unknown' = 8, 'invalid_response' = 9),
    error_type LowCardinality(String),
    duration_ms Float64,
    lateness_ms Float64,
    reply_bytes UInt32,
    items UInt32,
    new_items UInt32,
    refused_items UInt32,
    anomaly LowCardinality(String),
    collector_id LowCardinality(String),
    batch_seq UInt64,
    INDEX batch_seq_range batch_seq TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toMonday(started_at)
ORDER BY (gateway, started_at, poll_id)
SETTINGS non_replicated_deduplication_window = 10000;

-- What fits no other row, with the reason and where to read it again.
CREATE TABLE IF NOT EXISTS rejects_store
(
    gateway LowCardinality(String),
    reason LowCardinality(String),
    reject_id String,
    rejected_at DateTime64(6, 'UTC'),
    source LowCardinality(String),
    field String,
    expected String,
    received String,
    content String,
    topic LowCardinality(String),
    kafka_partition Nullable(Int32),
    kafka_offset Nullable(Int64),
    delivery_id String,
    order_type LowCardinality(Nullable(String)),
    order_id Nullable(String),
    collector_id LowCardinality(String),
    batch_seq UInt64,
    version UInt64 MATERIALIZED bitNot(toUInt64(toUnixTimestamp64Micro(rejected_at))),
    INDEX batch_seq_range batch_seq TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY tuple()
ORDER BY (gateway, reason, reject_id)
SETTINGS non_replicated_deduplication_window = 10000;

-- That a reject was set right: its record went in on a later attempt, or its order was read again without fault.
CREATE TABLE IF NOT EXISTS reject_resolutions_store
(
    gateway LowCardinality(String),
    reason LowCardinality(String),
    reject_id String,
    resolved_at DateTime64(6, 'UTC'),
    resolution Enum8('stored' = 1, 'read_again' = 2)
)
ENGINE = ReplacingMergeTree
PARTITION BY tuple()
ORDER BY (gateway, reason, reject_id)
SETTINGS non_replicated_deduplication_window = 10000;

-- One request to watch an order that was taken: a message of the watch topic, or an entry of `POST /orders`.
CREATE TABLE IF NOT EXISTS watch_requests_store
(
    gateway LowCardinality(String),
    received_at DateTime64(6, 'UTC'),
    request_id String,
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2),
    id_kind Enum8('external-id' = 1, 'transaction-id' = 2),
    order_id String,
    channel LowCardinality(String),
    amount Nullable(String),
    currency LowCardinality(Nullable(String)),
    source LowCardinality(String),
    topic LowCardinality(String),
    kafka_partition Nullable(Int32),
    kafka_offset Nullable(Int64),
    collector_id LowCardinality(String),
    batch_seq UInt64,
    version UInt64 MATERIALIZED bitNot(toUInt64(toUnixTimestamp64Micro(received_at))),
    INDEX batch_seq_range batch_seq TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY tuple()
ORDER BY (gateway, order_id, request_id)
SETTINGS non_replicated_deduplication_window = 10000;

-- One order that was read to its end, or given up. Source of the root spans.
CREATE TABLE IF NOT EXISTS settlements_store
(
    gateway LowCardinality(String),
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2),
    external_id String,
    settled_at DateTime64(6, 'UTC'),
    kind Enum8('settled' = 1, 'abandoned' = 2),
    status Nullable(String),
    outcome LowCardinality(Nullable(String)),
    reason_group LowCardinality(Nullable(String)),
    reason_detail LowCardinality(Nullable(String)),
    history_items UInt32,
    external_transaction_id String,
    channel LowCardinality(String),
    first_event_at DateTime64(6, 'UTC'),
    last_event_at DateTime64(6, 'UTC'),
    collector_id LowCardinality(String),
    batch_seq UInt64,
    version UInt64 MATERIALIZED bitNot(toUInt64(toUnixTimestamp64Micro(settled_at))),
    INDEX batch_seq_range batch_seq TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (gateway, order_type, external_id)
SETTINGS non_replicated_deduplication_window = 10000;

-- The poller's memory: one row per watched order, the newest wins.
CREATE TABLE IF NOT EXISTS order_watch
(
    gateway LowCardinality(String),
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2),
    id_kind Enum8('external-id' = 1, 'transaction-id' = 2),
    order_id String,
    updated_at DateTime64(6, 'UTC'),
    phase Enum8('active' = 1, 'rereading' = 2, 'settled' = 3, 'abandoned' = 4, 'merged' = 5),
    next_poll_at DateTime64(6, 'UTC'),
    attempt UInt32,
    reread UInt32,
    first_seen_at DateTime64(6, 'UTC'),
    final_at Nullable(DateTime64(6, 'UTC')),
    last_status Nullable(String),
    external_id String,
    external_transaction_id String,
    channel LowCardinality(String),
    amount Nullable(String),
    currency LowCardinality(Nullable(String)),
    root_sent UInt8,
    collector_id LowCardinality(String)
)
ENGINE = ReplacingMergeTree(updated_at)
ORDER BY (gateway, order_type, id_kind, order_id)
SETTINGS non_replicated_deduplication_window = 10000;

-- One acknowledged batch: what came in and what it became.
CREATE TABLE IF NOT EXISTS ingest_ledger
(
    collector_id LowCardinality(String),
    batch_seq UInt64,
    acknowledged_at DateTime64(6, 'UTC'),
    kafka_records UInt32,
    http_deliveries UInt32,
    watch_requests UInt32,
    replies UInt32,
    history_items UInt32,
    callback_rows UInt32,
    history_rows UInt32,
    reject_rows UInt32,
    coordinates String
)
ENGINE = ReplacingMergeTree
ORDER BY (collector_id, batch_seq)
SETTINGS non_replicated_deduplication_window = 10000;

-- How far each exporter has read the stored rows of its collector.
CREATE TABLE IF NOT EXISTS export_cursor
(
    collector_id LowCardinality(String),
    exporter LowCardinality(String),
    batch_seq UInt64
)
ENGINE = ReplacingMergeTree(batch_seq)
ORDER BY (collector_id, exporter);

CREATE TABLE IF NOT EXISTS collector_status_store
(
    collector_id LowCardinality(String),
    reported_at DateTime64(6, 'UTC'),
    version LowCardinality(String),
    started_at DateTime64(6, 'UTC'),
    consumer_lag UInt64,
    last_progress_at DateTime64(6, 'UTC'),
    watched_orders UInt32,
    due_orders UInt32,
    lateness_p99_ms Float64,
    circuits_open UInt16,
    rejects_total UInt64,
    duplicates_total UInt64,
    retries_total UInt64,
    spans_exported_total UInt64,
    span_backlog UInt64,
    memory_bytes UInt64
)
ENGINE = ReplacingMergeTree
PARTITION BY toMonday(reported_at)
ORDER BY (collector_id, reported_at)
SETTINGS non_replicated_deduplication_window = 1000;

-- What one collector knows about one gateway: `watermark_at` is the instant up to which its view of the gateway is complete.
CREATE TABLE IF NOT EXISTS gateway_status_store
(
    gateway LowCardinality(String),
    collector_id LowCardinality(String),
    reported_at DateTime64(6, 'UTC'),
    watermark_at DateTime64(6, 'UTC'),
    watched_orders UInt32,
    due_orders UInt32,
    circuits_open UInt16,
    last_reply_at Nullable(DateTime64(6, 'UTC'))
)
ENGINE = ReplacingMergeTree
PARTITION BY toMonday(reported_at)
ORDER BY (gateway, collector_id, reported_at)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS annotations_store
(
    annotation_id String,
    starts_at DateTime64(6, 'UTC'),
    ends_at Nullable(DateTime64(6, 'UTC')),
    gateway LowCardinality(String),
    title String,
    text String,
    tags Array(String)
)
ENGINE = ReplacingMergeTree
ORDER BY annotation_id
SETTINGS non_replicated_deduplication_window = 1000;
