import { panelId } from '../../dashboards/house/ids.ts';
import { DASHBOARDS } from '../../dashboards/uids.ts';
import { view } from '../../schemas/measures.ts';
import { DATABASE, INCIDENT_ORDERS } from '../../schemas/names.ts';
import { inSlice } from '../count/slices.ts';
import { hasSlices } from '../count/usual.ts';
import { SIDE_TEXT } from '../explain/page.ts';
import { isAskedDirectly, isHeartbeat, labelOf, type Rule } from '../rules/rule.ts';
import { INCIDENT_DASHBOARD } from './incident-dashboard.ts';

const number = (refId: string): string => `{{ printf "%.0f" .Values.${refId}.Value }}`;
const time = (refId: string): string => `{{ humanizeTimestamp .Values.${refId}.Value }}`;
const quoted = (label: string): string => `{{ .Labels.${label} | urlquery }}`;

/**
 * What a page says: what, since when, how bad, whose side, first three steps, and links to the runbook (laid
 * over all rules later), to a panel and to the orders. Never a dollar sign: file provisioning would take it
 * for the environment's.
 */
export function annotations(rule: Rule): Record<string, string> {
  const panel = rule.panel ?? INCIDENT_DASHBOARD.panels.seen;
  const board = rule.panel === undefined ? INCIDENT_DASHBOARD.uid : DASHBOARDS.overview.uid;
  const variables = rule.panel === undefined ? incident(rule) : `var-gateway=${quoted('gateway')}`;
  return {
    summary: rule.summary,
    description: `${where(rule)}${howBad(rule)} ${rule.explanation}`,
    side: SIDE_TEXT[rule.side],
    steps: rule.steps.map((step, index) => `${index + 1}. ${step}`).join('\n'),
    dashboard_url: `/d/${board}?${range(rule)}&${variables}&viewPanel=panel-${panelId(panel)}`,
    ...(rule.kind === 'gauge'
      ? {}
      : {
          orders_url: `/d/${INCIDENT_DASHBOARD.uid}?${range(rule)}&${incident(rule)}`,
          orders_sql: ordersSql(rule),
        }),
    __dashboardUid__: board,
    __panelId__: String(panelId(panel)),
  };
}

/** The gateway, unless the rule is about all of them. */
function where(rule: Rule): string {
  if (isAskedDirectly(rule) || isHeartbeat(rule)) return '';
  const label = labelOf(rule);
  const slice = hasSlices(rule) ? '{{ if .Labels.slice }} {{ .Labels.slice }}{{ end }}' : '';
  return `{{ .Labels.gateway }}${slice}${label === null ? '' : ` {{ .Labels.${label} }}`}: `;
}

/** Grafana does not know the window. It ends at the evaluation; while the gateway is blind, before it. */
function howBad(rule: Rule): string {
  if (isHeartbeat(rule)) return `Last evaluated: ${time('as_of')}.`;
  if (isAskedDirectly(rule)) return `${number('number')} ${rule.unit}. Up to ${rule.above} are tolerated.`;
  switch (rule.kind) {
    case 'share':
      return (
        `${number('affected')} of ${number('seen')} orders ({{ humanizePercentage .Values.share.Value }}) ${rule.affectedOrders}, ` +
        `in the window before ${time('as_of')}. It fires from ${number('limit')} of ${number('seen')} on.`
      );
    case 'drop':
      return (
        `${number('counted')} orders ${rule.countedOrders} in the window before ${time('as_of')}, ` +
        `when about ${number('expected')} are usual. ${number('limit')} or fewer are beyond chance.`
      );
    case 'gauge':
      return `${number('number')} ${rule.unit} at ${time('as_of')}. Up to ${number('limit')} are tolerated.`;
  }
}

/** The dashboard's time range: up to the evaluation, and so much before it that the change can be seen. */
const range = (rule: Rule): string =>
  isAskedDirectly(rule) ? 'from=now-6h&to=now' : `from=${number('link_from')}000&to=${number('as_of')}000`;

/** Variables of the incident dashboard: the identity of the evaluation. */
function incident(rule: Rule): string {
  // It has no evaluations of its own: the heartbeat's show when they stopped.
  if (isAskedDirectly(rule)) return 'var-rule=GatewatchHeartbeat';
  const label = labelOf(rule);
  return (
    `var-rule=${rule.name}&var-gateway=${quoted('gateway')}` +
    `${label === null ? '' : `&var-label=${quoted(label)}`}${hasSlices(rule) ? `&var-slice=${quoted('slice')}` : ''}&var-as_of=${number('as_of')}`
  );
}

/**
 * The orders of the page, for whoever prefers SQL: its rows are the page's number. The window is that of the
 * evaluation.
 */
function ordersSql(rule: Rule): string {
  const label = labelOf(rule);
  const hit = label === null ? "label = ''" : `label = '{{ .Labels.${label} }}'`;
  const slice = `'{{ .Labels.slice }}'`;
  const [ofSlice, inTheSlice] = hasSlices(rule)
    ? [` AND slice = ${slice}`, ` AND ${inSlice(slice)}`]
    : ['', ''];
  const gateway = `'{{ .Labels.gateway }}'`;
  return (
    `WITH evaluation AS (SELECT window_from, window_to FROM ${view('alertEvaluations')} ` +
    `WHERE rule = '${rule.name}' AND gateway = ${gateway} AND ${hit}${ofSlice} AND as_of = ${number('as_of')}) ` +
    `SELECT * FROM ${DATABASE}.${INCIDENT_ORDERS}(rule = '${rule.name}', gateway = ${gateway}, ` +
    `from = (SELECT window_from FROM evaluation), to = (SELECT window_to FROM evaluation), ` +
    `as_of = '${number('as_of')}') WHERE ${hit}${inTheSlice}`
  );
}
