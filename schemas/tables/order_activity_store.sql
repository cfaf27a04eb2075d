-- One row: distinct orders by quarter of an hour, gateway and code.
-- Written by: the materialized view below, from history_events_store.
-- What baselines are made of. Sketches of hashes of orders: the same item twice changes nothing; 4,096 cells are right to 1.6 %, which is
-- less than a baseline varies.
CREATE TABLE IF NOT EXISTS order_activity_store
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    quarter DateTime('UTC') COMMENT 'Begin of the quarter of an hour, by `event_time`.',
    action LowCardinality(String) COMMENT 'The code. Codes of another format than v2 are left out.',
    list_position UInt8 COMMENT '0: first items of orders, so orders that begin; 1: all others.',
    stage SimpleAggregateFunction(any, Nullable(Enum8('INTERNAL' = 1, 'GATEWAY_CREATE' = 2, 'PAYFORM' = 3, 'CHECK' = 4, 'GATEWAY_CALLBACK' = 5, 'MERCHANT_CALLBACK' = 6))) COMMENT 'Segment A.',
    state SimpleAggregateFunction(any, Nullable(Enum8('INIT' = 0, 'CREATED' = 1, 'PROCESSING' = 2, 'SUCCESS' = 3, 'FAILED' = 4))) COMMENT 'Segment B.',
    reason_code SimpleAggregateFunction(any, Nullable(UInt8)) COMMENT 'Segment RR.',
    reason_group SimpleAggregateFunction(any, LowCardinality(Nullable(String))) COMMENT 'Group of the reason.',
    orders AggregateFunction(uniqCombined64(12), UInt64) COMMENT 'Sketch of the orders that had the code.'
)
ENGINE = AggregatingMergeTree
ORDER BY (quarter, gateway, action, list_position)
TTL toDateTime(quarter) + toIntervalDay(400)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS history_events_to_order_activity TO order_activity_store AS
SELECT
    gateway,
    toStartOfInterval(toDateTime(e.event_time, 'UTC'), INTERVAL 900 SECOND) AS quarter,
    toString(e.action) AS action,
    toUInt8(e.list_position > 0) AS list_position,
    any(e.stage) AS stage,
    any(e.state) AS state,
    any(e.reason_code) AS reason_code,
    any(e.reason_group) AS reason_group,
    uniqCombined64State(12)(cityHash64(toString(e.order_type), e.external_id)) AS orders
FROM history_events_store AS e
WHERE e.code_format = 'v2'
GROUP BY gateway, quarter, action, list_position;
