-- One row: one item of the history of one order, with its place in it.
-- - Made for single orders: give `external_id`. For a time range ask `history_events`.
-- - Identity as in `history_events`; time order is `event_time, list_position`.
CREATE OR REPLACE VIEW order_timeline
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2) COMMENT 'Type of the order.',
    external_id String COMMENT 'The order''s id in the service.',
    event_time DateTime64(6, 'UTC') COMMENT 'The item''s `time`.',
    seconds_since_previous Nullable(Float64) COMMENT 'Seconds since the item before it; NULL for the first.',
    action LowCardinality(String) COMMENT 'The code as it came.',
    occurrence UInt16 COMMENT 'Counts equal pairs of time and code within the order, from 0.',
    list_position UInt32 COMMENT 'Index in the list when first seen, from 0.',
    stage Nullable(Enum8('INTERNAL' = 1, 'GATEWAY_CREATE' = 2, 'PAYFORM' = 3, 'CHECK' = 4, 'GATEWAY_CALLBACK' = 5, 'MERCHANT_CALLBACK' = 6)) COMMENT 'Segment A: where it happened.',
    result Nullable(Enum8('INFO' = 0, 'SUCCESS' = 1, 'FAILURE' = 2)) COMMENT 'Segment C: how the operation ended.',
    state Nullable(Enum8('INIT' = 0, 'CREATED' = 1, 'PROCESSING' = 2, 'SUCCESS' = 3, 'FAILED' = 4)) COMMENT 'Segment B: state of the payment.',
    reason_code Nullable(UInt8) COMMENT 'Segment RR.',
    deciding UInt8 COMMENT '1 for the deciding item: the latest with the state SUCCESS or FAILED.',
    late UInt8 COMMENT '1 when first seen after a final state had been seen.',
    observed_at DateTime64(6, 'UTC') COMMENT 'When gatewatch first saw the item.',
    span_start DateTime64(6, 'UTC') COMMENT 'Time of the item before it; its own for the first.',
    trace_id String COMMENT 'Trace id of the order''s exported spans.',
    span_id String COMMENT 'Id of the item''s exported span.',
    root_span_id String COMMENT 'Id of the order''s root span.'
)
AS
SELECT
    gateway,
    order_type,
    external_id,
    event_time,
    if(place = 1, NULL, dateDiff('microsecond', span_start, event_time) / 1000000) AS seconds_since_previous,
    action,
    occurrence,
    list_position,
    stage,
    result,
    state,
    reason_code,
    place = arrayLastIndex(one -> ifNull(one IN ('SUCCESS', 'FAILED'), 0), history.state) AS deciding,
    arrayExists((seen_at, one) -> ifNull(one IN ('SUCCESS', 'FAILED'), 0) AND seen_at < observed_at, history.observed_at, history.state) AS late,
    observed_at,
    span_start,
    lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id)), 1, 16))) AS trace_id,
    lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id, '|', formatDateTime(event_time, '%FT%T.%fZ'), '|', action, '|', toString(occurrence))), 1, 8))) AS span_id,
    lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id, '|root')), 1, 8))) AS root_span_id
FROM orders
ARRAY JOIN
    history.time AS event_time,
    history.action AS action,
    history.occurrence AS occurrence,
    history.list_position AS list_position,
    history.stage AS stage,
    history.result AS result,
    history.state AS state,
    history.reason_code AS reason_code,
    history.observed_at AS observed_at,
    arrayEnumerate(history.time) AS place,
    arrayPopBack(arrayPushFront(history.time, history.time[1])) AS span_start;
