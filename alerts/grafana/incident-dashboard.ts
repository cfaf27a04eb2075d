import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { houseDashboard } from '../../dashboards/house/dashboard.ts';
import { time } from '../../dashboards/house/fields.ts';
import { column, linkTo, THIS_VALUE } from '../../dashboards/house/links.ts';
import { DATABASE, INCIDENT_ORDERS } from '../../schemas/names.ts';
import { INCIDENT } from '../explain/links.ts';
import { statPanel, tablePanel, timeSeriesPanel } from '../../dashboards/house/panels.ts';

/**
 * The orders behind the number of one page, and their amounts. Opened from the page's links.
 */
export const INCIDENT_DASHBOARD = {
  uid: INCIDENT.uid,
  title: 'Incident',
  /** Keys of its panels. */
  panels: {
    overTime: INCIDENT.overTime,
    count: 'incident-count',
    amounts: 'incident-amounts',
    orders: 'incident-orders',
  },
} as const;

const value = (name: string): string => `\${${name}:singlequote}`;
/** Without values of the variables, as when it is opened by hand, the view gives no row. */
const ORDERS =
  `${DATABASE}.${INCIDENT_ORDERS}(rule=concat(${value('rule')}, ''), gateway=concat(${value('gateway')}, ''), ` +
  `from=toDateTime64OrZero(concat(${value('window_from')}, ''), 6, 'UTC'), to=toDateTime64OrZero(concat(${value('window_to')}, ''), 6, 'UTC'), as_of=toDateTime64OrZero(concat(${value('as_of')}, ''), 6, 'UTC')) ` +
  `WHERE $__conditionalAll(label = ${value('label')}, $label)`;
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
      'Which orders are behind this page, and what are they worth? Open it from the links of a page: they fill in the rule, the gateway and the three instants.',
    variables: [
      text('rule', 'Rule', 'Name of the rule.'),
      text('gateway', 'Gateway', 'One gateway.'),
      text('label', 'Label', 'Stage, reason, side or state that the page names; empty: all.'),
      text('window_from', 'Window from', 'Seconds since 1970, UTC.'),
      text('window_to', 'Window to', 'Seconds since 1970, UTC.'),
      text('as_of', 'As of', 'The evaluation: what was known then. Seconds since 1970, UTC.'),
    ],
    rows: [
      {
        key: 'row-incident',
        title: 'The page',
        panels: [COUNT, AMOUNTS, OVER_TIME, ORDER_LIST],
      },
    ],
  });
}
