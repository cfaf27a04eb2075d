-- One row: one silence or acknowledgement of alerts, also one that is over.
-- - Written by `gatewatch alerts silence` and by the console.
CREATE OR REPLACE VIEW alert_silences
(
    silence_id String COMMENT 'Identity.',
    kind LowCardinality(String) COMMENT '`silenced`: holds every notification of matching alerts back. `acknowledged`: repeats only, of alerts that fired when it was created.',
    rule LowCardinality(String) COMMENT 'Name of the rule; empty for any.',
    gateway LowCardinality(String) COMMENT 'The gateway it concerns; empty for any.',
    slice LowCardinality(String) COMMENT 'The slice, as in `alert_evaluations`; empty for any.',
    label LowCardinality(String) COMMENT 'The label, as in `alert_evaluations`; empty for any.',
    created_at DateTime64(6, 'UTC') COMMENT 'Begin.',
    until Nullable(DateTime64(6, 'UTC')) COMMENT 'End; NULL for an acknowledgement, which ends with the alert.',
    reason String COMMENT 'Why, as somebody wrote it.',
    created_by String COMMENT 'Who says so: a name that nobody checks.',
    ended_at Nullable(DateTime64(6, 'UTC')) COMMENT 'When it was taken back; NULL when it was not.'
)
AS
SELECT silence_id, kind, rule, gateway, slice, label, created_at, until, reason, created_by, ended_at
FROM alert_silences_store FINAL;
