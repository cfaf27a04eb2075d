-- One row: one request to watch an order that was taken.
-- - A message of the watch topic, an entry of `POST /orders`, or a line of `gatewatch backfill`. Several may name one order.
CREATE OR REPLACE VIEW watch_requests
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    received_at DateTime64(6, 'UTC') COMMENT 'When it was taken.',
    request_id String COMMENT 'Identity; for Kafka where it was read, so that a re-read counts once.',
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2) COMMENT 'Type of the order.',
    id_kind Enum8('external-id' = 1, 'transaction-id' = 2) COMMENT 'Which of the two ids it names.',
    order_id String COMMENT 'That id.',
    channel LowCardinality(String) COMMENT 'The channel that it names; may be empty.',
    amount Nullable(String) COMMENT 'The amount that it names, as text.',
    currency LowCardinality(Nullable(String)) COMMENT 'The currency that it names.',
    source LowCardinality(String) COMMENT '`kafka`, `http` or `backfill`.',
    topic LowCardinality(String) COMMENT 'Kafka topic; empty when it did not come from Kafka.',
    kafka_partition Nullable(Int32) COMMENT 'Kafka partition.',
    kafka_offset Nullable(Int64) COMMENT 'Kafka offset.',
    collector_id LowCardinality(String) COMMENT 'Which collector this is from.'
)
AS
SELECT
    gateway, received_at, request_id, order_type, id_kind, order_id, channel, amount, currency, source, topic,
    kafka_partition, kafka_offset, collector_id
FROM watch_requests_store FINAL;
