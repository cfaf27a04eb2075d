-- One row: one item of the history of one order, decoded.
-- - Identity: `gateway, order_type, external_id, event_time, action, occurrence`. Each item is shown once, however often it was read; the
--   first arrival wins.
-- - Time order within an order is `event_time, list_position`.
-- - Polling repeats codes: count distinct orders (`uniqExact(gateway, order_type, external_id)`), never rows.
CREATE OR REPLACE VIEW history_events
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2) COMMENT 'Type of the order.',
    external_id String COMMENT 'The order''s id in the service.',
    event_time DateTime64(6, 'UTC') COMMENT 'The item''s `time`, to the microsecond.',
    action LowCardinality(String) COMMENT 'The code as it came, `A.C.B.RR` or anything else.',
    occurrence UInt16 COMMENT 'Counts equal pairs of time and code within one order, from 0: the second of two identical items has 1.',
    external_transaction_id String COMMENT 'The merchant''s own id of the payment; empty when not known.',
    channel LowCardinality(String) COMMENT 'The channel, as far as it was known when the item was first seen; a watch message that came later shows in `orders`.',
    code_format Enum8('v2' = 1, 'legacy' = 2, 'unrecognized' = 3) COMMENT 'Form of the code. All decoded columns are NULL unless it is `v2`.',
    stage Nullable(Enum8('INTERNAL' = 1, 'GATEWAY_CREATE' = 2, 'PAYFORM' = 3, 'CHECK' = 4, 'GATEWAY_CALLBACK' = 5, 'MERCHANT_CALLBACK' = 6)) COMMENT 'Segment A: where it happened.',
    result Nullable(Enum8('INFO' = 0, 'SUCCESS' = 1, 'FAILURE' = 2)) COMMENT 'Segment C: how the operation ended.',
    state Nullable(Enum8('INIT' = 0, 'CREATED' = 1, 'PROCESSING' = 2, 'SUCCESS' = 3, 'FAILED' = 4)) COMMENT 'Segment B: state of the payment.',
    reason_code Nullable(UInt8) COMMENT 'Segment RR, 0 to 69.',
    reason_group LowCardinality(Nullable(String)) COMMENT '`NONE`, `TECH`, `AUTHZ`, `BUSINESS`, `RISK`, `USER` or `ISSUER`.',
    reason_detail LowCardinality(Nullable(String)) COMMENT 'Name of the reason, or `UNKNOWN_18` for one that the dictionary lacks.',
    list_position UInt32 COMMENT 'Index in the list when first seen, from 0.',
    span_start DateTime64(6, 'UTC') COMMENT 'Time of the item before it as first seen; its own time for the first item. Made for traces: late items make it differ from the final neighbour, so take durations from `event_time`.',
    observed_at DateTime64(6, 'UTC') COMMENT 'When gatewatch first saw the item. `observed_at - event_time` is how late we were.',
    source LowCardinality(String) COMMENT 'How it was read.'
)
AS
SELECT
    gateway, order_type, external_id, event_time, action, occurrence, external_transaction_id, channel, code_format,
    stage, result, state, reason_code, reason_group, reason_detail, list_position, span_start, observed_at, source
FROM history_events_store FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1;
