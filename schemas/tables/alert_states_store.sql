-- One row: one state of one alert instance, written anew while it lasts.
-- Written by: the evaluator.
CREATE TABLE IF NOT EXISTS alert_states_store
(
    rule_uid LowCardinality(String) COMMENT 'Uid of the rule.',
    rule LowCardinality(String) COMMENT 'Name of the rule.',
    severity LowCardinality(String) COMMENT '`critical`, `warning` or `info`.',
    gateway LowCardinality(String) COMMENT 'The gateway among the labels.',
    labels String COMMENT 'Labels of the instance, as JSON.',
    changed_at DateTime64(6, 'UTC') COMMENT 'When the state began.',
    evaluated_at DateTime64(6, 'UTC') COMMENT 'When it was last confirmed.',
    state LowCardinality(String) COMMENT '`Normal`, `Pending`, `Alerting`, `Recovering`, `NoData` or `Error`.',
    reason LowCardinality(String) COMMENT '`NoData`, `Error` or `MissingSeries`; mostly empty.',
    firing_since Nullable(DateTime64(6, 'UTC')) COMMENT 'When it last began to fire.',
    resolved_at Nullable(DateTime64(6, 'UTC')) COMMENT 'When it last stopped firing; NULL while it fires.',
    memory String COMMENT 'The evaluator''s own notes about the instance, as JSON.',
    collector_id LowCardinality(String) COMMENT 'Which collector this is from.'
)
ENGINE = ReplacingMergeTree(evaluated_at)
PARTITION BY toMonday(changed_at)
ORDER BY (rule_uid, labels, changed_at, state)
TTL toDateTime(changed_at) + toIntervalDay(400)
SETTINGS non_replicated_deduplication_window = 1000;
