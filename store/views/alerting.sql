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

-- What the rules saw, as they saw it.
CREATE OR REPLACE VIEW alert_evaluations AS
SELECT
    rule, kind, gateway, label, as_of, window_from, window_to, seen, affected, expected, limit, share, number, breach,
    suppressed_by, definition, evaluated_at, evaluator, took_ms
FROM alert_evaluations_store FINAL;

-- The numbers of an evaluation for a reader that takes one number a row, as Grafana's alert rules do: four points of a series, told
-- apart by their size. The least is -1 - limit, the greatest is as_of in seconds since 1970, the last is what is compared with the
-- limit; what is left of the sum is n (of a drop: what was expected). While the rule does not hold the limit is out of reach.
CREATE OR REPLACE VIEW alert_numbers AS
SELECT rule, as_of, gateway, label, as_of - toIntervalSecond(4 - place) AS time, point AS value
FROM alert_evaluations_store FINAL
ARRAY JOIN points AS point, arrayEnumerate(points) AS place;
