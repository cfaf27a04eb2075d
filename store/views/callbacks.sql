-- Callbacks by content, by arrival and by verdict.

CREATE OR REPLACE VIEW callbacks AS
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

-- Arrivals about one order are found as its status requests are (operation.sql).
CREATE OR REPLACE VIEW callback_arrivals AS
SELECT gateway, lower(hex(content_hash)) AS content_hash, received_at, order_type, external_id, content_key, verdict
FROM callback_arrivals_store FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1, use_skip_indexes_if_final_exact_mode = 0;

CREATE OR REPLACE VIEW callback_verdicts AS
SELECT gateway, lower(hex(hash)) AS content_hash, content_key, verdict, signature_cause, external_id, order_type, first_received_at
FROM
(
    SELECT
        a.gateway AS gateway,
        a.content_hash AS hash,
        a.content_key AS content_key,
        argMaxIf(a.verdict, a.received_at, a.verdict != 'unknown') AS verdict,
        if(verdict = 'mismatch', ifNull(argMaxOrNullIf(toString(a.signature_cause), a.received_at, a.signature_cause NOT IN ('none', 'not_examined')), 'not_examined'), 'none') AS signature_cause,
        argMax(a.external_id, a.received_at) AS external_id,
        argMax(a.order_type, a.received_at) AS order_type,
        min(a.received_at) AS first_received_at
    FROM callback_arrivals_store AS a
    GROUP BY a.gateway, a.content_hash, a.content_key
);
