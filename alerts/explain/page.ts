import { panelId } from '../../dashboards/house/ids.ts';
import { DASHBOARDS } from '../../dashboards/uids.ts';
import { DATABASE, INCIDENT_ORDERS } from '../../schemas/names.ts';
import type { EpochMicros } from '../../schemas/rows.ts';
import { sliceCondition, sliceText, WHOLE } from '../count/slices.ts';
import type { EvaluationNumbers } from '../evaluate/instance.ts';
import { isAskedDirectly, labelOf, type Rule, type Side } from '../rules/rule.ts';
import { incidentUrl, shownRange } from './incident-url.ts';
import { INCIDENT, runbookUrl as runbookUrlOf } from './links.ts';
import { secondText, timesText } from './zoned.ts';

/** Whose side, as a person would say it. */
export const SIDE_TEXT: Readonly<Record<Side, string>> = {
  provider: 'the provider behind the gateway',
  gateway: "the gateway's operator",
  merchant: 'ours (shop, account or settings)',
  issuer: 'the issuers',
  payer: 'the payers and what they see',
  stranger: 'an unknown sender who reaches our intake',
  collector: 'ours (gatewatch itself)',
};

export interface PageLinks {
  /** Base address of Grafana. '' leaves links as they are within Grafana. */
  readonly externalUrl: string;
  /** Folder of runbooks. @default the dashboard of runbooks */
  readonly runbookUrl?: string | undefined;
}

export interface PageSettings extends PageLinks {
  /** The reader's, for times beside UTC. @default 'UTC' */
  readonly timeZone?: string;
}

/**
 * What a page says: what, since when, how bad, whose side, first three steps, and links to the runbook, to a
 * panel and to the orders.
 */
export function pageOf(
  rule: Rule,
  numbers: EvaluationNumbers,
  { externalUrl, runbookUrl, timeZone = 'UTC' }: PageSettings,
): Record<string, string> {
  const link = (path: string): string => `${externalUrl}${path}`;
  // A rule without evaluations of its own is about all of them, which the heartbeat's show.
  const shown = isAskedDirectly(rule) ? 'GatewatchHeartbeat' : rule.name;
  const incident = incidentUrl({ ...numbers, rule: shown }, windowOf(numbers));
  return {
    summary: rule.summary,
    description: `${placeOf(numbers)}${howBad(rule, numbers, timeZone)} ${rule.explanation}`,
    side: SIDE_TEXT[rule.side],
    steps: rule.steps.map((step, index) => `${index + 1}. ${step}`).join('\n'),
    dashboard_url: link(
      rule.panel === undefined ? panelOf(incident, INCIDENT.seen) : overview(rule.panel, numbers),
    ),
    ...(rule.kind === 'gauge' ? {} : { orders_url: link(incident), orders_sql: ordersSql(rule, numbers) }),
    runbook_url: runbookUrl === undefined ? link(runbookUrlOf(rule.name)) : `${runbookUrl}/${rule.name}.md`,
  };
}

/** Some rules are about no gateway. */
const placeOf = ({ gateway, slice, label }: EvaluationNumbers): string => {
  const place = [gateway, sliceText(slice), label].filter((name) => name !== '').join(' ');
  return place === '' ? '' : `${place}: `;
};

function howBad(rule: Rule, numbers: EvaluationNumbers, timeZone: string): string {
  const { seen, affected, expected, limit, share, number } = numbers;
  const window = `between ${timesText([numbers.window_from, numbers.window_to], timeZone, secondText)}`;
  switch (rule.kind) {
    case 'share':
      return (
        `${affected} of ${seen} orders (${percentage(share)}) ${rule.affectedOrders} ${window}. ` +
        `${expected === null ? '' : `About ${whole(expected)} are usual. `}It fires from ${whole(limit)} of ${seen} on.`
      );
    case 'drop':
      return (
        `${seen} orders ${rule.countedOrders} ${window}, when about ${whole(expected)} are usual. ` +
        (limit < 0 ? 'No number of orders is too few.' : `${whole(limit)} or fewer are beyond chance.`)
      );
    case 'gauge':
      return `${whole(number)} ${rule.unit} at ${timesText([numbers.as_of], timeZone, secondText)}. Up to ${whole(limit)} are tolerated.`;
  }
}

const whole = (value: number | null): string => (value === null ? '?' : value.toFixed(0));
/** Four digits that count. */
const percentage = (share: number | null): string =>
  share === null ? '?' : `${Number((share * 100).toPrecision(4))}%`;
/** Exact to the microsecond: the windows of a gateway that has fallen behind end at no whole second. */
const seconds = (at: EpochMicros): string => (at / 1e6).toFixed(6);

const windowOf = ({ as_of, window_from, window_to }: EvaluationNumbers) => ({
  asOf: as_of / 1000,
  windowFrom: window_from / 1000,
  windowTo: window_to / 1000,
});

const panelOf = (dashboard: string, key: string): string =>
  `${dashboard}${dashboard.endsWith('?') ? '' : '&'}viewPanel=panel-${panelId(key)}`;

/** A panel of the overview, over the range that the incident dashboard would show. */
function overview(panel: string, numbers: EvaluationNumbers): string {
  const { from, to } = shownRange(windowOf(numbers));
  const gateway = encodeURIComponent(numbers.gateway);
  return panelOf(`/d/${DASHBOARDS.overview.uid}?from=${from}&to=${to}&var-gateway=${gateway}`, panel);
}

/** The orders of the page, for whoever prefers SQL: its rows are the page's number. */
function ordersSql(
  rule: Rule,
  { gateway, slice, label, window_from, window_to, as_of }: EvaluationNumbers,
): string {
  const orders =
    `SELECT * FROM ${DATABASE}.${INCIDENT_ORDERS}(rule='${rule.name}', gateway='${gateway}', ` +
    `from='${seconds(window_from)}', to='${seconds(window_to)}', as_of='${seconds(as_of)}')`;
  const conditions = [
    ...(labelOf(rule) === null ? [] : [`label = '${label}'`]),
    ...(slice === WHOLE ? [] : [sliceCondition(slice)]),
  ];
  return conditions.length === 0 ? orders : `${orders} WHERE ${conditions.join(' AND ')}`;
}
