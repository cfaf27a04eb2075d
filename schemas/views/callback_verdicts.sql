-- One row: one distinct content of a callback: its body and its signature.
-- - What `callbacks` says of signatures, laid out by time. Narrow it by `content_key IN (SELECT content_key FROM callback_arrivals WHERE
--   ...)` and ask for `first_received_at`: it costs what the range holds.
-- - Where deliveries of one content got different verdicts, as after a change of keys, the one given last counts.
CREATE OR REPLACE VIEW callback_verdicts
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    content_hash String COMMENT 'As in `callbacks`.',
    content_key UInt64 COMMENT 'As in `callback_arrivals`. Not unique: an identity is the hash.',
    verdict Enum8('valid' = 1, 'valid_previous_key' = 2, 'mismatch' = 3, 'missing_signature' = 4, 'malformed' = 5) COMMENT 'As in `callbacks`.',
    signature_cause String COMMENT 'As in `callbacks`.',
    external_id Nullable(String) COMMENT 'As it says; not verified.',
    order_type Nullable(String) COMMENT 'As it says; not verified.',
    first_received_at DateTime64(6, 'UTC') COMMENT 'When the content first came.'
)
AS
SELECT gateway, lower(hex(hash)) AS content_hash, content_key, verdict, signature_cause, external_id, order_type, first_received_at
FROM
(
    SELECT
        a.gateway AS gateway,
        a.content_hash AS hash,
        a.content_key AS content_key,
        argMax(a.verdict, a.received_at) AS verdict,
        if(verdict = 'mismatch', ifNull(argMaxOrNullIf(toString(a.signature_cause), a.received_at, a.signature_cause NOT IN ('none', 'not_examined')), 'not_examined'), 'none') AS signature_cause,
        argMax(a.external_id, a.received_at) AS external_id,
        argMax(a.order_type, a.received_at) AS order_type,
        min(a.received_at) AS first_received_at
    FROM callback_arrivals_store AS a
    GROUP BY a.gateway, a.content_hash, a.content_key
);
