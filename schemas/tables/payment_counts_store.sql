-- One row: one thing that payment metrics counted: of an order, a callback or a finding.
-- Written by: payment metrics (alerts/payment-metrics).
-- Counted once over restarts and collectors: the same thing counted twice is one thing (about, id, kind, subject). Rows of one order lie
-- together, which halves what they take.
CREATE TABLE IF NOT EXISTS payment_counts_store
(
    about Enum8('order' = 1, 'callback' = 2, 'finding' = 3) COMMENT 'What was counted.',
    counted_at DateTime64(6, 'UTC') COMMENT 'When.' CODEC(Delta(8), ZSTD(1)),
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    order_type LowCardinality(String) COMMENT 'Type of the order.',
    id FixedString(16) COMMENT 'Of an order: its trace id.' CODEC(ZSTD(1)),
    kind LowCardinality(String) COMMENT 'Which metric it counts for.',
    subject String COMMENT 'Distinguishes two of one kind.' CODEC(ZSTD(1)),
    first_label LowCardinality(String) COMMENT 'Label of the metric.',
    second_label LowCardinality(String) COMMENT 'Label of the metric.',
    micros Nullable(Int64) COMMENT 'A duration in microseconds.' CODEC(ZSTD(1)),
    amount Nullable(Decimal(38, 9)) COMMENT 'An amount.' CODEC(ZSTD(1)),
    INDEX id_filter id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toDate(counted_at)
ORDER BY (about, counted_at, gateway, order_type, id, kind, subject)
TTL toDateTime(counted_at) + toIntervalDay(8);
