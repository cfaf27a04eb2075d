-- What alerting keeps: the settings of the configuration, and what becomes of alerts.

-- A gateway's newest set counts.
CREATE OR REPLACE VIEW alert_settings AS
SELECT gateway, rule, setting, value, configured_at
FROM alert_settings_store FINAL
WHERE (gateway, configured_at) IN (SELECT gateway, max(configured_at) FROM alert_settings_store GROUP BY gateway) AND rule != '';

-- The newest state of each instance.
CREATE OR REPLACE VIEW alert_states AS
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

-- Every state that an instance was in, and until when.
CREATE OR REPLACE VIEW alert_history AS
SELECT rule_uid, labels, rule, severity, gateway, state, reason, changed_at, evaluated_at, firing_since, resolved_at, collector_id
FROM alert_states_store FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1;
