import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { houseDashboard } from '../../dashboards/house/dashboard.ts';
import { time } from '../../dashboards/house/fields.ts';
import { column, linkTo, THIS_VALUE } from '../../dashboards/house/links.ts';
import { view } from '../../schemas/measures.ts';
import { DATABASE, INCIDENT_ORDERS, INCIDENT_POPULATION } from '../../schemas/names.ts';
import { inSlice } from '../count/slices.ts';
import { INCIDENT } from '../explain/links.ts';
import { LEAST_AGAINST, LEAST_ORDERS, LEAST_PART, WHERE, Z } from '../explain/slices.ts';
import { DIMENSION_TEXT, NOTHING_STANDS_OUT } from '../explain/explanation-text.ts';
import { statPanel, tablePanel, timeSeriesPanel } from '../../dashboards/house/panels.ts';

/**
 * The orders behind the number of one page, and their amounts. Opened from the page's links.
 */
export const INCIDENT_DASHBOARD = {
  uid: INCIDENT.uid,
  title: 'Incident',
  /** Keys of its panels. */
  panels: {
    evaluation: 'incident-evaluation',
    seen: INCIDENT.seen,
    shares: 'incident-shares',
    overTime: 'incident-over-time',
    count: 'incident-count',
    amounts: 'incident-amounts',
    slices: 'incident-slices',
    orders: 'incident-orders',
  },
} as const;

const value = (name: string): string => `concat(\${${name}:singlequote}, '')`;
const IDENTITY = `rule = ${value('rule')} AND gateway = ${value('gateway')} AND slice = ${value('slice')} AND label = ${value('label')}`;
const EVALUATION = `FROM ${view('alertEvaluations')} WHERE ${IDENTITY} AND as_of = toDateTimeOrZero(${value('as_of')}, 'UTC')`;
/** An edge of the evaluation's window. Without such an evaluation, as when opened by hand: of no window. */
const edge = (column: 'window_from' | 'window_to'): string => `(SELECT max(${column}) ${EVALUATION})`;
const ofPage = (name: string): string =>
  `${DATABASE}.${name}(rule=${value('rule')}, gateway=${value('gateway')}, ` +
  `from=${edge('window_from')}, to=${edge('window_to')}, as_of=toDateTime64OrZero(${value('as_of')}, 6, 'UTC')) ` +
  `WHERE label = ${value('label')} AND ${inSlice(value('slice'))}`;
const ORDERS = ofPage(INCIDENT_ORDERS);
/** The column needs another name here, since the condition above means the column `label`. */
const NAMED = `if(label = '', 'orders', label) AS hit`;

/**
 * From an order's id. The variables of this page are those of its rule: what the order needs is in its row.
 */
const TO_ORDER = linkTo(
  'order',
  'Timeline of this order',
  { order_id: THIS_VALUE, gateway: column('gateway'), order_type: column('order_type') },
  [],
);
/** As text, so that nothing is rounded. */
const AMOUNT = `if(amount IS NULL, '', concat(toString(assumeNotNull(amount)), if(currency IS NULL, '', concat(' ', assumeNotNull(currency)))))`;

/** Evaluations of the instance, over the time range of the dashboard. */
const EVALUATIONS = `FROM ${view('alertEvaluations')} WHERE ${IDENTITY} AND $__timeFilter(as_of) ORDER BY time`;

const SEEN = timeSeriesPanel({
  key: INCIDENT_DASHBOARD.panels.seen,
  title: 'What the rule saw, and its limit',
  description:
    'Of every evaluation: the orders that the rule counts, or its number. A share and a number fire from the limit on, a drop down to it. No limit: nothing can fire, since too little is known or the settings say so.',
  sql: `SELECT as_of AS time, ifNull(number, toFloat64(affected)) AS counted, if(limit < 0 OR limit >= 1e15, NULL, limit) AS fires_at ${EVALUATIONS}`,
  unit: 'short',
  size: [12, 8],
  noValue: 'not evaluated',
  series: { '/counted/': { title: 'seen by the rule' }, '/fires_at/': { title: 'limit' } },
  legendValues: ['lastNotNull', 'max'],
});

