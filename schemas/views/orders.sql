-- One row: one order.
-- - Identity: `gateway, order_type, external_id`.
-- - Everything that tells of status and outcome is from the newest status reply. A callback never writes status: it is a hint.
-- - An order that was only heard of in a callback or a watch message has a row whose reply columns are NULL.
-- - Outcome and `final_at` are those of the latest deciding item known now. Panels and rules take the latest one within their window: an
--   order that was decided again after it, as by a repeated check, is in their number for that window and not in one by `final_at`.
--
-- Conditions on id and number reach the table, which is sorted by the id. Repetitions are folded by grouping: FINAL costs a single order
-- 11 to 24 times as much.
CREATE OR REPLACE VIEW orders
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2) COMMENT 'Type of the order.',
    external_id String COMMENT 'The order''s id in the service.',
    external_transaction_id SimpleAggregateFunction(max, String) COMMENT 'The merchant''s own id of the payment; empty when not known.',
    channel SimpleAggregateFunction(max, String) COMMENT 'The channel that a watch message named; empty when none did. The code does not carry it.',
    status Nullable(String) COMMENT '`orderStatus` of the newest status reply, as it came.',
    amount Nullable(Decimal(38, 9)) COMMENT 'Amount in units of `currency`, exact; a status reply beats a watch message, which beats a callback. A tail such as that of 29.949999999999999 is rounded to the currency. NULL where nobody named one, and where the best source named one that cannot be kept: see `rejects`, reason `field_unreadable`.',
    amount_source Nullable(String) COMMENT '`status`, `watch` or `callback`: who named the amount, also where it cannot be kept.',
    currency Nullable(String) COMMENT 'Currency code in upper case; NULL when nobody named one.',
    currency_source Nullable(String) COMMENT '`status`, `watch` or `callback`. A currency from a callback is not authenticated.',
    outcome Nullable(String) COMMENT '`succeeded`, `technical_failure`, `business_failure`, `risk_decline`, `user_abandoned`, `issuer_decline` or `unspecified_failure`, by the deciding item; NULL while the order is pending.',
    deciding_action Nullable(String) COMMENT 'Code of the deciding item: the latest one with the state SUCCESS or FAILED.',
    reason_code Nullable(UInt8) COMMENT 'Reason of the deciding item.',
    reason_group Nullable(String) COMMENT 'Its group.',
    reason_detail Nullable(String) COMMENT 'Its name.',
    history_items UInt32 COMMENT 'Number of history items known.',
    first_seen_at SimpleAggregateFunction(min, DateTime64(6, 'UTC')) COMMENT 'When gatewatch first heard of the order.',
    created_at Nullable(DateTime64(6, 'UTC')) COMMENT 'Time of the first history item.',
    final_at Nullable(DateTime64(6, 'UTC')) COMMENT 'Time of the deciding item. `final_at - created_at` is the time to final.',
    settled_at Nullable(DateTime64(6, 'UTC')) COMMENT 'When the re-reads after the final status ended without news.',
    abandoned_at Nullable(DateTime64(6, 'UTC')) COMMENT 'When the order was given up without a final status.',
    last_reply_at Nullable(DateTime64(6, 'UTC')) COMMENT 'When the newest status reply arrived that told something new, or was the last one before the order settled. When the order was last read is in `polls`.',
    order_number UInt64 COMMENT 'As in `order_quarters`: quick to find an order by that is known from there.'
)
AS
SELECT
    gateway,
    order_type,
    external_id,
    external_transaction_id,
    channel,
    reply_now.status AS status,
    toDecimal128OrNull(substring(amount_now, 18), 9) AS amount,
    if(amount_now = '', NULL, transform(substring(amount_now, 1, 1), ['1', '2', '3'], ['callback', 'watch', 'status'], '')) AS amount_source,
    if(currency_now = '', NULL, substring(currency_now, 18)) AS currency,
    if(currency_now = '', NULL, transform(substring(currency_now, 1, 1), ['1', '2', '3'], ['callback', 'watch', 'status'], '')) AS currency_source,
    reply_now.outcome AS outcome,
    reply_now.deciding_action AS deciding_action,
    reply_now.reason_code AS reason_code,
    reply_now.reason_group AS reason_group,
    reply_now.reason_detail AS reason_detail,
    reply_now.history_items AS history_items,
    first_seen_at,
    fromUnixTimestamp64Micro(reply_now.created_at, 'UTC') AS created_at,
    fromUnixTimestamp64Micro(reply_now.final_at, 'UTC') AS final_at,
    settled_at,
    abandoned_at,
    last_reply_at,
    order_number
FROM
(
    SELECT
        gateway, order_type, external_id, order_number,
        max(s.external_transaction_id) AS external_transaction_id,
        max(s.channel) AS channel,
        min(s.first_seen_at) AS first_seen_at,
        max(s.last_reply_at) AS last_reply_at,
        max(s.settled_at) AS settled_at,
        max(s.abandoned_at) AS abandoned_at,
        JSONExtract(substring(max(s.last_reply), 17), 'Tuple(status Nullable(String), outcome Nullable(String), deciding_action Nullable(String), reason_code Nullable(UInt8), reason_group Nullable(String), reason_detail Nullable(String), history_items UInt32, created_at Nullable(Int64), final_at Nullable(Int64))') AS reply_now,
        max(s.amount_told) AS amount_now,
        max(s.currency_told) AS currency_now
    FROM orders_store AS s
    GROUP BY gateway, order_type, external_id, order_number
);
