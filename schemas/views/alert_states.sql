-- One row: one alert instance: a rule and a set of labels, in its newest state.
-- - Kept by the collector that evaluates the rules, with pending and hold.
CREATE OR REPLACE VIEW alert_states
(
    rule_uid LowCardinality(String) COMMENT 'Uid of the rule.',
    labels String COMMENT 'Labels of the instance, as JSON.',
    rule String COMMENT 'Name of the rule.',
    severity String COMMENT '`critical`, `warning` or `info`.',
    gateway String COMMENT 'The gateway among the labels.',
    state String COMMENT '`Normal`, `Pending`, `Alerting`, `Recovering`, `NoData` or `Error`.',
    reason String COMMENT '`NoData`, `Error` or `MissingSeries`; mostly empty.',
    changed_at DateTime64(6, 'UTC') COMMENT 'When the state began.',
    evaluated_at DateTime64(6, 'UTC') COMMENT 'When it was last confirmed.',
    firing_since Nullable(DateTime64(6, 'UTC')) COMMENT 'When it last began to fire.',
    resolved_at Nullable(DateTime64(6, 'UTC')) COMMENT 'When it last stopped firing; NULL while it fires.',
    collector_id String COMMENT 'Which collector this is from.'
)
AS
SELECT
    rule_uid, labels,
    argMax(s.rule, (s.evaluated_at, s.changed_at)) AS rule,
    argMax(s.severity, (s.evaluated_at, s.changed_at)) AS severity,
    argMax(s.gateway, (s.evaluated_at, s.changed_at)) AS gateway,
    argMax(s.state, (s.evaluated_at, s.changed_at)) AS state,
    argMax(s.reason, (s.evaluated_at, s.changed_at)) AS reason,
    max(s.changed_at) AS changed_at,
    max(s.evaluated_at) AS evaluated_at,
    argMax(tuple(s.firing_since), (s.evaluated_at, s.changed_at)).1 AS firing_since,
    argMax(tuple(s.resolved_at), (s.evaluated_at, s.changed_at)).1 AS resolved_at,
    argMax(s.collector_id, (s.evaluated_at, s.changed_at)) AS collector_id
FROM alert_states_store AS s
GROUP BY rule_uid, labels;
