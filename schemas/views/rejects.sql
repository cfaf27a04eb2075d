-- One row: one thing that came in and fits no other row.
-- - Identity: `gateway, reason, reject_id`. `received` and `content` are redacted: digit runs masked, length cut.
-- - `gatewatch redrive` tries again what stands here; what then went in is marked, never removed. Open ones: `WHERE resolved_at IS NULL`.
CREATE OR REPLACE VIEW rejects
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    reason LowCardinality(String) COMMENT 'Why; see [the reasons](#reasons-of-rejects).',
    reject_id String COMMENT 'Stable: the same thing read again has the same id.',
    rejected_at DateTime64(6, 'UTC') COMMENT 'When it was rejected.',
    source LowCardinality(String) COMMENT 'Where it came from.',
    field String COMMENT 'The field that is wrong.',
    expected String COMMENT 'What belongs there.',
    received String COMMENT 'What was there, redacted.',
    content String COMMENT 'What identifies it among its like, redacted.',
    topic LowCardinality(String) COMMENT 'Kafka topic to read it again from; empty when it did not come from Kafka.',
    kafka_partition Nullable(Int32) COMMENT 'Kafka partition.',
    kafka_offset Nullable(Int64) COMMENT 'Kafka offset.',
    delivery_id String COMMENT 'Delivery it was part of; may be empty.',
    order_type LowCardinality(Nullable(String)) COMMENT 'Type of the order it concerns, if known.',
    order_id Nullable(String) COMMENT 'Id of that order, if known.',
    collector_id LowCardinality(String) COMMENT 'Which collector this is from.',
    resolved_at Nullable(DateTime64(6, 'UTC')) COMMENT 'When it was set right; NULL while it stands.',
    resolution Nullable(String) COMMENT '`stored`: `gatewatch redrive` read its record again and it went in. `read_again`: a later reply about the order had no such fault.'
)
AS
SELECT
    gateway, reason, reject_id, rejected_at, source, field, expected, received, content, topic, kafka_partition,
    kafka_offset, delivery_id, order_type, order_id, collector_id, resolved.resolved_at AS resolved_at,
    resolved.resolution AS resolution
FROM
(
    SELECT *
    FROM rejects_store FINAL
) AS r
LEFT JOIN
(
    SELECT gateway, reason, reject_id, toNullable(max(s.resolved_at)) AS resolved_at,
        toNullable(toString(argMax(s.resolution, s.resolved_at))) AS resolution
    FROM reject_resolutions_store AS s
    GROUP BY gateway, reason, reject_id
) AS resolved USING (gateway, reason, reject_id);
