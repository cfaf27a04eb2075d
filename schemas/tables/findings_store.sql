-- One row: one contradiction about one order; the newest judgement counts.
-- Written by: the comparison of sources (alerts/findings).
CREATE TABLE IF NOT EXISTS findings_store
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2) COMMENT 'Type of the order.',
    external_id String COMMENT 'The order''s id in the service.',
    kind LowCardinality(String) COMMENT 'What contradicts what.',
    subject String COMMENT 'Distinguishes two findings of one kind; mostly empty.',
    found_at DateTime64(6, 'UTC') COMMENT 'From when on it was a contradiction, by the times of the facts: the time that late items need is over.',
    side LowCardinality(String) COMMENT 'Where the fault most likely is: `gateway`, `provider`, `merchant` (our shop and what lies before our intake) or `stranger` (whoever can pass on or keep a callback).',
    expected String COMMENT 'What one source says.',
    received String COMMENT 'What the other one says.',
    evidence Array(Tuple(source String, at DateTime64(6, 'UTC'), what String)) COMMENT 'What was seen where and when: source (`history`, `reply`, `callback`, `watch`), `at`, `what`.',
    resolved_at Nullable(DateTime64(6, 'UTC')) COMMENT 'When the sources came to agree; NULL while they do not.',
    judged_at DateTime64(6, 'UTC') COMMENT 'When it was judged last: the newest judgement counts.',
    INDEX found_at_range found_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(judged_at)
ORDER BY (gateway, kind, order_type, external_id, subject)
TTL toDateTime(found_at) + toIntervalDay(400)
SETTINGS non_replicated_deduplication_window = 1000;
