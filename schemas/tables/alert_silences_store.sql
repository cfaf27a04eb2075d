-- One row: one version of a silence or acknowledgement; the newest counts.
-- Written by: `gatewatch alerts silence`, `acknowledge` and `unsilence`, and the console.
CREATE TABLE IF NOT EXISTS alert_silences_store
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
    ended_at Nullable(DateTime64(6, 'UTC')) COMMENT 'When it was taken back; NULL when it was not.',
    changed_at DateTime64(6, 'UTC') COMMENT 'When this version was written.'
)
ENGINE = ReplacingMergeTree(changed_at)
ORDER BY silence_id
TTL toDateTime(created_at) + toIntervalDay(400)
SETTINGS non_replicated_deduplication_window = 1000;
