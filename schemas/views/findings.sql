-- One row: one contradiction about one order.
-- - Identity: `gateway, order_type, external_id, kind, subject`. The [kinds](#kinds-of-findings) are a closed set.
-- - Compared every five minutes from stored facts, up to where our picture of the gateway is complete. The same facts give the same row,
--   however often they are compared.
-- - Open ones: `WHERE resolved_at IS NULL`.
CREATE OR REPLACE VIEW findings
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
    resolved_at Nullable(DateTime64(6, 'UTC')) COMMENT 'When the sources came to agree; NULL while they do not.'
)
AS
SELECT
    gateway, order_type, external_id, kind, subject, found_at, side, expected, received, evidence, resolved_at
FROM findings_store FINAL;
