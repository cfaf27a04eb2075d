-- One row: one status request of ours.
-- - A request that failed says nothing about the payment.
--
-- The requests about one order are found by an index, which FINAL widens to all that lies at the same time, in case another version of a row
-- says otherwise (`use_skip_indexes_if_final_exact_mode`): 1.3 s among 57 million, 0.06 without. A request that stands here twice says the
-- same twice.
CREATE OR REPLACE VIEW polls
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    started_at DateTime64(6, 'UTC') COMMENT 'When the request began.',
    poll_id String COMMENT 'Identity of the request.',
    endpoint LowCardinality(String) COMMENT '`deposit-status`, `deposit-status-by-transaction`, `withdrawal-status` or `withdrawal-status-by-transaction`.',
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2) COMMENT 'Type of the order.',
    order_id String COMMENT 'The id that was asked for.',
    id_kind Enum8('external-id' = 1, 'transaction-id' = 2) COMMENT 'Whose id that is: the service''s or the merchant''s.',
    cause LowCardinality(String) COMMENT 'Why the order was read: `schedule`, `callback`, `watch`, `reread` or `probe`.',
    http_status Nullable(UInt16) COMMENT 'HTTP status; NULL without an answer.',
    outcome Enum8('ok' = 1, 'not_found' = 2, 'unauthorized' = 3, 'forbidden' = 4, 'locked' = 5, 'rate_limited' = 6, 'client_error' = 7, 'unknown' = 8, 'invalid_response' = 9) COMMENT 'How it ended. `unknown`: 499 and above, or no usable answer. `locked`: 423.',
    error_type LowCardinality(String) COMMENT '`timeout`, `connection_refused`, `connection_reset`, `dns`, `tls`, `truncated`, `too_large`, `http_503` and the like; empty when there is nothing to say.',
    duration_ms Float64 COMMENT 'Time from the request to the end of the reply, in milliseconds.',
    lateness_ms Float64 COMMENT 'How much later than due it began, in milliseconds.',
    reply_bytes UInt32 COMMENT 'Size of the reply''s body, in bytes.',
    items UInt32 COMMENT 'History items in the reply.',
    new_items UInt32 COMMENT 'History items that were not known before.',
    refused_items UInt32 COMMENT 'History items that could not be read; each is a reject.',
    anomaly LowCardinality(String) COMMENT '`history_shrank`, `history_out_of_order`, `history_inserted` (a late item in the middle) or empty.',
    missing_items UInt32 COMMENT 'History items that an earlier reply had and this one lacks.',
    missing_item String COMMENT 'The earliest of them: time, code and occurrence; empty without one.',
    news LowCardinality(String) COMMENT 'What it found that was not known, the first that is true: `status` (another status than before), `items` (history items, refused ones included), `facts` (another amount, currency or merchant''s id), `nothing`.',
    collector_id LowCardinality(String) COMMENT 'Which collector this is from.'
)
AS
SELECT
    gateway, started_at, poll_id, endpoint, order_type, order_id, id_kind, cause, http_status, outcome, error_type,
    duration_ms, lateness_ms, reply_bytes, items, new_items, refused_items, anomaly, missing_items, missing_item,
    news, collector_id
FROM polls_store FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1, use_skip_indexes_if_final_exact_mode = 0;
