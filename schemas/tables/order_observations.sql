-- One row: one statement about one order: of a status reply, a callback or a watch message.
-- Written by: the collector.
-- Nothing is stored here: orders_store and order_claims_store are made of it.
CREATE TABLE IF NOT EXISTS order_observations
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2) COMMENT 'Type of the order.',
    external_id String COMMENT 'The order''s id in the service.',
    observed_at DateTime64(6, 'UTC') COMMENT 'When it was said to us.',
    kind Enum8('callback' = 1, 'watch' = 2, 'status_reply' = 3) COMMENT 'Who said it; of two amounts that of the higher number counts.',
    external_transaction_id String COMMENT 'The merchant''s own id of the payment; empty when not known.',
    channel LowCardinality(String) COMMENT 'The channel that a watch message named; empty when none did. The code does not carry it.',
    status Nullable(String) COMMENT '`orderStatus` of the newest status reply, as it came.',
    amount Nullable(Decimal(38, 9)) COMMENT 'Amount in units of `currency`, exact; a status reply beats a watch message, which beats a callback. A tail such as that of 29.949999999999999 is rounded to the currency. NULL where nobody named one, and where the best source named one that cannot be kept: see `rejects`, reason `field_unreadable`.',
    currency LowCardinality(Nullable(String)) COMMENT 'Currency code in upper case; NULL when nobody named one.',
    outcome LowCardinality(Nullable(String)) COMMENT '`succeeded`, `technical_failure`, `business_failure`, `risk_decline`, `user_abandoned`, `issuer_decline` or `unspecified_failure`, by the deciding item; NULL while the order is pending.',
    deciding_action Nullable(String) COMMENT 'Code of the deciding item: the latest one with the state SUCCESS or FAILED.',
    reason_code Nullable(UInt8) COMMENT 'Reason of the deciding item.',
    reason_group LowCardinality(Nullable(String)) COMMENT 'Its group.',
    reason_detail LowCardinality(Nullable(String)) COMMENT 'Its name.',
    history_items UInt32 COMMENT 'Number of history items known.',
    created_at Nullable(DateTime64(6, 'UTC')) COMMENT 'Time of the first history item.',
    final_at Nullable(DateTime64(6, 'UTC')) COMMENT 'Time of the deciding item. `final_at - created_at` is the time to final.',
    settled_at Nullable(DateTime64(6, 'UTC')) COMMENT 'Set with the reply after which the order was settled.',
    abandoned_at Nullable(DateTime64(6, 'UTC')) COMMENT 'Set when the order was given up.',
    amount_refused UInt8 DEFAULT 0 COMMENT '1: the reply names an amount that cannot be kept, and nobody else''s stands in its place.'
)
ENGINE = Null;
