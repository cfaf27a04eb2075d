-- One row: one delivery of one callback.
-- Written by: the materialized view below, from callback_deliveries_store.
-- Sorted by time. It only narrows what must be read of `callbacks`: a delivery that was read again after a restart stands here once more,
-- later. `content_key`: a content is looked for among all arrivals by the first eight bytes of its hash.
CREATE TABLE IF NOT EXISTS callback_arrivals_store
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    received_at DateTime64(6, 'UTC') COMMENT 'When it came, or was read again.' CODEC(Delta(8), ZSTD(1)),
    content_hash FixedString(32) COMMENT 'As in `callbacks`.',
    order_type LowCardinality(Nullable(String)) COMMENT 'As it says; not verified.',
    external_id Nullable(String) COMMENT 'As it says; not verified.' CODEC(ZSTD(1)),
    verdict Enum8('valid' = 1, 'valid_previous_key' = 2, 'mismatch' = 3, 'missing_signature' = 4, 'malformed' = 5) COMMENT 'Of this arrival: narrows `callback_verdicts`, where the one given last counts.',
    content_key UInt64 MATERIALIZED reinterpretAsUInt64(content_hash) COMMENT 'The first eight bytes of `content_hash` as a number.',
    status LowCardinality(Nullable(String)) COMMENT '`orderStatus` of the newest status reply, as it came.',
    amount Nullable(String) COMMENT 'Amount in units of `currency`, exact; a status reply beats a watch message, which beats a callback. A tail such as that of 29.949999999999999 is rounded to the currency. NULL where nobody named one, and where the best source named one that cannot be kept: see `rejects`, reason `field_unreadable`.' CODEC(ZSTD(1)),
    currency LowCardinality(Nullable(String)) COMMENT 'Currency code in upper case; NULL when nobody named one.',
    signature_cause LowCardinality(String) DEFAULT if(verdict = 'mismatch', 'not_examined', 'none') COMMENT 'What would make a signature with the verdict `mismatch` verify: a name of [the list](signature-causes.md); `none` with any other verdict. A diagnosis, on which nothing depends.',
    body_seal UInt16 COMMENT 'Whose seal `body_key` is part of (schemas/rows.ts); 0: none is kept.',
    body_key UInt32 COMMENT 'Four bytes of the seal of the body, of final callbacks that verify: deliveries of one body have it in common. 0: not kept.' CODEC(ZSTD(1)),
    INDEX external_id_filter external_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toMonday(received_at)
ORDER BY (received_at, gateway, content_hash)
TTL toDateTime(received_at) + toIntervalDay(400)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS callback_deliveries_to_arrivals TO callback_arrivals_store AS
SELECT
    gateway, received_at, content_hash, order_type, external_id, verdict, status, amount, currency, signature_cause,
    body_seal, body_key
FROM callback_deliveries_store;
