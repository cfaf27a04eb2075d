-- One row: one item of the history of one order, with its place in it.
-- - Made for single orders: give `external_id`, and the condition reaches the table. For a time range ask `history_events`.
-- - Identity as in `history_events`; time order is `event_time, list_position`.
CREATE OR REPLACE VIEW order_timeline
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2) COMMENT 'Type of the order.',
    external_id String COMMENT 'The order''s id in the service.',
    event_time DateTime64(6, 'UTC') COMMENT 'The item''s `time`.',
    seconds_since_previous Nullable(Float64) COMMENT 'Seconds since the item before it; NULL for the first.',
    action String COMMENT 'The code as it came.',
    occurrence UInt16 COMMENT 'Counts equal pairs of time and code within the order, from 0.',
    list_position UInt32 COMMENT 'Index in the list when first seen, from 0.',
    code_format String COMMENT '`v2`, `legacy` or `unrecognized`.',
    stage Nullable(String) COMMENT 'Segment A: where it happened.',
    result Nullable(String) COMMENT 'Segment C: how the operation ended.',
    state Nullable(String) COMMENT 'Segment B: state of the payment.',
    reason_code Nullable(UInt8) COMMENT 'Segment RR.',
    reason_group Nullable(String) COMMENT 'Group of the reason.',
    reason_detail Nullable(String) COMMENT 'Name of the reason.',
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
    item.1 AS event_time,
    if(place = 1, NULL, dateDiff('microsecond', items[place - 1].1, item.1) / 1000000) AS seconds_since_previous,
    item.3 AS action,
    item.4 AS occurrence,
    item.2 AS list_position,
    item.5.1 AS code_format,
    item.5.2 AS stage,
    item.5.3 AS result,
    item.5.4 AS state,
    item.5.5 AS reason_code,
    item.5.6 AS reason_group,
    item.5.7 AS reason_detail,
    place = deciding_place AS deciding,
    ifNull(item.6 > final_seen_at, false) AS late,
    item.6 AS observed_at,
    if(place = 1, item.1, items[place - 1].1) AS span_start,
    lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id)), 1, 16))) AS trace_id,
    lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id, '|', formatDateTime(item.1, '%FT%T.%fZ'), '|', item.3, '|', toString(item.4))), 1, 8))) AS span_id,
    lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id, '|root')), 1, 8))) AS root_span_id
FROM
(
    SELECT
        gateway, order_type, external_id,
        arraySort(i -> (i.1, i.2, i.3, i.4), groupArray((at, seen.1, code, nth, decoded, seen.2))) AS items,
        arrayLastIndex(i -> ifNull(i.5.4 IN ('SUCCESS', 'FAILED'), 0), items) AS deciding_place,
        minIf(toNullable(seen.2), ifNull(decoded.4 IN ('SUCCESS', 'FAILED'), 0)) AS final_seen_at
    FROM
    (
        SELECT
            gateway, order_type, external_id, s.event_time AS at, s.action AS code, s.occurrence AS nth,
            argMin((s.list_position, s.observed_at), s.observed_at) AS seen,
            any((toString(s.code_format), toString(s.stage), toString(s.result), toString(s.state), s.reason_code, toString(s.reason_group), toString(s.reason_detail))) AS decoded
        FROM history_events_store AS s
        GROUP BY gateway, order_type, external_id, at, code, nth
    )
    GROUP BY gateway, order_type, external_id
)
ARRAY JOIN items AS item, arrayEnumerate(items) AS place;