const SHARES = timeSeriesPanel({
  key: INCIDENT_DASHBOARD.panels.shares,
  title: 'Share that the rule saw, and the expected one',
  description:
    'Of every evaluation: affected orders out of those seen, of a drop the counted ones out of the expected. Expected: what the same hours of other weeks had. A number has no share.',
  sql: `SELECT as_of AS time, share AS seen_share, multiIf(kind = 'drop', 1, seen = 0, NULL, expected / seen) AS expected_share ${EVALUATIONS}`,
  unit: 'percentunit',
  size: [12, 8],
  noValue: 'no orders',
  series: { '/seen_share/': { title: 'share' }, '/expected_share/': { title: 'expected' } },
  legendValues: ['lastNotNull', 'max'],
});

const PAGE = tablePanel({
  key: INCIDENT_DASHBOARD.panels.evaluation,
  title: 'The evaluation',
  description: 'What the page was judged by: the window, its orders, and the limit.',
  sql: `SELECT as_of, window_from, window_to, toFloat64(seen) AS seen, toFloat64(affected) AS affected, number, expected, limit, share, toString(suppressed_by) AS suppressed_by ${EVALUATION} LIMIT 1`,
  unit: 'locale',
  size: [24, 4],
  noValue: '-',
  fields: {
    as_of: time('As of'),
    window_from: time('Window from'),
    window_to: time('Window to'),
    seen: { title: 'Orders seen' },
    affected: { title: 'Affected' },
    number: { title: 'Number' },
    expected: { title: 'Expected' },
    limit: { title: 'Limit' },
    share: { title: 'Share', unit: 'percentunit' },
    suppressed_by: { title: 'Suppressed by' },
  },
});

const COUNT = statPanel({
  key: INCIDENT_DASHBOARD.panels.count,
  title: 'Orders of the page, by label',
  description: 'The number that the page says, as of its evaluation.',
  sql: `SELECT ${NAMED}, toFloat64(count()) AS orders FROM ${ORDERS} GROUP BY hit ORDER BY orders DESC`,
  unit: 'short',
  decimals: 0,
  size: [8, 6],
  noValue: 'none',
  eachRow: true,
});

const AMOUNTS = tablePanel({
  key: INCIDENT_DASHBOARD.panels.amounts,
  title: 'Amount at risk, by currency',
  description:
    'Sum of the amounts of these orders as known now. Orders of which no amount is known are counted apart.',
  sql: `SELECT ifNull(currency, 'unknown') AS in_currency, toString(ifNull(sum(amount), 0)) AS at_risk, count() AS orders, countIf(amount IS NULL) AS without_amount FROM ${ORDERS} GROUP BY in_currency ORDER BY orders DESC LIMIT 50`,
  unit: 'locale',
  decimals: 0,
  size: [8, 6],
  noValue: 'none',
  fields: {
    in_currency: { title: 'Currency', width: 100 },
    at_risk: { title: 'At risk', alignRight: true },
    orders: { title: 'Orders', width: 85 },
    without_amount: { title: 'No amount', width: 105 },
  },
});

/** By dimension and value, with what is known of the dimension's other values. */
const SLICES = `SELECT slice.1 AS dimension, slice.2 AS part, toFloat64(count()) AS orders, toFloat64(countIf(affected = 1)) AS hit,
    sum(orders) OVER (PARTITION BY dimension) - orders AS other_orders, sum(hit) OVER (PARTITION BY dimension) - hit AS other_hit
  FROM (SELECT affected, arrayJoin([${WHERE.map((name) => `('${DIMENSION_TEXT[name]}', toString(${name}))`).join(', ')}]) AS slice FROM ${ofPage(INCIDENT_POPULATION)})
  WHERE slice.2 != ''
  GROUP BY dimension, part`;

/** As `gatewatch explain` decides it, see `standOut`. */
const BEYOND_CHANCE = `other_orders >= ${LEAST_AGAINST} AND hit >= ${LEAST_ORDERS} AND explained >= greatest(${LEAST_ORDERS}, ${LEAST_PART} * (hit + other_hit))
  AND share - rest_share >= ${Z} * sqrt(pooled * (1 - pooled) * (1 / orders + 1 / other_orders))`;

