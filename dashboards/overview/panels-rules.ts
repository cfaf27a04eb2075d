import { BAD } from '../house/colours.ts';
import { type FieldLook, label, time, volume } from '../house/fields.ts';
import { column, linkTo } from '../house/links.ts';
import { ALERT_STATE_MAPPING, BREACH_MAPPING } from '../house/mappings.ts';
import { tablePanel, timeSeriesPanel } from '../house/panels.ts';
import { FIRING_SQL, RULES_NOW_SQL, type RuleSeries, ruleSharesSql } from './rule-queries.ts';

/**
 * What alert rules saw, as they saw it: nothing is counted here. A rule names its panel by the key.
 */
interface SharePanel {
  readonly key: string;
  readonly title: string;
  readonly what: string;
  readonly series: RuleSeries;
}

function rulesShare({ key, title, what, series }: SharePanel) {
  const name = `${label('gateway')} ${label(series.splitBy)}`;
  return timeSeriesPanel({
    key,
    title,
    description:
      `${what} Each point is an evaluation: the share in the window that the rule chose then, five ` +
      'minutes to three hours long, of all order types and channels. Dashed: the share that would have ' +
      'been an incident there; none where all orders would be too few. Bars: orders seen. Where an ' +
      'interval holds several evaluations, one that found an incident is shown, or else the newest. ' +
      "Next: what the rules saw last, below, and the rule's runbook.",
    sql: ruleSharesSql(series),
    unit: 'percentunit',
    decimals: 1,
    size: [12, 8],
    noValue: NO_EVALUATION,
    legendValues: ['max', 'lastNotNull'],
    series: {
      '/^share\\b/': { title: name },
      '/^rule_limit\\b/': {
        title: `limit ${name}`,
        colour: BAD,
        dashed: true,
        notInLegend: true,
      },
      '/^orders\\b/': { ...volume(`orders ${name}`), volumeBars: true, notInLegend: true },
    },
  });
}

const NO_EVALUATION = 'no evaluation in this range';

export const techTimeouts = rulesShare({
  key: 'tech-timeouts',
  series: { rule: 'GatewatchTechTimeouts', splitBy: 'stage' },
  title: 'Orders with timeouts, share by stage',
  what: 'What GatewatchTechTimeouts saw: orders with reason 11 (TECH.TIMEOUT) at gateway create and at check, out of the orders seen there.',
});
export const authzFailures = rulesShare({
  key: 'authz-failures',
  series: { rule: 'GatewatchAuthzFailures', splitBy: 'stage' },
  title: 'Orders refused access, share by stage',
  what: 'What GatewatchAuthzFailures saw: orders with reason 21 or 22 (401, 403) at gateway create and at check, out of the orders seen there.',
});
export const signatureMismatches = rulesShare({
  key: 'signature-mismatches',
  series: {
    splitBy: 'side',
    rules: {
      GatewatchSignatureMismatches: 'gateway',
      GatewatchCallbackKeyBroken: 'ours, key',
      GatewatchForgedCallbacks: 'ours, forged',
    },
  },
  title: 'Orders with wrong signatures, by side',
  what: 'Side gateway (GatewatchSignatureMismatches): orders with 5.2.2.16 out of those with a provider callback. Side ours: orders named by callbacks to us that do not verify, out of all that callbacks named; "key" is GatewatchCallbackKeyBroken (most fail), "forged" GatewatchForgedCallbacks (some do).',
});

export const slowOrders = rulesShare({
  key: 'slow-orders',
  series: { rule: 'GatewatchSlow', splitBy: 'slower_than' },
  title: 'Slow orders, share by the threshold that is judged',
  what: 'What GatewatchSlow saw: orders that took longer than the threshold from submit (without a form: from the first item) to final, out of those that finished; technical failures and orders that payers left are not among them. The threshold is what at most one order in ten usually exceeds. How long orders take: "Time from first item to final".',
});

/** Of an evaluation. What a rule does not have stays empty. */
const NUMBERS: Readonly<Record<string, FieldLook>> = {
  rule: { title: 'Rule', width: 245 },
  gateway: { title: 'Gateway', width: 105 },
  label: { title: 'Label', width: 150 },
  affected_orders: { title: 'Affected', width: 85, noValue: '-' },
  seen_orders: {
    title: 'Seen',
    width: 70,
    noValue: '-',
    links: [linkTo('failures', 'Failures of this gateway', { gateway: column('gateway') })],
  },
  usual_orders: { title: 'Usual', decimals: 1, width: 75, noValue: '-' },
  found_number: { title: 'Number', width: 85, noValue: '-' },
  rule_limit: { title: 'Limit', width: 75, noValue: '-' },
  evaluation: time('Evaluation'),
};
const WHAT_NUMBERS_ARE =
  'Affected and seen are distinct orders in the window of the rule; of a drop both are the orders that ' +
  'came, and usual is what was expected. Rules about no orders have a number instead. An incident: from ' +
  'the limit on; of a drop, down to it; of a number, above it.';

export const firing = tablePanel({
  key: 'rules-firing',
  title: 'What fires now, and by which numbers',
  description:
    'Alerts that are pending, fire or recover, with the numbers of their newest evaluation; since: when ' +
    `it began to fire, of a pending one when its condition began to hold. ${WHAT_NUMBERS_ARE} Good: ` +
    'empty. As the collector keeps them; silences and mute timings of Grafana are in its own list ' +
    "above. Next: the rule's runbook.",
  sql: FIRING_SQL,
  unit: 'locale',
  decimals: 0,
  size: [24, 7],
  noValue: 'nothing fires',
  fields: {
    state: { title: 'State', width: 90, mappings: ALERT_STATE_MAPPING, cellColour: true },
    severity: { title: 'Severity', width: 80 },
    since: time('Since'),
    ...NUMBERS,
  },
});

export const rulesNow = tablePanel({
  key: 'rules-now',
  title: 'What the rules saw last',
  description:
    'The newest evaluation of each rule, gateway, slice and label, incidents first. Slice: orders of one ' +
    `type, channel or currency, where they stand out; empty: the whole gateway. ${WHAT_NUMBERS_ARE} Held ` +
    'back by: the rule or slice that names the cause, the whole gateway, or the settings. Rules of long ' +
    'windows are evaluated every ten minutes, all others every minute. Good: no incident. Next: the ' +
    'runbook of the rule.',
  sql: RULES_NOW_SQL,
  unit: 'locale',
  decimals: 0,
  size: [24, 10],
  noValue: NO_EVALUATION,
  fields: {
    incident: { title: 'Incident', width: 80, mappings: BREACH_MAPPING, cellColour: true },
    part: { title: 'Share', unit: 'percentunit', decimals: 2, width: 75, noValue: '-' },
    window_seconds: { title: 'Window', unit: 's', width: 80, noValue: '-' },
    suppressed_by: { title: 'Held back by' },
    ...NUMBERS,
  },
});
