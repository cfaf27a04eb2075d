-- One row: one watched order: what the poller knows of it. The newest wins.
-- Written by: the collector.
CREATE TABLE IF NOT EXISTS order_watch
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2) COMMENT 'Type of the order.',
    id_kind Enum8('external-id' = 1, 'transaction-id' = 2) COMMENT 'Whose id that is.',
    order_id String COMMENT 'The id by which it is read.',
    updated_at DateTime64(6, 'UTC') COMMENT 'When the row was written: the newest counts.',
    phase Enum8('active' = 1, 'rereading' = 2, 'settled' = 3, 'abandoned' = 4, 'merged' = 5) COMMENT 'Where reading it stands.',
    next_poll_at DateTime64(6, 'UTC') COMMENT 'When it is read next.',
    attempt UInt32 COMMENT 'Reads so far.',
    reread UInt32 COMMENT 'Re-reads after a final status.',
    first_seen_at DateTime64(6, 'UTC') COMMENT 'When gatewatch first heard of the order.',
    watched_since DateTime64(6, 'UTC') COMMENT 'When it was watched first, or again.',
    final_at Nullable(DateTime64(6, 'UTC')) COMMENT 'When a final status was seen first.',
    last_status Nullable(String) COMMENT 'Status of its last reply.',
    external_id String COMMENT 'The order''s id in the service.',
    external_transaction_id String COMMENT 'The merchant''s own id of the payment; empty when not known.',
    channel LowCardinality(String) COMMENT 'The channel that a watch message named; empty when none did. The code does not carry it.',
    amount Nullable(String) COMMENT 'Amount in units of `currency`, exact; a status reply beats a watch message, which beats a callback. A tail such as that of 29.949999999999999 is rounded to the currency. NULL where nobody named one, and where the best source named one that cannot be kept: see `rejects`, reason `field_unreadable`.',
    amount_source LowCardinality(Nullable(String)) COMMENT '`status`, `watch` or `callback`: who named it.',
    currency LowCardinality(Nullable(String)) COMMENT 'Currency code in upper case; NULL when nobody named one.',
    currency_source LowCardinality(Nullable(String)) COMMENT '`status`, `watch` or `callback`: who named it.',
    root_sent UInt8 COMMENT '1: its root span was sent.',
    collector_id LowCardinality(String) COMMENT 'Which collector wrote the row.'
)
ENGINE = ReplacingMergeTree(updated_at)
ORDER BY (gateway, order_type, id_kind, order_id)
TTL toDateTime(updated_at) + toIntervalDay(400)
SETTINGS non_replicated_deduplication_window = 10000;
