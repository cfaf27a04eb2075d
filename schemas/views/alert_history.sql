-- One row: one state that an alert instance was in.
-- - From `changed_at` to `evaluated_at`, which grows while the state lasts.
CREATE OR REPLACE VIEW alert_history
(
    rule_uid LowCardinality(String) COMMENT 'Uid of the rule.',
    labels String COMMENT 'Labels of the instance, as JSON.',
    rule LowCardinality(String) COMMENT 'Name of the rule.',
    severity LowCardinality(String) COMMENT '`critical`, `warning` or `info`.',
    gateway LowCardinality(String) COMMENT 'The gateway among the labels.',
    state LowCardinality(String) COMMENT 'As in `alert_states`.',
    reason LowCardinality(String) COMMENT 'As in `alert_states`.',
    changed_at DateTime64(6, 'UTC') COMMENT 'When the state began.',
    evaluated_at DateTime64(6, 'UTC') COMMENT 'When it was last confirmed.',
    firing_since Nullable(DateTime64(6, 'UTC')) COMMENT 'When it last began to fire.',
    resolved_at Nullable(DateTime64(6, 'UTC')) COMMENT 'When it last stopped firing; NULL while it fires.',
    collector_id LowCardinality(String) COMMENT 'Which collector this is from.'
)
AS
SELECT rule_uid, labels, rule, severity, gateway, state, reason, changed_at, evaluated_at, firing_since, resolved_at, collector_id
FROM alert_states_store FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1;
