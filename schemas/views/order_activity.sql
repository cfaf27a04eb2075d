-- One row: one quarter of an hour, code and place in the list, of one gateway.
-- - Distinct orders as sketches, exact to 1.6 %: `uniqCombined64Merge(12)(orders)`, or `...MergeIf(12)(orders, condition)`. What
--   baselines of alert rules are made of.
CREATE OR REPLACE VIEW order_activity
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    quarter DateTime('UTC') COMMENT 'Begin of the quarter of an hour, by `event_time`.',
    action LowCardinality(String) COMMENT 'The code. Codes of another format than v2 are left out.',
    list_position UInt8 COMMENT '0: first items of orders, so orders that begin; 1: all others.',
    stage SimpleAggregateFunction(any, Nullable(Enum8('INTERNAL' = 1, 'GATEWAY_CREATE' = 2, 'PAYFORM' = 3, 'CHECK' = 4, 'GATEWAY_CALLBACK' = 5, 'MERCHANT_CALLBACK' = 6))) COMMENT 'Segment A.',
    state SimpleAggregateFunction(any, Nullable(Enum8('INIT' = 0, 'CREATED' = 1, 'PROCESSING' = 2, 'SUCCESS' = 3, 'FAILED' = 4))) COMMENT 'Segment B.',
    reason_code SimpleAggregateFunction(any, Nullable(UInt8)) COMMENT 'Segment RR.',
    reason_group SimpleAggregateFunction(any, LowCardinality(Nullable(String))) COMMENT 'Group of the reason.',
    orders AggregateFunction(uniqCombined64(12), UInt64) COMMENT 'Sketch of the orders.'
)
AS
SELECT gateway, quarter, action, list_position, stage, state, reason_code, reason_group, orders
FROM order_activity_store;
