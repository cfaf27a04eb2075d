-- One row: one order whose money something technical came between.
-- - Identity: `gateway, order_type, external_id`. An order is in one state, the one of now; one that was simply paid or declined is not
--   here.
-- - Amounts are never added over currencies: group by `currency`. Without a status reply or a message that named it, `amount` is NULL.
--
-- Half an hour is what the alert rule `StuckOrders` waits, too (schemas/limits.ts).
CREATE OR REPLACE VIEW order_money
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2) COMMENT 'Type of the order.',
    external_id String COMMENT 'The order''s id in the service.',
    money String COMMENT '`at_risk`: undecided after an operation failed for a technical reason (TECH, AUTHZ); `delayed`: undecided half an hour after it entered processing, without such a failure; `declined_technically`: failed for a technical reason; `recovered`: paid after an operation had failed for one.',
    since DateTime64(6, 'UTC') COMMENT 'When it came into that state: the failure, the end of the half hour, the decision.',
    channel LowCardinality(String) COMMENT 'The channel that a watch message named; empty when none did. The code does not carry it.',
    amount Nullable(Decimal(38, 9)) COMMENT 'Amount in units of `currency`, as in `orders`.',
    currency LowCardinality(Nullable(String)) COMMENT 'Currency code in upper case; NULL when nobody named one.',
    last_item_at Nullable(DateTime64(6, 'UTC')) COMMENT 'Time of the order''s last history item: half an hour before `since` at the earliest, and quick to find orders by.'
)
AS
SELECT
    gateway,
    order_type,
    external_id,
    multiIf(
        outcome = 'technical_failure', 'declined_technically',
        outcome = 'succeeded' AND first_technical_failure_at < final_at, 'recovered',
        outcome IS NULL AND first_technical_failure_at IS NOT NULL, 'at_risk',
        outcome IS NULL AND processing_at + INTERVAL 1800 SECOND < now64(6), 'delayed',
        '') AS money,
    assumeNotNull(coalesce(final_at, first_technical_failure_at, processing_at + INTERVAL 1800 SECOND)) AS since,
    channel,
    amount,
    currency,
    last_item_at
FROM orders
WHERE money != '';
