-- What deliveries of one body have in common whatever way they came, whole or reduced by our intake: of final callbacks that verify, four
-- bytes of the body's seal, and whose seal it is (schemas/rows.ts). 0: not kept, as of all rows of before, and compared with nothing.

ALTER TABLE callback_deliveries_store
    ADD COLUMN IF NOT EXISTS body_seal UInt16,
    ADD COLUMN IF NOT EXISTS body_key UInt32 CODEC(ZSTD(1));

ALTER TABLE callback_arrivals_store
    ADD COLUMN IF NOT EXISTS body_seal UInt16,
    ADD COLUMN IF NOT EXISTS body_key UInt32 CODEC(ZSTD(1));

ALTER TABLE callback_deliveries_to_arrivals MODIFY QUERY
SELECT gateway, received_at, content_hash, order_type, external_id, verdict, status, amount, currency, signature_cause, body_seal, body_key
FROM callback_deliveries_store;
