-- One row: one order whose money something technical came between.
-- - Identity: `gateway, order_type, external_id`. An order is in one state, the one of now; one that was simply paid or declined is not
--   here.
-- - Amounts are never added over currencies: group by `currency`. Without a status reply or a message that named it, `amount` is NULL.
--
-- What has become of the money of orders where something technical came between (schemas/measures.ts).
CREATE OR REPLACE VIEW order_money
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    order_type Enum8('Deposit' = 1, 'Withdrawal' = 2) COMMENT 'Type of the order.',
    external_id String COMMENT 'The order''s id in the service.',
    money String COMMENT '`at_risk`: undecided after an operation failed for a technical reason (TECH, AUTHZ); `delayed`: undecided half an hour after it entered processing, without such a failure; `declined_technically`: failed for a technical reason; `recovered`: paid after an operation had failed for one.',
    since DateTime64(6, 'UTC') COMMENT 'When it came into that state: the failure, the end of the half hour, the decision.',
    channel SimpleAggregateFunction(max, String) COMMENT 'The channel that a watch message named; empty when none did. The code does not carry it.',
    amount Nullable(Decimal(38, 9)) COMMENT 'Amount in units of `currency`, as in `orders`.',
    currency Nullable(String) COMMENT 'Currency code in upper case; NULL when nobody named one.'
)
AS
SELECT m.gateway AS gateway, m.order_type AS order_type, m.external_id AS external_id, m.money AS money, m.since AS since, o.channel AS channel, o.amount AS amount, o.currency AS currency
FROM
(
  SELECT gateway, order_type, external_id, money, since
    FROM
    (
      SELECT gateway, order_type, external_id, countIf(ifNull(state IN ('SUCCESS', 'FAILED'), 0)) > 0 AS decided, maxIf(event_time, ifNull(state IN ('SUCCESS', 'FAILED'), 0)) AS decided_at,
        argMaxIf(tuple(state, reason_group), tuple(event_time, list_position, action), ifNull(state IN ('SUCCESS', 'FAILED'), 0)) AS deciding_item,
        if(decided, multiIf(deciding_item.1 IS NULL, 'pending', deciding_item.1 = 'SUCCESS', 'succeeded', deciding_item.2 = 'NONE', 'unspecified_failure', deciding_item.2 = 'TECH', 'technical_failure', deciding_item.2 = 'AUTHZ', 'technical_failure', deciding_item.2 = 'BUSINESS', 'business_failure', deciding_item.2 = 'RISK', 'risk_decline', deciding_item.2 = 'USER', 'user_abandoned', deciding_item.2 = 'ISSUER', 'issuer_decline', 'unspecified_failure'), 'pending') AS outcome,
        countIf(ifNull(result = 'FAILURE' AND reason_group IN ('TECH', 'AUTHZ'), 0)) > 0 AS had_technical_failure, minIf(event_time, ifNull(result = 'FAILURE' AND reason_group IN ('TECH', 'AUTHZ'), 0)) AS first_technical_failure_at,
        countIf(ifNull(reason_code = 55 OR stage IN ('CHECK', 'GATEWAY_CALLBACK') OR state = 'PROCESSING', 0)) > 0 AS processing, minIf(event_time, ifNull(reason_code = 55 OR stage IN ('CHECK', 'GATEWAY_CALLBACK') OR state = 'PROCESSING', 0)) AS processing_at,
        multiIf(outcome = 'technical_failure', 'declined_technically', outcome = 'succeeded' AND had_technical_failure AND first_technical_failure_at < decided_at, 'recovered',
          NOT decided AND had_technical_failure, 'at_risk', NOT decided AND processing AND processing_at + INTERVAL 1800 SECOND < now64(6), 'delayed', '') AS money,
        multiIf(decided, decided_at, had_technical_failure, first_technical_failure_at, processing_at + INTERVAL 1800 SECOND) AS since
      FROM history_events
      WHERE 1
      GROUP BY gateway, order_type, external_id
    )
    WHERE money != ''
) AS m
LEFT JOIN orders AS o ON o.gateway = m.gateway AND o.order_type = m.order_type AND o.external_id = m.external_id;
