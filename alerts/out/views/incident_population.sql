-- Generated from the alert rules by "npm run generate"; a collector applies it when it starts.
CREATE OR REPLACE VIEW incident_population AS
SELECT {rule:String} AS rule, hit.gateway AS gateway, hit.order_type AS order_type, hit.external_id AS external_id, hit.label AS label,
  hit.seen_at AS seen_at, hit.affected AS affected, if(known.channel != '', known.channel, item.channel) AS channel, ifNull(toString(known.currency), '') AS currency, known.amount AS amount,
  multiIf(known.amount IS NULL, '', known.amount = 0, '0', known.amount < 10, 'below 10', known.amount < 100, '10 to 100', known.amount < 1000, '100 to 1,000', '1,000 or more') AS amount_band,
  multiIf(item.items = 0, '', item.began_at > toDateTime64(0, 6, 'UTC') AND hit.seen_at < item.began_at + INTERVAL 1 HOUR, 'first hour', 'later') AS age,
  ifNull(toString(item.failing.1), '') AS stage, if(item.failing.2 IS NULL, '', concat(toString(assumeNotNull(item.failing.2)), ' ', ifNull(toString(item.failing.3), ''))) AS reason
FROM
(
  SELECT gateway, order_type, external_id, fact.1 AS label, assumeNotNull(fact.2) AS seen_at, toUInt8(assumeNotNull(fact.3) >= {from:DateTime64(6, 'UTC')}) AS affected
  FROM
  (
    SELECT toString(gateway) AS gateway, toString(order_type) AS order_type, external_id, multiIf({rule:String} = 'GatewatchTechTimeouts', [('GATEWAY_CREATE', maxIf(event_time, ifNull(stage IN ('GATEWAY_CREATE'), 0)), maxIf(event_time, ifNull((stage IN ('GATEWAY_CREATE')) AND (reason_code IN (11)), 0))), ('CHECK', maxIf(event_time, ifNull(stage IN ('CHECK'), 0)), maxIf(event_time, ifNull((stage IN ('CHECK')) AND (reason_code IN (11)), 0)))], {rule:String} = 'GatewatchProviderUnreachable', [('GATEWAY_CREATE', maxIf(event_time, ifNull(stage IN ('GATEWAY_CREATE'), 0)), maxIf(event_time, ifNull((stage IN ('GATEWAY_CREATE')) AND (reason_code IN (12, 13)), 0))), ('CHECK', maxIf(event_time, ifNull(stage IN ('CHECK'), 0)), maxIf(event_time, ifNull((stage IN ('CHECK')) AND (reason_code IN (12, 13)), 0)))], {rule:String} = 'GatewatchAuthzFailures', [('GATEWAY_CREATE', maxIf(event_time, ifNull(stage IN ('GATEWAY_CREATE'), 0)), maxIf(event_time, ifNull((stage IN ('GATEWAY_CREATE')) AND (reason_code IN (21, 22)), 0))), ('CHECK', maxIf(event_time, ifNull(stage IN ('CHECK'), 0)), maxIf(event_time, ifNull((stage IN ('CHECK')) AND (reason_code IN (21, 22)), 0)))], {rule:String} = 'GatewatchSignatureMismatches', [('', max(event_time), maxIf(event_time, ifNull(reason_code IN (16), 0)))], {rule:String} = 'GatewatchContractBroken', [('GATEWAY_CREATE', maxIf(event_time, ifNull(stage IN ('GATEWAY_CREATE'), 0)), maxIf(event_time, ifNull((stage IN ('GATEWAY_CREATE')) AND (reason_code IN (14, 15, 17)), 0))), ('CHECK', maxIf(event_time, ifNull(stage IN ('CHECK'), 0)), maxIf(event_time, ifNull((stage IN ('CHECK')) AND (reason_code IN (14, 15, 17)), 0))), ('GATEWAY_CALLBACK', maxIf(event_time, ifNull(stage IN ('GATEWAY_CALLBACK'), 0)), maxIf(event_time, ifNull((stage IN ('GATEWAY_CALLBACK')) AND (reason_code IN (14, 15, 17)), 0)))], {rule:String} = 'GatewatchBalanceExhausted', [('INTERNAL', maxIf(event_time, ifNull(stage IN ('INTERNAL'), 0)), maxIf(event_time, ifNull((stage IN ('INTERNAL')) AND (reason_code IN (31)), 0))), ('GATEWAY_CREATE', maxIf(event_time, ifNull(stage IN ('GATEWAY_CREATE'), 0)), maxIf(event_time, ifNull((stage IN ('GATEWAY_CREATE')) AND (reason_code IN (31)), 0)))], {rule:String} = 'GatewatchBusinessRefusals', [('LIMIT', max(event_time), maxIf(event_time, ifNull(reason_code IN (32), 0))), ('CURRENCY', max(event_time), maxIf(event_time, ifNull(reason_code IN (33), 0))), ('ROUTING_BLOCKED', max(event_time), maxIf(event_time, ifNull(reason_code IN (34), 0)))], {rule:String} = 'GatewatchAmountChanged', [('', max(event_time), maxIf(event_time, ifNull(reason_code IN (35), 0)))], {rule:String} = 'GatewatchAntifraudSilent', [('', max(event_time), maxIf(event_time, ifNull(1, 0)))], {rule:String} = 'GatewatchPayformDropOff', [('3DS_FAILED', max(event_time), maxIf(event_time, ifNull(reason_code IN (56), 0))), ('OTP_FAILED', max(event_time), maxIf(event_time, ifNull(reason_code IN (57), 0))), ('LEFT', max(event_time), maxIf(event_time, ifNull(reason_code IN (52, 54), 0))), ('LEFT_ON_CONFIRM', max(event_time), maxIf(event_time, ifNull(reason_code IN (58), 0)))], {rule:String} = 'GatewatchUnknownCodes', [('', max(event_time), maxIf(event_time, ifNull((code_format != 'v2' OR action NOT IN ('1.0.0.00', '1.1.1.00', '1.2.4.31', '1.2.4.32', '1.2.4.34', '2.1.1.00', '2.2.4.11', '2.2.4.12', '2.2.4.13', '2.2.4.14', '2.2.4.15', '2.2.4.21', '2.2.4.22', '2.2.4.31', '2.2.4.32', '2.2.4.33', '3.0.1.00', '3.0.1.51', '3.0.1.52', '3.0.1.53', '3.0.4.54', '3.1.1.55', '3.2.4.56', '3.2.4.57', '3.0.1.58', '4.2.2.13', '4.2.2.15', '4.2.2.21', '4.2.2.22', '4.1.3.00', '4.1.4.00', '4.1.4.61', '4.1.4.62', '4.1.4.63', '4.1.4.41', '5.2.2.16', '5.2.2.17', '5.1.3.00', '5.1.3.35', '6.1.1.00')), 0)))], {rule:String} = 'GatewatchTrafficDrop', [('', max(event_time), maxIf(event_time, ifNull(1, 0)))], CAST([], 'Array(Tuple(String, DateTime64(6, ''UTC''), DateTime64(6, ''UTC'')))')) AS facts
    FROM history_events_store
    WHERE ({rule:String} = 'GatewatchTechTimeouts' OR {rule:String} = 'GatewatchProviderUnreachable' OR {rule:String} = 'GatewatchAuthzFailures' OR {rule:String} = 'GatewatchSignatureMismatches' OR {rule:String} = 'GatewatchContractBroken' OR {rule:String} = 'GatewatchBalanceExhausted' OR {rule:String} = 'GatewatchBusinessRefusals' OR {rule:String} = 'GatewatchAmountChanged' OR {rule:String} = 'GatewatchAntifraudSilent' OR {rule:String} = 'GatewatchPayformDropOff' OR {rule:String} = 'GatewatchUnknownCodes' OR {rule:String} = 'GatewatchTrafficDrop') AND gateway = {gateway:String} AND event_time >= {from:DateTime64(6, 'UTC')} AND event_time < {to:DateTime64(6, 'UTC')} AND observed_at <= {as_of:DateTime64(6, 'UTC')} AND (({rule:String} = 'GatewatchTechTimeouts' AND (stage IN ('GATEWAY_CREATE', 'CHECK'))) OR ({rule:String} = 'GatewatchProviderUnreachable' AND (stage IN ('GATEWAY_CREATE', 'CHECK'))) OR ({rule:String} = 'GatewatchAuthzFailures' AND (stage IN ('GATEWAY_CREATE', 'CHECK'))) OR ({rule:String} = 'GatewatchSignatureMismatches' AND (stage IN ('GATEWAY_CALLBACK'))) OR ({rule:String} = 'GatewatchContractBroken' AND (stage IN ('GATEWAY_CREATE', 'CHECK', 'GATEWAY_CALLBACK'))) OR ({rule:String} = 'GatewatchBalanceExhausted' AND (stage IN ('INTERNAL', 'GATEWAY_CREATE'))) OR ({rule:String} = 'GatewatchBusinessRefusals' AND (stage IN ('INTERNAL', 'GATEWAY_CREATE'))) OR ({rule:String} = 'GatewatchAmountChanged' AND (state = 'SUCCESS')) OR ({rule:String} = 'GatewatchAntifraudSilent' AND (reason_code IN (41))) OR ({rule:String} = 'GatewatchPayformDropOff' AND (stage IN ('PAYFORM'))) OR ({rule:String} = 'GatewatchUnknownCodes') OR ({rule:String} = 'GatewatchTrafficDrop' AND (list_position = 0)))
    GROUP BY gateway, order_type, external_id
    UNION ALL
    SELECT toString(gateway) AS gateway, toString(order_type) AS order_type, order_id AS external_id, multiIf({rule:String} = 'GatewatchGatewayUnreachable', [('', max(started_at), maxIf(started_at, ifNull(outcome IN ('unknown', 'invalid_response'), 0)))], {rule:String} = 'GatewatchAccessRefused', [('401', max(started_at), maxIf(started_at, ifNull(outcome = 'unauthorized', 0))), ('403', max(started_at), maxIf(started_at, ifNull(outcome = 'forbidden', 0)))], CAST([], 'Array(Tuple(String, DateTime64(6, ''UTC''), DateTime64(6, ''UTC'')))')) AS facts
    FROM polls_store
    WHERE ({rule:String} = 'GatewatchGatewayUnreachable' OR {rule:String} = 'GatewatchAccessRefused') AND gateway = {gateway:String} AND started_at >= {from:DateTime64(6, 'UTC')} AND started_at < {to:DateTime64(6, 'UTC')} AND (({rule:String} = 'GatewatchGatewayUnreachable') OR ({rule:String} = 'GatewatchAccessRefused'))
    GROUP BY gateway, order_type, external_id
    UNION ALL
    SELECT gateway, order_type, external_id, multiIf({rule:String} = 'GatewatchOrdersNotFound', [('', asked_at, if(ifNull(not_found, 0), asked_at, toDateTime64(0, 6, 'UTC')))], CAST([], 'Array(Tuple(String, DateTime64(6, ''UTC''), DateTime64(6, ''UTC'')))')) AS facts
    FROM
    (
      SELECT toString(gateway) AS gateway, toString(order_type) AS order_type, order_id AS external_id, max(started_at) AS asked_at, countIf(outcome = 'not_found') > 0 AND countIf(outcome = 'ok') = 0 AS not_found
      FROM polls_store
      WHERE ({rule:String} = 'GatewatchOrdersNotFound') AND gateway = {gateway:String} AND started_at >= {to:DateTime64(6, 'UTC')} - INTERVAL 10800 SECOND AND started_at < {to:DateTime64(6, 'UTC')} AND cause != 'reread'
      GROUP BY gateway, order_type, external_id
      HAVING ({rule:String} = 'GatewatchOrdersNotFound') AND gateway = {gateway:String} AND asked_at >= {from:DateTime64(6, 'UTC')} AND asked_at < {to:DateTime64(6, 'UTC')}
    )
    WHERE 1 AND {rule:String} = 'GatewatchOrdersNotFound'
    UNION ALL
    SELECT toString(gateway) AS gateway, assumeNotNull(toString(order_type)) AS order_type, assumeNotNull(external_id) AS external_id, multiIf({rule:String} = 'GatewatchCallbackKeyBroken', [('', max(received_at), maxIf(received_at, ifNull(verdict IN ('mismatch', 'missing_signature'), 0)))], {rule:String} = 'GatewatchForgedCallbacks', [('', max(received_at), maxIf(received_at, ifNull(verdict IN ('mismatch', 'missing_signature'), 0)))], {rule:String} = 'GatewatchPreviousKeyInUse', [('', max(received_at), maxIf(received_at, ifNull(verdict = 'valid_previous_key', 0)))], CAST([], 'Array(Tuple(String, DateTime64(6, ''UTC''), DateTime64(6, ''UTC'')))')) AS facts
    FROM callback_arrivals_store
    WHERE external_id IS NOT NULL AND order_type IS NOT NULL AND ({rule:String} = 'GatewatchCallbackKeyBroken' OR {rule:String} = 'GatewatchForgedCallbacks' OR {rule:String} = 'GatewatchPreviousKeyInUse') AND gateway = {gateway:String} AND received_at >= {from:DateTime64(6, 'UTC')} AND received_at < {to:DateTime64(6, 'UTC')} AND received_at <= {as_of:DateTime64(6, 'UTC')} AND (verdict = 'valid' OR (gateway, content_hash) IN (SELECT gateway, content_hash FROM callback_deliveries_store WHERE (gateway, content_hash) IN (SELECT gateway, content_hash FROM callback_arrivals_store WHERE ({rule:String} = 'GatewatchCallbackKeyBroken' OR {rule:String} = 'GatewatchForgedCallbacks' OR {rule:String} = 'GatewatchPreviousKeyInUse') AND gateway = {gateway:String} AND received_at >= {from:DateTime64(6, 'UTC')} AND received_at < {to:DateTime64(6, 'UTC')} AND verdict != 'valid') GROUP BY gateway, content_hash HAVING ({rule:String} = 'GatewatchCallbackKeyBroken' OR {rule:String} = 'GatewatchForgedCallbacks' OR {rule:String} = 'GatewatchPreviousKeyInUse') AND gateway = {gateway:String} AND min(received_at) >= {from:DateTime64(6, 'UTC')} AND min(received_at) < {to:DateTime64(6, 'UTC')})) AND (({rule:String} = 'GatewatchCallbackKeyBroken') OR ({rule:String} = 'GatewatchForgedCallbacks') OR ({rule:String} = 'GatewatchPreviousKeyInUse'))
    GROUP BY gateway, order_type, external_id
    UNION ALL
    SELECT gateway, order_type, external_id, multiIf({rule:String} = 'GatewatchAntifraudSpike', [('', decided_at, if(ifNull(outcome = 'risk_decline', 0), decided_at, toDateTime64(0, 6, 'UTC')))], {rule:String} = 'GatewatchIssuerDeclines', [('CARD_BLOCKED', decided_at, if(ifNull(outcome = 'issuer_decline' AND reason_code IN (61), 0), decided_at, toDateTime64(0, 6, 'UTC'))), ('CARD_NOT_SUPPORTED', decided_at, if(ifNull(outcome = 'issuer_decline' AND reason_code IN (62), 0), decided_at, toDateTime64(0, 6, 'UTC'))), ('INSUFFICIENT_FUNDS', decided_at, if(ifNull(outcome = 'issuer_decline' AND reason_code IN (63), 0), decided_at, toDateTime64(0, 6, 'UTC'))), ('NO_REASON', decided_at, if(ifNull(outcome = 'unspecified_failure', 0), decided_at, toDateTime64(0, 6, 'UTC')))], {rule:String} = 'GatewatchTechnicalBurnFast', [('', decided_at, if(ifNull(outcome = 'technical_failure', 0), decided_at, toDateTime64(0, 6, 'UTC')))], {rule:String} = 'GatewatchTechnicalBurnSlow', [('', decided_at, if(ifNull(outcome = 'technical_failure', 0), decided_at, toDateTime64(0, 6, 'UTC')))], {rule:String} = 'GatewatchApprovalDrop', [('', decided_at, if(ifNull(outcome != 'succeeded', 0), decided_at, toDateTime64(0, 6, 'UTC')))], CAST([], 'Array(Tuple(String, DateTime64(6, ''UTC''), DateTime64(6, ''UTC'')))')) AS facts
    FROM
    (
      SELECT toString(gateway) AS gateway, toString(order_type) AS order_type, external_id, max(event_time) AS decided_at, argMax(tuple(h.state, h.reason_group, h.reason_code), tuple(event_time, list_position, action)) AS deciding,
        deciding.1 AS state, deciding.2 AS reason_group, deciding.3 AS reason_code, multiIf(deciding.1 IS NULL, 'pending', deciding.1 = 'SUCCESS', 'succeeded', deciding.2 = 'NONE', 'unspecified_failure', deciding.2 = 'TECH', 'technical_failure', deciding.2 = 'AUTHZ', 'technical_failure', deciding.2 = 'BUSINESS', 'business_failure', deciding.2 = 'RISK', 'risk_decline', deciding.2 = 'USER', 'user_abandoned', deciding.2 = 'ISSUER', 'issuer_decline', 'unspecified_failure') AS outcome
      FROM history_events_store AS h
      WHERE h.state IN ('SUCCESS', 'FAILED') AND ({rule:String} = 'GatewatchAntifraudSpike' OR {rule:String} = 'GatewatchIssuerDeclines' OR {rule:String} = 'GatewatchTechnicalBurnFast' OR {rule:String} = 'GatewatchTechnicalBurnSlow' OR {rule:String} = 'GatewatchApprovalDrop') AND gateway = {gateway:String} AND event_time >= {from:DateTime64(6, 'UTC')} AND event_time < {to:DateTime64(6, 'UTC')} AND observed_at <= {as_of:DateTime64(6, 'UTC')}
      GROUP BY gateway, order_type, external_id
    )
    WHERE 1 AND (({rule:String} = 'GatewatchAntifraudSpike' AND (outcome IN ('succeeded', 'risk_decline', 'issuer_decline', 'unspecified_failure'))) OR ({rule:String} = 'GatewatchIssuerDeclines' AND (outcome IN ('succeeded', 'risk_decline', 'issuer_decline', 'unspecified_failure'))) OR ({rule:String} = 'GatewatchTechnicalBurnFast') OR ({rule:String} = 'GatewatchTechnicalBurnSlow') OR ({rule:String} = 'GatewatchApprovalDrop' AND (outcome IN ('succeeded', 'risk_decline', 'issuer_decline', 'unspecified_failure'))))
    UNION ALL
    SELECT gateway, order_type, external_id, multiIf({rule:String} = 'GatewatchStuckProcessing', [('', began_at + INTERVAL 1800 SECOND, if(ifNull(NOT decided, 0), began_at + INTERVAL 1800 SECOND, toDateTime64(0, 6, 'UTC')))], CAST([], 'Array(Tuple(String, DateTime64(6, ''UTC''), DateTime64(6, ''UTC'')))')) AS facts
    FROM
    (
      SELECT toString(gateway) AS gateway, toString(order_type) AS order_type, external_id, minIf(event_time, ifNull(reason_code = 55 OR stage IN ('CHECK', 'GATEWAY_CALLBACK') OR state = 'PROCESSING', 0)) AS began_at, countIf(ifNull(state IN ('SUCCESS', 'FAILED'), 0)) > 0 AS decided
      FROM history_events_store
      WHERE ({rule:String} = 'GatewatchStuckProcessing') AND gateway = {gateway:String} AND event_time >= {to:DateTime64(6, 'UTC')} - INTERVAL 14400 SECOND AND event_time < {to:DateTime64(6, 'UTC')} AND observed_at <= {as_of:DateTime64(6, 'UTC')}
      GROUP BY gateway, order_type, external_id
      HAVING began_at > toDateTime64(0, 6, 'UTC') AND ({rule:String} = 'GatewatchStuckProcessing') AND gateway = {gateway:String} AND began_at + INTERVAL 1800 SECOND >= {from:DateTime64(6, 'UTC')} AND began_at + INTERVAL 1800 SECOND < {to:DateTime64(6, 'UTC')}
    )
    WHERE 1 AND {rule:String} = 'GatewatchStuckProcessing'
    UNION ALL
    SELECT gateway, order_type, external_id, multiIf({rule:String} = 'GatewatchMerchantCallbackMissing', [('SUCCESS', if(ifNull(state = 'SUCCESS', 0), decided_at + INTERVAL 600 SECOND, toDateTime64(0, 6, 'UTC')), if(ifNull((state = 'SUCCESS') AND (NOT confirmed), 0), decided_at + INTERVAL 600 SECOND, toDateTime64(0, 6, 'UTC'))), ('FAILED', if(ifNull(state = 'FAILED', 0), decided_at + INTERVAL 600 SECOND, toDateTime64(0, 6, 'UTC')), if(ifNull((state = 'FAILED') AND (NOT confirmed), 0), decided_at + INTERVAL 600 SECOND, toDateTime64(0, 6, 'UTC')))], CAST([], 'Array(Tuple(String, DateTime64(6, ''UTC''), DateTime64(6, ''UTC'')))')) AS facts
    FROM
    (
      SELECT toString(gateway) AS gateway, toString(order_type) AS order_type, external_id, minIf(event_time, ifNull(h.state = 'SUCCESS', 0)) AS paid_first_at, maxIf(event_time, ifNull(h.state = 'SUCCESS', 0)) AS paid_last_at,
        minIf(event_time, ifNull(h.state = 'FAILED', 0)) AS failed_first_at, maxIf(event_time, ifNull(h.state = 'FAILED', 0)) AS failed_last_at, if(paid_last_at > failed_last_at, 'SUCCESS', 'FAILED') AS state,
        if(state = 'SUCCESS', if(paid_first_at > failed_last_at, paid_first_at, paid_last_at), if(failed_first_at > paid_last_at, failed_first_at, failed_last_at)) AS decided_at,
        maxIf(event_time, ifNull(stage = 'MERCHANT_CALLBACK', 0)) >= decided_at - INTERVAL 1 SECOND AS confirmed
      FROM history_events_store AS h
      WHERE (h.state IN ('SUCCESS', 'FAILED') OR stage = 'MERCHANT_CALLBACK') AND ({rule:String} = 'GatewatchMerchantCallbackMissing') AND gateway = {gateway:String} AND event_time >= {to:DateTime64(6, 'UTC')} - INTERVAL 13200 SECOND AND event_time < {to:DateTime64(6, 'UTC')} AND observed_at <= {as_of:DateTime64(6, 'UTC')}
      GROUP BY gateway, order_type, external_id
      HAVING decided_at > toDateTime64(0, 6, 'UTC') AND ({rule:String} = 'GatewatchMerchantCallbackMissing') AND gateway = {gateway:String} AND decided_at + INTERVAL 600 SECOND >= {from:DateTime64(6, 'UTC')} AND decided_at + INTERVAL 600 SECOND < {to:DateTime64(6, 'UTC')}
    )
    WHERE 1 AND {rule:String} = 'GatewatchMerchantCallbackMissing'
    UNION ALL
    SELECT gateway, order_type, external_id, multiIf({rule:String} = 'GatewatchSuccessAfterFailed', [('', greatest(paid_at, failed_last_at), if(ifNull(reversed, 0), greatest(paid_at, failed_last_at), toDateTime64(0, 6, 'UTC')))], CAST([], 'Array(Tuple(String, DateTime64(6, ''UTC''), DateTime64(6, ''UTC'')))')) AS facts
    FROM
    (
      SELECT toString(gateway) AS gateway, toString(order_type) AS order_type, external_id, minIf(event_time, state = 'FAILED') AS failed_at, maxIf(event_time, state = 'FAILED') AS failed_last_at, maxIf(event_time, state = 'SUCCESS') AS paid_at, failed_at > toDateTime64(0, 6, 'UTC') AND paid_at > failed_at AS reversed
      FROM history_events_store
      WHERE state IN ('SUCCESS', 'FAILED') AND ({rule:String} = 'GatewatchSuccessAfterFailed') AND gateway = {gateway:String} AND event_time >= {to:DateTime64(6, 'UTC')} - INTERVAL 25200 SECOND AND event_time < {to:DateTime64(6, 'UTC')} AND observed_at <= {as_of:DateTime64(6, 'UTC')}
      GROUP BY gateway, order_type, external_id
      HAVING ({rule:String} = 'GatewatchSuccessAfterFailed') AND gateway = {gateway:String} AND greatest(paid_at, failed_last_at) >= {from:DateTime64(6, 'UTC')} AND greatest(paid_at, failed_last_at) < {to:DateTime64(6, 'UTC')}
    )
    WHERE 1 AND {rule:String} = 'GatewatchSuccessAfterFailed'
    UNION ALL
    SELECT gateway, order_type, external_id, multiIf({rule:String} = 'GatewatchRereadCoverage', [('', known_at + toIntervalSecond(toUInt32((SELECT if(count() = 0, 900, max(value)) FROM alert_settings WHERE rule = {rule:String} AND gateway = {gateway:String} AND setting = 'judgedAfterSeconds'))), if(ifNull(NOT reread, 0), known_at + toIntervalSecond(toUInt32((SELECT if(count() = 0, 900, max(value)) FROM alert_settings WHERE rule = {rule:String} AND gateway = {gateway:String} AND setting = 'judgedAfterSeconds'))), toDateTime64(0, 6, 'UTC')))], CAST([], 'Array(Tuple(String, DateTime64(6, ''UTC''), DateTime64(6, ''UTC'')))')) AS facts
    FROM
    (
      SELECT gateway, order_type, external_id, min(first_at) AS known_at, max(last_read_at) > known_at + toIntervalSecond(toUInt32((SELECT if(count() = 0, 405, max(value)) FROM alert_settings WHERE rule = {rule:String} AND gateway = {gateway:String} AND setting = 'rereadFromSeconds'))) AS reread
      FROM
      (
        SELECT toString(gateway) AS gateway, toString(order_type) AS order_type, external_id, min(observed_at) AS first_at, toDateTime64(0, 6, 'UTC') AS last_read_at
        FROM history_events_store
        WHERE state IN ('SUCCESS', 'FAILED') AND ({rule:String} = 'GatewatchRereadCoverage') AND gateway = {gateway:String} AND event_time >= {from:DateTime64(6, 'UTC')} - INTERVAL toUInt32(2 * (SELECT if(count() = 0, 900, max(value)) FROM alert_settings WHERE rule = {rule:String} AND gateway = {gateway:String} AND setting = 'judgedAfterSeconds')) SECOND AND event_time < {to:DateTime64(6, 'UTC')} AND observed_at <= {as_of:DateTime64(6, 'UTC')}
        GROUP BY gateway, order_type, external_id
        UNION ALL
        SELECT toString(gateway) AS gateway, toString(order_type) AS order_type, order_id AS external_id, toDateTime64('2299-12-31 00:00:00', 6, 'UTC') AS first_at, max(started_at) AS last_read_at
        FROM polls_store
        WHERE outcome = 'ok' AND ({rule:String} = 'GatewatchRereadCoverage') AND gateway = {gateway:String} AND started_at >= {from:DateTime64(6, 'UTC')} - INTERVAL toUInt32(2 * (SELECT if(count() = 0, 900, max(value)) FROM alert_settings WHERE rule = {rule:String} AND gateway = {gateway:String} AND setting = 'judgedAfterSeconds')) SECOND AND started_at < {to:DateTime64(6, 'UTC')}
        GROUP BY gateway, order_type, external_id
      )
      GROUP BY gateway, order_type, external_id
      HAVING ({rule:String} = 'GatewatchRereadCoverage') AND gateway = {gateway:String} AND known_at + toIntervalSecond(toUInt32((SELECT if(count() = 0, 900, max(value)) FROM alert_settings WHERE rule = {rule:String} AND gateway = {gateway:String} AND setting = 'judgedAfterSeconds'))) >= {from:DateTime64(6, 'UTC')} AND known_at + toIntervalSecond(toUInt32((SELECT if(count() = 0, 900, max(value)) FROM alert_settings WHERE rule = {rule:String} AND gateway = {gateway:String} AND setting = 'judgedAfterSeconds'))) < {to:DateTime64(6, 'UTC')}
    )
    WHERE 1 AND {rule:String} = 'GatewatchRereadCoverage'
  )
  ARRAY JOIN facts AS fact
  WHERE seen_at >= {from:DateTime64(6, 'UTC')}
) AS hit
LEFT JOIN
(
  SELECT toString(gateway) AS gateway, toString(order_type) AS order_type, external_id, status, amount, currency, channel
  FROM orders
  WHERE gateway = {gateway:String} AND external_id IN
  (
    SELECT external_id FROM history_events WHERE gateway = {gateway:String} AND event_time >= {from:DateTime64(6, 'UTC')} - INTERVAL 3600 SECOND AND event_time < {to:DateTime64(6, 'UTC')}
    UNION DISTINCT
    SELECT order_id AS external_id FROM polls WHERE gateway = {gateway:String} AND started_at >= {from:DateTime64(6, 'UTC')} - INTERVAL 3600 SECOND AND started_at < {to:DateTime64(6, 'UTC')}
    UNION DISTINCT
    SELECT assumeNotNull(external_id) AS external_id FROM callback_arrivals WHERE gateway = {gateway:String} AND received_at >= {from:DateTime64(6, 'UTC')} - INTERVAL 3600 SECOND AND received_at < {to:DateTime64(6, 'UTC')} AND external_id IS NOT NULL
  )
) AS known ON known.gateway = hit.gateway AND known.order_type = hit.order_type AND known.external_id = hit.external_id
LEFT JOIN
(
  SELECT toString(gateway) AS gateway, toString(order_type) AS order_type, external_id, count() AS items, max(channel) AS channel, minIf(event_time, list_position = 0) AS began_at,
    argMaxIf(tuple(stage, reason_code, reason_detail), tuple(event_time, list_position, action), ifNull((result = 'FAILURE' OR state = 'FAILED'), 0)) AS failing
  FROM history_events
  WHERE gateway = {gateway:String} AND event_time >= {from:DateTime64(6, 'UTC')} - INTERVAL 3600 SECOND AND event_time < {to:DateTime64(6, 'UTC')} AND observed_at <= {as_of:DateTime64(6, 'UTC')}
  GROUP BY gateway, order_type, external_id
) AS item ON item.gateway = hit.gateway AND item.order_type = hit.order_type AND item.external_id = hit.external_id;
