-- Why a signature does not verify, as far as trying told: beside the verdict, in both places where that stands. The names are those of
-- schemas/signature-causes.ts; text, so that a new one needs no migration. What was stored before, or by a version that does not know the
-- column, was not examined.

ALTER TABLE callback_deliveries_store
    ADD COLUMN IF NOT EXISTS signature_cause LowCardinality(String) DEFAULT if(verdict = 'mismatch', 'not_examined', 'none');

ALTER TABLE callback_arrivals_store
    ADD COLUMN IF NOT EXISTS signature_cause LowCardinality(String) DEFAULT if(verdict = 'mismatch', 'not_examined', 'none');

ALTER TABLE callback_deliveries_to_arrivals MODIFY QUERY
SELECT gateway, received_at, content_hash, order_type, external_id, verdict, status, amount, currency, signature_cause
FROM callback_deliveries_store;
