-- Generated from the measures by "npm run generate"; a collector applies it when it starts.
CREATE OR REPLACE VIEW order_quarters AS
WITH
  (
    SELECT mapFromArrays(groupArray(gateway), groupArray(watermark))
    FROM
    (
      SELECT gateway, watermark FROM gateway_watermarks
    )
  ) AS watermarks,
  g -> least(toDateTime64(now64(6), 6, 'UTC') - INTERVAL 30 SECOND, transform(toString(g), mapKeys(watermarks), mapValues(watermarks), toDateTime64(now64(6), 6, 'UTC'))) AS window_end,
  arrayMin(arrayPushBack(mapValues(watermarks), toDateTime64(now64(6), 6, 'UTC') - INTERVAL 30 SECOND)) AS all_known,
  (SELECT argMax((kept_from, kept_to, known_to), written_at) FROM order_quarters_frontier WHERE definition = 'c10ab6f9') AS frontier,
  greatest(frontier.1, toDateTime(intDiv(toUnixTimestamp64Micro({from:DateTime64(6, 'UTC')}) + 899999999, 900000000) * 900, 'UTC')) AS kept_begin,
  greatest(kept_begin, least(frontier.2, toStartOfFifteenMinutes({to:DateTime64(6, 'UTC')}))) AS kept_end,
  toDateTime(greatest(toUnixTimestamp(all_known), 900) - 900) AS last_known_quarter,
  arrayMap(g -> toStartOfFifteenMinutes(window_end(g)), mapKeys(watermarks)) AS last_quarters
