-- One row: one distinct content of a callback: body and signature together.
-- - Identity: `gateway, content_hash`.
-- - A wrong signature is a row here, with its verdict. It is not a reject.
-- - Only `external_id`, `status`, `amount` and `order_type` are covered by the signature, `currency` is not, and a replay verifies: treat
--   a row as a hint, and `orders` as the answer.
CREATE OR REPLACE VIEW callbacks
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    content_hash String COMMENT 'SHA-256 over body and signature, 64 hexadecimal digits.',
    verdict Enum8('valid' = 1, 'valid_previous_key' = 2, 'mismatch' = 3, 'missing_signature' = 4, 'malformed' = 5) COMMENT 'Verdict on the signature. `malformed`: it could not be read, or had more than one signature.',
    signature_cause String COMMENT 'What would make a signature with the verdict `mismatch` verify: a name of [the list](signature-causes.md); `none` with any other verdict. A diagnosis, on which nothing depends.',
    external_id Nullable(String) COMMENT 'Order it speaks of; NULL when malformed.',
    status Nullable(String) COMMENT 'Status it claims.',
    amount Nullable(String) COMMENT 'Amount it claims, the exact text.',
    order_type Nullable(String) COMMENT 'Order type it claims.',
    currency Nullable(String) COMMENT 'Currency it claims. Not covered by the signature.',
    problem String COMMENT 'What is wrong with it, for people; empty when nothing is. Values are redacted.',
    source String COMMENT '`kafka` or `http`.',
    first_received_at DateTime64(6, 'UTC') COMMENT 'When it first arrived.',
    last_received_at DateTime64(6, 'UTC') COMMENT 'When it last arrived.',
    deliveries UInt64 COMMENT 'How often it was delivered. A re-read of ours counts once; a re-send of the gateway counts again.'
)
AS
SELECT
    gateway,
    lower(hex(content_hash)) AS content_hash,
    argMax(d.verdict, d.received_at) AS verdict,
    -- Of a content that comes again, what was found when it was examined.
    if(verdict = 'mismatch', ifNull(argMaxOrNullIf(toString(d.signature_cause), d.received_at, d.signature_cause NOT IN ('none', 'not_examined')), 'not_examined'), 'none') AS signature_cause,
    argMax(d.external_id, d.received_at) AS external_id,
    argMax(d.status, d.received_at) AS status,
    argMax(d.amount, d.received_at) AS amount,
    argMax(d.order_type, d.received_at) AS order_type,
    argMax(d.currency, d.received_at) AS currency,
    argMax(d.problem, d.received_at) AS problem,
    argMax(d.source, d.received_at) AS source,
    min(d.received_at) AS first_received_at,
    max(d.received_at) AS last_received_at,
    uniqExact(d.delivery_id) AS deliveries
FROM callback_deliveries_store AS d
GROUP BY gateway, content_hash;
