-- One row: one row of an order that has both of its ids.
-- - Finds orders by the merchant's id. An order can have several rows: use it with `IN`.
CREATE OR REPLACE VIEW order_ids
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2) COMMENT 'Type of the order.',
    external_id String COMMENT 'The order''s id in the service.',
    external_transaction_id String COMMENT 'The merchant''s own id of the payment; empty when not known.'
)
AS
SELECT gateway, order_type, external_id, external_transaction_id
FROM orders_store
WHERE external_transaction_id != '';