SELECT quarter, gateway, order_type, channel, external_id, order_number, began_at, decision, form_at, submitted_at, form_step, form_exits, first_technical_failure_at, processing_at, items, failures.at AS `failures.at`, failures.stage AS `failures.stage`, failures.is_operation AS `failures.is_operation`, failures.reason_code AS `failures.reason_code`, failures.reason_group AS `failures.reason_group`, failures.reason_detail AS `failures.reason_detail`, failures.action AS `failures.action`, failures.list_position AS `failures.list_position`, unknown
FROM order_quarters_store
WHERE definition = 'c10ab6f9' AND quarter >= kept_begin AND quarter < kept_end AND (quarter <= last_known_quarter OR quarter + INTERVAL 900 SECOND <= window_end(gateway))
UNION ALL
SELECT quarter, gateway, order_type, channel, external_id, order_number, began_at, decision, form_at, submitted_at, form_step, form_exits, first_technical_failure_at, processing_at, items, failures.at AS `failures.at`, failures.stage AS `failures.stage`, failures.is_operation AS `failures.is_operation`, failures.reason_code AS `failures.reason_code`, failures.reason_group AS `failures.reason_group`, failures.reason_detail AS `failures.reason_detail`, failures.action AS `failures.action`, failures.list_position AS `failures.list_position`, unknown
FROM
(
    SELECT toStartOfFifteenMinutes(event_time) AS quarter, gateway, order_type, channel, external_id,
      sipHash64(toString(gateway), toString(order_type), external_id) AS order_number,
      minIf(toUInt64(toUnixTimestamp64Micro(event_time)), list_position = 0) AS began_at,
      maxIf(bitShiftLeft(toUInt64(toUnixTimestamp64Micro(event_time)), 12) + bitShiftLeft(toUInt64(least(list_position, 255)), 4) + toUInt64(indexOf(['succeeded', 'technical_failure', 'business_failure', 'risk_decline', 'user_abandoned', 'issuer_decline', 'unspecified_failure'], multiIf(state IS NULL, 'pending', state = 'SUCCESS', 'succeeded', reason_group = 'NONE', 'unspecified_failure', reason_group = 'TECH', 'technical_failure', reason_group = 'AUTHZ', 'technical_failure', reason_group = 'BUSINESS', 'business_failure', reason_group = 'RISK', 'risk_decline', reason_group = 'USER', 'user_abandoned', reason_group = 'ISSUER', 'issuer_decline', 'unspecified_failure'))), ifNull(state IN ('SUCCESS', 'FAILED'), 0)) AS decision,
      minIf(toUInt64(toUnixTimestamp64Micro(event_time)), ifNull(stage = 'PAYFORM', 0)) AS form_at,
      minIf(toUInt64(toUnixTimestamp64Micro(event_time)), action = '3.1.1.55') AS submitted_at,
      toUInt8(max(multiIf(ifNull(stage IN ('CHECK', 'GATEWAY_CALLBACK') AND result = 'SUCCESS', 0), 5, ifNull(action = '3.1.1.55', 0), 4, ifNull(action = '3.0.1.53', 0), 3, ifNull(action = '3.0.1.51', 0), 2, ifNull(stage = 'PAYFORM', 0), 1, 0))) AS form_step,
      toUInt8(groupBitOr(toUInt8(transform(toString(action), ['3.0.1.52', '3.0.4.54', '3.2.4.56', '3.2.4.57', '3.0.1.58'], [1, 2, 4, 8, 16], 0)))) AS form_exits,
      minIf(toUInt64(toUnixTimestamp64Micro(event_time)), ifNull(result = 'FAILURE' AND reason_group IN ('TECH', 'AUTHZ'), 0)) AS first_technical_failure_at,
      minIf(toUInt64(toUnixTimestamp64Micro(event_time)), ifNull(reason_code = 55 OR stage IN ('CHECK', 'GATEWAY_CALLBACK') OR state = 'PROCESSING', 0)) AS processing_at,
      arraySort(groupArray(bitShiftLeft(toUInt64(toUnixTimestamp64Micro(event_time)), 12) + bitShiftLeft(toUInt64(least(list_position, 255)), 4) + toUInt64(multiIf(stage = 'INTERNAL', 1, stage = 'GATEWAY_CREATE', 2, stage = 'PAYFORM', 3, stage = 'CHECK', 4, stage = 'GATEWAY_CALLBACK', 5, stage = 'MERCHANT_CALLBACK', 6, 0) * 2 + ifNull(result = 'FAILURE', 0)))) AS items,
      CAST(groupArrayIf((event_time, ifNull(toString(stage), ''), ifNull(result = 'FAILURE', 0), ifNull(reason_code, 0), ifNull(toString(reason_group), ''), ifNull(toString(reason_detail), ''), toString(action), list_position), ifNull((result = 'FAILURE' OR state = 'FAILED'), 0)), 'Array(Tuple(at DateTime64(6, \'UTC\'), stage LowCardinality(String), is_operation UInt8, reason_code UInt8, reason_group LowCardinality(String), reason_detail LowCardinality(String), action LowCardinality(String), list_position UInt32))') AS failures,
      CAST(groupArrayIf((event_time, toString(action), toString(code_format)), ifNull((code_format != 'v2' OR action NOT IN ('1.0.0.00', '1.1.1.00', '1.2.4.31', '1.2.4.32', '1.2.4.34', '2.1.1.00', '2.2.4.11', '2.2.4.12', '2.2.4.13', '2.2.4.14', '2.2.4.15', '2.2.4.21', '2.2.4.22', '2.2.4.31', '2.2.4.32', '2.2.4.33', '3.0.1.00', '3.0.1.51', '3.0.1.52', '3.0.1.53', '3.0.4.54', '3.1.1.55', '3.2.4.56', '3.2.4.57', '3.0.1.58', '4.2.2.13', '4.2.2.15', '4.2.2.21', '4.2.2.22', '4.1.3.00', '4.1.4.00', '4.1.4.61', '4.1.4.62', '4.1.4.63', '4.1.4.41', '5.2.2.16', '5.2.2.17', '5.1.3.00', '5.1.3.35', '6.1.1.00')), 0)), 'Array(Tuple(at DateTime64(6, \'UTC\'), action String, code_format LowCardinality(String)))') AS unknown
    FROM (
      SELECT event_time, gateway, order_type, channel, external_id, action, code_format, stage, result, state, reason_code, reason_group, reason_detail, list_position
      FROM history_events_by_time_store FINAL
      WHERE event_time >= {from:DateTime64(6, 'UTC')} AND event_time < {to:DateTime64(6, 'UTC')} AND (event_time < all_known OR event_time < window_end(gateway)) AND (event_time < kept_begin OR event_time >= kept_end OR toStartOfFifteenMinutes(event_time) IN (SELECT arrayJoin(last_quarters)) AND toStartOfFifteenMinutes(event_time) + INTERVAL 900 SECOND > window_end(gateway))
      SETTINGS do_not_merge_across_partitions_select_final = 1
      UNION ALL
      SELECT event_time, gateway, order_type, channel, external_id, action, code_format, stage, result, state, reason_code, reason_group, reason_detail, list_position
      FROM history_events_by_time_store FINAL
      WHERE event_time >= {from:DateTime64(6, 'UTC')} AND event_time < {to:DateTime64(6, 'UTC')} AND (event_time < all_known OR event_time < window_end(gateway)) AND event_time >= kept_begin AND event_time < kept_end AND stored_at > frontier.3
      SETTINGS do_not_merge_across_partitions_select_final = 1
    )
    WHERE 1
    GROUP BY quarter, gateway, order_type, channel, external_id
);
