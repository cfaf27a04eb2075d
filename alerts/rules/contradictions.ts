import type { FindingKind, FindingSide } from '../../schemas/findings.ts';
import { sqlList, sqlText, view } from '../../schemas/measures.ts';
import type { Rule } from './rule.ts';

const WITHIN_SECONDS = 3_600;

/**
 * Orders with an open finding of a side, found within the hour, by kind; 0 for each gateway that a collector
 * reports on. `side` and kinds follow the view `findings`; SUCCESS_AFTER_FAILED, STUCK_PROCESSING and
 * callbacks that the history lacks too have rules of their own, which count the same orders.
 */
const openFindings = (side: FindingSide, kinds: readonly FindingKind[]): string =>
  `SELECT gateway, label, toFloat64(uniqExactIf(found_order, found_order != '')) AS number
  FROM
  (
    SELECT toString(gateway) AS gateway, toString(kind) AS label, concat(toString(order_type), ' ', external_id) AS found_order
    FROM ${view('findings')}
    WHERE side = ${sqlText(side)} AND kind IN (${sqlList(kinds)}) AND found_at > as_of - INTERVAL ${WITHIN_SECONDS} SECOND AND found_at <= as_of
      AND (resolved_at IS NULL OR resolved_at > as_of)
    UNION ALL
    SELECT gateway, arrayJoin([${sqlList(kinds)}]) AS label, '' AS found_order
    FROM
    (
      SELECT DISTINCT toString(gateway) AS gateway
      FROM ${view('gatewayStatus')}
      WHERE reported_at <= as_of AND reported_at > as_of - INTERVAL 300 SECOND
    )
  )
  GROUP BY gateway, label`;

const UNIT = 'orders about which sources contradict one another, found within an hour';

/** One rule for each side that no other rule speaks for. */
export const CONTRADICTION_RULES: readonly Rule[] = [
  {
    kind: 'gauge',
    name: 'GatewatchFindingsGateway',
    uid: 'gatewatch-findings-gateway',
    severity: 'warning',
    side: 'gateway',
    risk: 'money',
    sql: openFindings('gateway', [
      'STATUS_DISAGREES',
      'AMOUNT_DISAGREES',
      'HISTORY_REWRITTEN',
      'CALLBACK_FOR_UNKNOWN_ORDER',
    ]),
    splitBy: 'kind',
    above: 0,
    unit: UNIT,
    pendingSeconds: 0,
    keepFiringSeconds: 600,
    summary: 'The gateway contradicts itself about an order.',
    explanation: 'History, status and callback of one order cannot all be true: money may be booked wrongly.',
    steps: [
      'List the orders with "gatewatch findings --open --side gateway" and look at the evidence.',
      'Deliver and refund by none of them until the gateway has said which of its words holds.',
      "Send the gateway's operator the order ids, with expected and received.",
    ],
  },
  {
    kind: 'gauge',
    name: 'GatewatchFindingsMerchant',
    uid: 'gatewatch-findings-merchant',
    severity: 'warning',
    side: 'merchant',
    risk: 'money',
    sql: openFindings('merchant', ['CALLBACK_MISSING', 'AMOUNT_DISAGREES', 'CURRENCY_DISAGREES']),
    splitBy: 'kind',
    above: 5,
    unit: UNIT,
    pendingSeconds: 0,
    keepFiringSeconds: 600,
    summary: 'Callbacks are lost on the way to us, or the shop had other amounts in mind.',
    explanation:
      'The history says that a callback was sent and it has not come, or the watch message names another amount or currency than the gateway.',
    steps: [
      'List the orders with "gatewatch findings --open --side merchant".',
      'CALLBACK_MISSING: look for refusals before the intake: firewall, proxy, certificate, broker.',
      'Amount or currency: compare what the shop announces with what it sends to the gateway.',
    ],
  },
  {
    kind: 'gauge',
    name: 'GatewatchFindingsStranger',
    uid: 'gatewatch-findings-stranger',
    severity: 'warning',
    side: 'stranger',
    risk: 'security',
    sql: openFindings('stranger', ['SIGNATURE_CONFLICT', 'CURRENCY_DISAGREES', 'REPLAYED']),
    splitBy: 'kind',
    above: 0,
    unit: UNIT,
    pendingSeconds: 0,
    keepFiringSeconds: 600,
    summary: 'Callbacks that verify were changed or sent again by somebody.',
    explanation:
      'The signature covers neither currency nor card data and has no time: whoever sees a callback can alter these, and send it again.',
    steps: [
      'List the orders with "gatewatch findings --side stranger" and compare the two callbacks.',
      'Check by a status read that no order was delivered or credited twice, or in another currency.',
      'Allow only the addresses of the gateway to reach the intake; ask it whether it sent both.',
    ],
  },
];
