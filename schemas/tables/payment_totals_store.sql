-- One row: the sum of one set of labels up to `summed_to`.
-- Written by: payment metrics.
-- Nobody reads more than the last minutes of counts. Sums are made anew as a whole: writing them twice changes nothing.
CREATE TABLE IF NOT EXISTS payment_totals_store
(
    summed_to DateTime64(6, 'UTC') COMMENT 'All that was counted before this is in the sum.',
    about Enum8('order' = 1, 'callback' = 2, 'finding' = 3) COMMENT 'What was counted.',
    kind LowCardinality(String) COMMENT 'Which metric.',
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    order_type LowCardinality(String) COMMENT 'Type of the order.',
    first_label LowCardinality(String) COMMENT 'Label of the metric.',
    second_label LowCardinality(String) COMMENT 'Label of the metric.',
    bucket Int16 COMMENT 'Bucket of the duration (schemas/payment-metrics.ts).',
    counted UInt64 COMMENT 'How many.',
    micros Int64 COMMENT 'Sum of durations in microseconds.',
    amount Decimal(38, 9) COMMENT 'Sum of amounts.',
    first_at DateTime64(6, 'UTC') COMMENT 'When the first of them was counted.'
)
ENGINE = ReplacingMergeTree(summed_to)
ORDER BY (about, kind, gateway, order_type, first_label, second_label, bucket);