const STANDS_OUT = tablePanel({
  key: INCIDENT_DASHBOARD.panels.slices,
  title: 'What stands out',
  description:
    'Orders that the rule saw, by what they have in common: where more are affected than among the rest, beyond chance, and enough to explain a fifth of it; first those that explain most. Orders of which the value is not known are in neither. "gatewatch explain" compares stages and reasons with the time before as well. A drop has no rows here, since its orders never came.',
  sql: `SELECT dimension, part, hit, orders, share, rest_share, explained FROM (
  SELECT *, hit / orders AS share, other_hit / other_orders AS rest_share, hit - orders * rest_share AS explained, (hit + other_hit) / (orders + other_orders) AS pooled
  FROM (${SLICES})
) WHERE ${BEYOND_CHANCE} ORDER BY explained DESC, dimension, part LIMIT 20`,
  unit: 'locale',
  decimals: 0,
  size: [24, 8],
  noValue: NOTHING_STANDS_OUT,
  fields: {
    dimension: { title: 'Of', width: 200 },
    part: { title: 'Slice' },
    hit: { title: 'Affected' },
    orders: { title: 'Seen' },
    share: { title: 'Share', unit: 'percentunit', decimals: 1 },
    rest_share: { title: 'Share of the rest', unit: 'percentunit', decimals: 1 },
    explained: { title: 'Explains' },
  },
});

const OVER_TIME = timeSeriesPanel({
  key: INCIDENT_DASHBOARD.panels.overTime,
  title: 'Orders of the page, by minute',
  description: 'When they were hit. A wall on the left means that it began before the window.',
  sql: `SELECT toStartOfMinute(toDateTime(affected_at)) AS time, ${NAMED}, toFloat64(count()) AS orders FROM ${ORDERS} GROUP BY time, hit ORDER BY time, hit`,
  unit: 'short',
  decimals: 0,
  size: [8, 6],
  noValue: 'none',
  draw: 'stacked-bars',
  legendValues: ['sum'],
});

const ORDER_LIST = tablePanel({
  key: INCIDENT_DASHBOARD.panels.orders,
  title: 'Orders of the page',
  description:
    'One row an order and label, the newest first: what its newest status reply says of it, and its amount as known now. Next: the timeline of an order, by its id.',
  sql: `SELECT affected_at, external_id, toString(gateway) AS gateway, toString(order_type) AS order_type, label, status, ${AMOUNT} AS amount_text, channel FROM ${ORDERS} ORDER BY affected_at DESC LIMIT 1000`,
  unit: 'none',
  size: [24, 14],
  noValue: 'none',
  fields: {
    affected_at: time('Hit at'),
    external_id: { title: 'Order', width: 320, links: [TO_ORDER] },
    gateway: { title: 'Gateway', width: 120 },
    order_type: { title: 'Type', width: 100 },
    label: { title: 'Label' },
    status: { title: 'Status', noValue: 'not read' },
    amount_text: { title: 'Amount', alignRight: true, noValue: 'not known' },
    channel: { title: 'Channel' },
  },
});

const text = (name: string, label: string, description: string) => ({ name, label, description });

export function incidentDashboard(): Dashboard {
  return houseDashboard({
    uid: INCIDENT_DASHBOARD.uid,
    title: INCIDENT_DASHBOARD.title,
    description:
      'Which orders are behind this page, and what are they worth? Open it from the links of a page: they fill in the rule, the gateway, the label and the evaluation.',
    variables: [
      text('rule', 'Rule', 'Name of the rule.'),
      text('gateway', 'Gateway', 'One gateway.'),
      text(
        'label',
        'Label',
        'Stage, reason, side or state that the page names; empty for rules without one.',
      ),
      text(
        'slice',
        'Slice',
        'Orders that the page is about: order_type=Withdrawal, channel=p2p or currency=BRL; empty for all.',
      ),
      text(
        'as_of',
        'As of',
        'The evaluation: what was known then. UTC, as in 2026-11-25 10:15:00; seconds since 1970 will do.',
      ),
    ],
    rows: [
      {
        key: 'row-evaluations',
        title: 'The rule',
        panels: [SEEN, SHARES],
      },
      {
        key: 'row-incident',
        title: 'The page',
        panels: [PAGE, COUNT, AMOUNTS, OVER_TIME, STANDS_OUT, ORDER_LIST],
      },
    ],
  });
}
