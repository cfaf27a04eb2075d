-- One row: one arrival of one callback content.
-- - Shows which callbacks came in a time range, or about an order, without reading all of `callbacks`: use it in `content_hash IN (SELECT
--   ...)`.
-- - A delivery that gatewatch read again after a restart stands here once more, later: never count these rows.
--
-- Arrivals about one order are found as its status requests are (polls.sql).
CREATE OR REPLACE VIEW callback_arrivals
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    content_hash String COMMENT 'As in `callbacks`.',
    received_at DateTime64(6, 'UTC') COMMENT 'When it came, or was read again.',
    order_type LowCardinality(Nullable(String)) COMMENT 'As it says; not verified.',
    external_id Nullable(String) COMMENT 'As it says; not verified.',
    content_key UInt64 COMMENT 'The first eight bytes of the hash as a number: narrows `callback_verdicts`.',
    verdict Enum8('valid' = 1, 'valid_previous_key' = 2, 'mismatch' = 3, 'missing_signature' = 4, 'malformed' = 5) COMMENT 'Of this arrival: narrows `callback_verdicts`, where the one given last counts.'
)
AS
SELECT gateway, lower(hex(content_hash)) AS content_hash, received_at, order_type, external_id, content_key, verdict
FROM callback_arrivals_store FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1, use_skip_indexes_if_final_exact_mode = 0;
