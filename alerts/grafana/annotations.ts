import { panelId } from '../../dashboards/house/ids.ts';
import { DASHBOARDS } from '../../dashboards/uids.ts';
import { DATABASE, INCIDENT_ORDERS } from '../../schemas/names.ts';
import { SIDE_TEXT } from '../explain/page.ts';
import { labelOf, type Rule } from '../rules/rule.ts';
import { INCIDENT_DASHBOARD } from './incident-dashboard.ts';

const number = (refId: string): string => `{{ printf "%.0f" .Values.${refId}.Value }}`;
const time = (refId: string): string => `{{ humanizeTimestamp .Values.${refId}.Value }}`;
/** Exact to the microsecond: the windows of a gateway that has fallen behind end at no whole second. */
const instant = (refId: string): string => `{{ printf "%.6f" .Values.${refId}.Value }}`;
const quoted = (label: string): string => `{{ .Labels.${label} | urlquery }}`;

/**
 * What a page says: what, since when, how bad, whose side, first three steps, and links to the runbook (laid
 * over all rules later), to a panel and to the orders. Never a dollar sign: file provisioning would take it
 * for the environment's.
 */
export function annotations(rule: Rule): Record<string, string> {
  const panel = rule.panel ?? INCIDENT_DASHBOARD.panels.overTime;
  const board = rule.panel === undefined ? INCIDENT_DASHBOARD.uid : DASHBOARDS.overview.uid;
  return {
    summary: rule.summary,
    description: `${where(rule)}: ${howBad(rule)} ${rule.explanation}`,
    side: SIDE_TEXT[rule.side],
    steps: rule.steps.map((step, index) => `${index + 1}. ${step}`).join('\n'),
    dashboard_url: `/d/${board}?${range(rule)}&var-gateway=${quoted('gateway')}${rule.panel === undefined ? `&${incident(rule)}` : ''}&viewPanel=panel-${panelId(panel)}`,
    ...(rule.kind === 'gauge'
      ? {}
      : {
          orders_url: `/d/${INCIDENT_DASHBOARD.uid}?${range(rule)}&var-gateway=${quoted('gateway')}&${incident(rule)}`,
          orders_sql: ordersSql(rule),
        }),
    __dashboardUid__: board,
    __panelId__: String(panelId(panel)),
  };
}

function where(rule: Rule): string {
  const label = labelOf(rule);
  return `{{ .Labels.gateway }}${label === null ? '' : ` {{ .Labels.${label} }}`}`;
}

function howBad(rule: Rule): string {
  switch (rule.kind) {
    case 'share':
      return (
        `${number('affected')} of ${number('seen')} orders ({{ humanizePercentage .Values.share.Value }}) ${rule.affectedOrders} ` +
        `between ${time('window_from')} and ${time('window_to')}. Fewer than ${number('limit')} of ${number('seen')} would still be usual.`
      );
    case 'drop':
      return (
        `${number('seen')} orders ${rule.countedOrders} between ${time('window_from')} and ${time('window_to')}, ` +
        `when about ${number('expected')} are usual. ${number('limit')} or fewer are beyond chance.`
      );
    case 'gauge':
      return `${number('number')} ${rule.unit} at ${time('as_of')}. Up to ${number('limit')} are tolerated.`;
  }
}

/** The dashboard's time range: the window with as much again before it, so that the change can be seen. */
const range = (rule: Rule): string =>
  rule.kind === 'gauge'
    ? 'from=now-3h&to=now'
    : `from=${number('window_from')}000&to=${number('window_to')}000`;

/** Variables of the incident dashboard. */
const incident = (rule: Rule): string =>
  rule.kind === 'gauge'
    ? `var-rule=${rule.name}`
    : `var-rule=${rule.name}${labelOf(rule) === null ? '' : `&var-label=${quoted(labelOf(rule) ?? '')}`}&var-window_from=${instant('window_from')}&var-window_to=${instant('window_to')}&var-as_of=${instant('as_of')}`;

/** The orders of the page, for whoever prefers SQL: its rows are the page's number. */
const ordersSql = (rule: Rule): string =>
  `SELECT * FROM ${DATABASE}.${INCIDENT_ORDERS}(rule='${rule.name}', gateway='{{ .Labels.gateway }}', ` +
  `from='${instant('window_from')}', to='${instant('window_to')}', as_of='${instant('as_of')}')` +
  (labelOf(rule) === null ? '' : ` WHERE label = '{{ .Labels.${labelOf(rule)} }}'`);
