-- Orders, and one order by its id or number. Conditions on either reach the tables; these are sorted by the id. Repetitions are folded by
-- grouping: FINAL costs a single order 11 to 24 times as much.

CREATE OR REPLACE VIEW orders AS
SELECT
    gateway,
    order_type,
    external_id,
    external_transaction_id,
    channel,
    reply_now.status AS status,
    toDecimal128OrNull(substring(amount_now, 18), 9) AS amount,
    if(amount_now = '', NULL, transform(substring(amount_now, 1, 1), ['1', '2', '3'], ['callback', 'watch', 'status'], '')) AS amount_source,
    if(currency_now = '', NULL, substring(currency_now, 18)) AS currency,
    if(currency_now = '', NULL, transform(substring(currency_now, 1, 1), ['1', '2', '3'], ['callback', 'watch', 'status'], '')) AS currency_source,
    reply_now.outcome AS outcome,
    reply_now.deciding_action AS deciding_action,
    reply_now.reason_code AS reason_code,
    reply_now.reason_group AS reason_group,
    reply_now.reason_detail AS reason_detail,
    reply_now.history_items AS history_items,
    first_seen_at,
    fromUnixTimestamp64Micro(reply_now.created_at, 'UTC') AS created_at,
    fromUnixTimestamp64Micro(reply_now.final_at, 'UTC') AS final_at,
    settled_at,
    abandoned_at,
    last_reply_at,
    order_number
FROM
(
    SELECT
        gateway, order_type, external_id, order_number,
        max(s.external_transaction_id) AS external_transaction_id,
        max(s.channel) AS channel,
        min(s.first_seen_at) AS first_seen_at,
        max(s.last_reply_at) AS last_reply_at,
        max(s.settled_at) AS settled_at,
        max(s.abandoned_at) AS abandoned_at,
        JSONExtract(substring(max(s.last_reply), 17), 'Tuple(status Nullable(String), outcome Nullable(String), deciding_action Nullable(String), reason_code Nullable(UInt8), reason_group Nullable(String), reason_detail Nullable(String), history_items UInt32, created_at Nullable(Int64), final_at Nullable(Int64))') AS reply_now,
        max(s.amount_told) AS amount_now,
        max(s.currency_told) AS currency_now
    FROM orders_store AS s
    GROUP BY gateway, order_type, external_id, order_number
);

CREATE OR REPLACE VIEW order_ids AS
SELECT gateway, order_type, external_id, external_transaction_id
FROM orders_store
WHERE external_transaction_id != '';

CREATE OR REPLACE VIEW order_timeline AS
SELECT
    gateway,
    order_type,
    external_id,
    item.1 AS event_time,
    if(place = 1, NULL, dateDiff('microsecond', items[place - 1].1, item.1) / 1000000) AS seconds_since_previous,
    item.3 AS action,
    item.4 AS occurrence,
    item.2 AS list_position,
    item.5.1 AS code_format,
    item.5.2 AS stage,
    item.5.3 AS result,
    item.5.4 AS state,
    item.5.5 AS reason_code,
    item.5.6 AS reason_group,
    item.5.7 AS reason_detail,
    place = deciding_place AS deciding,
    ifNull(item.6 > final_seen_at, false) AS late,
    item.6 AS observed_at,
    if(place = 1, item.1, items[place - 1].1) AS span_start,
    lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id)), 1, 16))) AS trace_id,
    lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id, '|', formatDateTime(item.1, '%FT%T.%fZ'), '|', item.3, '|', toString(item.4))), 1, 8))) AS span_id,
    lower(hex(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id, '|root')), 1, 8))) AS root_span_id
FROM
(
    SELECT
        gateway, order_type, external_id,
        arraySort(i -> (i.1, i.2, i.3, i.4), groupArray((at, seen.1, code, nth, decoded, seen.2))) AS items,
        arrayLastIndex(i -> ifNull(i.5.4 IN ('SUCCESS', 'FAILED'), 0), items) AS deciding_place,
        minIf(toNullable(seen.2), ifNull(decoded.4 IN ('SUCCESS', 'FAILED'), 0)) AS final_seen_at
    FROM
    (
        SELECT
            gateway, order_type, external_id, s.event_time AS at, s.action AS code, s.occurrence AS nth,
            argMin((s.list_position, s.observed_at), s.observed_at) AS seen,
            any((toString(s.code_format), toString(s.stage), toString(s.result), toString(s.state), s.reason_code, toString(s.reason_group), toString(s.reason_detail))) AS decoded
        FROM history_events_store AS s
        GROUP BY gateway, order_type, external_id, at, code, nth
    )
    GROUP BY gateway, order_type, external_id
)
ARRAY JOIN items AS item, arrayEnumerate(items) AS place;

-- What has become of the money of orders where something technical came between (schemas/measures.ts).
CREATE OR REPLACE VIEW order_money AS
SELECT m.gateway AS gateway, m.order_type AS order_type, m.external_id AS external_id, m.money AS money, m.since AS since, o.channel AS channel, o.amount AS amount, o.currency AS currency
FROM
(
  SELECT gateway, order_type, external_id, money, since
    FROM
    (
      SELECT gateway, order_type, external_id, countIf(ifNull(state IN ('SUCCESS', 'FAILED'), 0)) > 0 AS decided, maxIf(event_time, ifNull(state IN ('SUCCESS', 'FAILED'), 0)) AS decided_at,
        argMaxIf(tuple(state, reason_group), tuple(event_time, list_position, action), ifNull(state IN ('SUCCESS', 'FAILED'), 0)) AS deciding_item,
        if(decided, multiIf(deciding_item.1 IS NULL, 'pending', deciding_item.1 = 'SUCCESS', 'succeeded', deciding_item.2 = 'NONE', 'unspecified_failure', deciding_item.2 = 'TECH', 'technical_failure', deciding_item.2 = 'AUTHZ', 'technical_failure', deciding_item.2 = 'BUSINESS', 'business_failure', deciding_item.2 = 'RISK', 'risk_decline', deciding_item.2 = 'USER', 'user_abandoned', deciding_item.2 = 'ISSUER', 'issuer_decline', 'unspecified_failure'), 'pending') AS outcome,
        countIf(ifNull(result = 'FAILURE' AND reason_group IN ('TECH', 'AUTHZ'), 0)) > 0 AS stumbled, minIf(event_time, ifNull(result = 'FAILURE' AND reason_group IN ('TECH', 'AUTHZ'), 0)) AS stumbled_at,
        countIf(ifNull(reason_code = 55 OR stage IN ('CHECK', 'GATEWAY_CALLBACK') OR state = 'PROCESSING', 0)) > 0 AS processing, minIf(event_time, ifNull(reason_code = 55 OR stage IN ('CHECK', 'GATEWAY_CALLBACK') OR state = 'PROCESSING', 0)) AS processing_at,
        multiIf(outcome = 'technical_failure', 'declined_technically', outcome = 'succeeded' AND stumbled AND stumbled_at < decided_at, 'recovered',
          NOT decided AND stumbled, 'at_risk', NOT decided AND processing AND processing_at + INTERVAL 1800 SECOND < now64(6), 'delayed', '') AS money,
        multiIf(decided, decided_at, stumbled, stumbled_at, processing_at + INTERVAL 1800 SECOND) AS since
      FROM history_events
      WHERE 1
      GROUP BY gateway, order_type, external_id
    )
    WHERE money != ''
) AS m
LEFT JOIN orders AS o ON o.gateway = m.gateway AND o.order_type = m.order_type AND o.external_id = m.external_id;
