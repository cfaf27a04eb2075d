-- One row: what is known of one order; rows of one order fold into one when they are merged.
-- Written by: the materialized view below, from order_observations.
-- Texts of which the greatest counts: when it was said (microseconds since 1970, filled up to 16 digits), then what. That takes half the
-- processor time of states of argMax over tuples. `order_number`: the amounts of orders that a panel found by their numbers.
CREATE TABLE IF NOT EXISTS orders_store
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2) COMMENT 'Type of the order.',
    external_id String COMMENT 'The order''s id in the service.' CODEC(ZSTD(1)),
    external_transaction_id SimpleAggregateFunction(max, String) COMMENT 'The merchant''s own id of the payment; empty when not known.' CODEC(ZSTD(1)),
    channel SimpleAggregateFunction(max, String) COMMENT 'The channel that a watch message named; empty when none did. The code does not carry it.',
    first_seen_at SimpleAggregateFunction(min, DateTime64(6, 'UTC')) COMMENT 'When gatewatch first heard of the order.' CODEC(ZSTD(1)),
    last_reply_at SimpleAggregateFunction(max, Nullable(DateTime64(6, 'UTC'))) COMMENT 'When the newest status reply arrived that told something new, or was the last one before the order settled. When the order was last read is in `polls`.' CODEC(ZSTD(1)),
    settled_at SimpleAggregateFunction(max, Nullable(DateTime64(6, 'UTC'))) COMMENT 'When the re-reads after the final status ended without news.' CODEC(ZSTD(1)),
    abandoned_at SimpleAggregateFunction(max, Nullable(DateTime64(6, 'UTC'))) COMMENT 'When the order was given up without a final status.',
    last_reply SimpleAggregateFunction(max, String) DEFAULT '' COMMENT 'Time, then the reply as a list: status, outcome, deciding action, reason code, group and detail, history items, time of the first item, time of the final one.' CODEC(ZSTD(1)),
    amount_told SimpleAggregateFunction(max, String) DEFAULT '' COMMENT 'Kind of source (3 a status reply, 2 a watch message, 1 a callback), time, then the amount.' CODEC(ZSTD(1)),
    currency_told SimpleAggregateFunction(max, String) DEFAULT '' COMMENT 'The same of the currency.' CODEC(ZSTD(1)),
    order_number UInt64 MATERIALIZED sipHash64(toString(gateway), toString(order_type), external_id) COMMENT 'Hash of gateway, type and id.' CODEC(NONE)
)
ENGINE = AggregatingMergeTree
ORDER BY (gateway, order_type, external_id)
TTL toDateTime(first_seen_at) + toIntervalDay(400)
SETTINGS non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS order_observations_to_orders TO orders_store AS
WITH leftPad(toString(toUnixTimestamp64Micro(o.observed_at)), 16, '0') AS said_at, toString(CAST(o.kind, 'Int8')) AS rank
SELECT
    gateway,
    order_type,
    external_id,
    o.external_transaction_id AS external_transaction_id,
    toString(o.channel) AS channel,
    o.observed_at AS first_seen_at,
    if(o.kind = 'status_reply', toNullable(o.observed_at), NULL) AS last_reply_at,
    o.settled_at AS settled_at,
    o.abandoned_at AS abandoned_at,
    if(o.kind = 'status_reply', concat(said_at, toJSONString((o.status, o.outcome, o.deciding_action, o.reason_code, o.reason_group,
        o.reason_detail, o.history_items, toUnixTimestamp64Micro(o.created_at), toUnixTimestamp64Micro(o.final_at)))), '') AS last_reply,
    if(o.amount IS NULL AND o.amount_refused = 0, '', concat(rank, said_at, ifNull(toString(o.amount), ''))) AS amount_told,
    if(o.currency IS NULL, '', concat(rank, said_at, toString(assumeNotNull(o.currency)))) AS currency_told
FROM order_observations AS o;
