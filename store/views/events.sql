-- What happened to orders, one row for each history item.

CREATE OR REPLACE VIEW history_events AS
SELECT
    gateway, order_type, external_id, event_time, action, occurrence, external_transaction_id, channel, code_format,
    stage, result, state, reason_code, reason_group, reason_detail, list_position, span_start, observed_at, source
FROM history_events_by_time_store FINAL
SETTINGS do_not_merge_across_partitions_select_final = 1;

-- Sketches of orders by quarter of an hour and code, which baselines are made of.
CREATE OR REPLACE VIEW order_activity AS
SELECT gateway, quarter, action, list_position, stage, state, reason_code, reason_group, orders
FROM order_activity_store;
