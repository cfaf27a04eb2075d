-- One row: one setting of one alert rule for one gateway.
-- - Written at every start of a collector from its configuration (`alerts.rules`, `alerts.timeZone`, `alerts.holidays`, `callbackTypes`);
--   a gateway's newest set counts.
--
-- A gateway's newest set counts.
CREATE OR REPLACE VIEW alert_settings
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    rule LowCardinality(String) COMMENT 'Name of the rule; `*` for all of them.',
    setting LowCardinality(String) COMMENT 'Name of the setting, e.g. `shareAbove`, `enabled`, `enabled/SUCCESS`; of all rules `timeZone/Europe/Berlin`, `holiday/2026-12-25`.',
    value Float64 COMMENT 'Its value; 0 and 1 for switches.',
    configured_at DateTime64(6, 'UTC') COMMENT 'When the set was written.'
)
AS
SELECT gateway, rule, setting, value, configured_at
FROM alert_settings_store FINAL
WHERE (gateway, configured_at) IN (SELECT gateway, max(configured_at) FROM alert_settings_store GROUP BY gateway) AND rule != '';
