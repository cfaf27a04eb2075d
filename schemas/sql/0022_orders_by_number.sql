-- Amounts of the orders that a panel found by their numbers (schemas/order-quarters.ts): without this column the number of every order ever
-- seen was computed of its ids for each look, 1.2 s for eight million. What is stored already gets it in the background, and is computed
-- until then.

ALTER TABLE orders_store
    ADD COLUMN IF NOT EXISTS order_number UInt64 MATERIALIZED sipHash64(toString(gateway), toString(order_type), external_id) CODEC(NONE);

ALTER TABLE orders_store MATERIALIZE COLUMN order_number SETTINGS mutations_sync = 0;
