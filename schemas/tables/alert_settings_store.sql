-- One row: one setting of one rule at one gateway.
-- Written by: the collector at every start; the newest set of a gateway counts.
CREATE TABLE IF NOT EXISTS alert_settings_store
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    rule LowCardinality(String) COMMENT 'Name of the rule; `*` for all of them.',
    setting LowCardinality(String) COMMENT 'Name of the setting, e.g. `shareAbove`, `enabled`, `enabled/SUCCESS`; of all rules `timeZone/Europe/Berlin`, `holiday/2026-12-25`.',
    value Float64 COMMENT 'Its value; 0 and 1 for switches.',
    configured_at DateTime64(6, 'UTC') COMMENT 'When the set was written.'
)
ENGINE = ReplacingMergeTree(configured_at)
ORDER BY (gateway, rule, setting, configured_at);
