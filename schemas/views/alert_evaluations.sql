-- One row: one rule, gateway, slice, label and minute.
-- - What a rule saw, as it saw it: a row is never changed. Written once a minute by the collector that evaluates, for the slow rules
--   every ten minutes.
-- - Counts hold what was known at `as_of`, so `incident_orders(rule, gateway, window_from, window_to, as_of)` has `affected` rows for the
--   label and slice.
-- - A slice has rows while the rule is in breach there, and for an hour after that. A gateway as a whole has one a minute.
CREATE OR REPLACE VIEW alert_evaluations
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
    took_ms Float64 COMMENT 'How long the pass over all rules took.'
)
AS
SELECT
    rule, kind, gateway, slice, label, as_of, window_from, window_to, seen, affected, expected, limit, share, number, breach,
    suppressed_by, definition, evaluated_at, evaluator, took_ms
FROM alert_evaluations_store FINAL;
