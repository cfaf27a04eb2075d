-- One row: one rule, gateway, slice, label and minute: what the rule saw.
-- Written by: the evaluator.
-- The first row of an identity wins, since its version falls as time rises: a second evaluator does not change what people were sent.
CREATE TABLE IF NOT EXISTS alert_evaluations_store
(
    rule LowCardinality(String) COMMENT 'Name of the rule.',
    kind Enum8('share' = 1, 'drop' = 2, 'gauge' = 3) COMMENT 'A share of orders, fewer orders than usual, or a number that is too large.',
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    slice LowCardinality(String) COMMENT 'The orders that it judged: `order_type=Withdrawal`, `channel=p2p`, `currency=BRL`; empty for all of the gateway.',
    label LowCardinality(String) COMMENT 'Stage, reason, state or collector that the rule distinguishes; mostly empty.',
    as_of DateTime('UTC') COMMENT 'The evaluation: a whole minute.',
    window_from DateTime64(6, 'UTC') COMMENT 'Begin of the window that the rule judged by. Of a number: `as_of`.',
    window_to DateTime64(6, 'UTC') COMMENT 'Its end, exclusive: it stands still while the gateway cannot be read. Of a number: `as_of`.',
    seen UInt64 COMMENT 'n: distinct orders at the same place. Of a drop: those that were counted.',
    affected UInt64 COMMENT 'Distinct orders hit. Of a drop: those that were counted.',
    expected Nullable(Float64) COMMENT 'Orders that are usual: of a drop those counted, of a share with a baseline those hit.',
    limit Float64 COMMENT 'A share is an incident from this many affected orders on, a drop down to this many; a number above it.',
    share Nullable(Float64) COMMENT '`affected / seen`, of a drop `seen / expected`: 0 to 1, NULL without orders.',
    number Nullable(Float64) COMMENT 'What a rule about a number compares.',
    breach UInt8 COMMENT '1 while it is an incident.',
    suppressed_by LowCardinality(String) COMMENT 'Why it is none all the same: the rule that names the cause, the slice that does, `whole` where the whole gateway is in breach, or `settings`; empty otherwise.',
    definition LowCardinality(String) COMMENT 'Fingerprint of the rule''s data and settings.',
    evaluated_at DateTime64(6, 'UTC') COMMENT 'When it was worked out.',
    evaluator LowCardinality(String) COMMENT 'The collector that did.',
    took_ms Float64 COMMENT 'How long the pass over all rules took.',
    version UInt64 MATERIALIZED bitNot(toUInt64(toUnixTimestamp64Micro(evaluated_at))) COMMENT 'Falls as time rises, so that the first row of an identity wins.'
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(as_of)
ORDER BY (rule, as_of, gateway, slice, label)
TTL toDateTime(as_of) + toIntervalDay(400)
SETTINGS non_replicated_deduplication_window = 1000;
