import { OUTCOMES, REASON_GROUPS } from '../../schemas/dictionary.ts';
import { APPROVAL, COVERAGE, FRESHNESS, TECHNICAL_SUCCESS, TIME_TO_FINAL } from '../house/thresholds.ts';
import { OUTCOME_COLOURS, REASON_GROUP_COLOURS } from '../house/colours.ts';
import { label, percent, volume } from '../house/fields.ts';
import { linkTo, seriesLabel } from '../house/links.ts';
import { MONEY_MAPPING } from '../house/mappings.ts';
import { statPanel, tablePanel, timeSeriesPanel } from '../house/panels.ts';
import { alertListPanel } from '../house/special-panels.ts';
import * as queries from './queries.ts';

/** Panels about health. Text and looks only: the SQL is in the query modules. */

export const technicalSuccess = statPanel({
  key: 'technical-success',
  title: 'Technical success',
  description:
    'Share of finished orders that did not fail for a technical reason (groups TECH and AUTHZ of the ' +
    'deciding item), and how many finished. ' +
    `Good: ${percent(TECHNICAL_SUCCESS.warnBelowShare)} and more; below ` +
    `${percent(TECHNICAL_SUCCESS.badBelowShare)} is bad. Next: failures by reason group.`,
  sql: queries.TECHNICAL_SUCCESS_SQL,
  unit: 'percentunit',
  decimals: 2,
  size: [6, 5],
  limits: { warnBelow: TECHNICAL_SUCCESS.warnBelowShare, badBelow: TECHNICAL_SUCCESS.badBelowShare },
  fields: {
    technical_success: { title: 'technical success', links: [linkTo('failures', 'What failed, and where')] },
    finished_orders: volume('finished orders'),
  },
});

export const approval = statPanel({
  key: 'approval',
  title: 'Approval',
  description:
    'Share of paid orders among those that somebody judged: paid, or declined by issuer, risk or ' +
    'without a reason (4.1.4.00). Technical failures, business rules and payers who left do not count. ' +
    'Compare it with its own past: levels differ by market. Next: failures by stage and reason.',
  sql: queries.APPROVAL_SQL,
  unit: 'percentunit',
  decimals: 1,
  size: [6, 5],
  limits: { warnBelow: APPROVAL.warnBelowShare, badBelow: APPROVAL.badBelowShare },
  fields: {
    approval: { title: 'approval', links: [linkTo('failures', 'What was declined, and why')] },
    judged_orders: volume('judged orders'),
  },
});

export const coverage = statPanel({
  key: 'coverage',
  title: 'Coverage: orders read lately',
  description:
    'Share of the watched orders whose next status read is not overdue, by the newest report of each ' +
    'collector, and how many are watched. Every other number here rests on these reads. ' +
    `Good: ${percent(COVERAGE.warnBelowShare)} and more; below ${percent(COVERAGE.badBelowShare)} we ` +
    'read too slowly or not at all. Next: the Pipeline dashboard, poll lateness.',
  sql: queries.COVERAGE_SQL,
  unit: 'percentunit',
  decimals: 1,
  size: [6, 5],
  noValue: 'nothing is watched',
  limits: { warnBelow: COVERAGE.warnBelowShare, badBelow: COVERAGE.badBelowShare },
  fields: {
    coverage: {
      title: 'fresh',
      links: [linkTo('pipeline', 'Poll lateness and collectors', {}, ['gateway'])],
    },
    watched_orders: volume('watched orders'),
  },
});

export const watermarkAge = statPanel({
  key: 'watermark-age',
  title: 'Age of what we know, by gateway',
  description:
    "Seconds since each gateway's watermark, the instant up to which our picture of it is complete. It " +
    'grows while the gateway does not answer us: then every number here stands still at that instant. ' +
    `Good: below ${FRESHNESS.warnAboveSeconds} s; above ${FRESHNESS.badAboveSeconds} s we are blind. ` +
    'Next: collectors, then the gateway itself.',
  sql: queries.WATERMARK_AGE_SQL,
  unit: 's',
  decimals: 0,
  size: [6, 5],
  noValue: 'no collector reports',
  limits: { warnAbove: FRESHNESS.warnAboveSeconds, badAbove: FRESHNESS.badAboveSeconds },
  fields: {
    watermark_age: { links: [linkTo('pipeline', 'Freshness over time and collectors', {}, ['gateway'])] },
  },
  eachRow: true,
});

export const firingAlerts = alertListPanel({
  key: 'firing-alerts',
  title: 'Alerts that fire or are about to',
  description:
    'Alert rules of gatewatch in the states firing, pending and error, newest first. Grafana fills ' +
    'this list itself. Good: empty. Next: the runbook that each alert links to.',
  unit: 'locale',
  size: [8, 9],
  noValue: 'no alerts',
});

export const shares = timeSeriesPanel({
  key: 'shares-over-time',
  title: 'Technical success and approval over time',
  description:
    'Both shares by when orders were decided (deciding item: the latest with state SUCCESS or FAILED); ' +
    'bars are the orders behind them. A dip of technical success alone is a fault; one of approval ' +
    'alone is a decision of issuers or risk. ' +
    `Dashed: technical success below ${percent(TECHNICAL_SUCCESS.badBelowShare)} is bad. The last ` +
    'minutes end where we can know. Next: failures by reason group.',
  sql: queries.SHARES_SQL,
  unit: 'percentunit',
  decimals: 1,
  size: [16, 9],
  max: 1,
  limits: { warnBelow: TECHNICAL_SUCCESS.warnBelowShare, badBelow: TECHNICAL_SUCCESS.badBelowShare },
  legendValues: ['min', 'lastNotNull'],
  fields: {
    technical_success: { title: 'technical success', colour: 'green' },
    approval: { title: 'approval', colour: 'blue' },
    finished_orders: { ...volume('finished orders'), volumeBars: true },
  },
});

export const outcomes = timeSeriesPanel({
  key: 'outcomes',
  title: 'Finished orders, by outcome',
  description:
    'Orders by when they were decided and what they came to: the deciding item and its reason group ' +
    '(TECH and AUTHZ: technical failure; BUSINESS; RISK; USER: abandoned; ISSUER; NONE: unspecified). ' +
    'Each order counts once. Good: mostly green. Next: the failures behind a colour.',
  sql: queries.OUTCOMES_SQL,
  unit: 'locale',
  decimals: 0,
  size: [12, 8],
  draw: 'stacked-bars',
  legendValues: ['sum', 'max'],
  series: Object.fromEntries(
    OUTCOMES.map((name) => [
      `/\\b${name}\\b/`,
      { title: name.replaceAll('_', ' '), colour: OUTCOME_COLOURS[name] },
    ]),
  ),
});

export const failuresByGroup = timeSeriesPanel({
  key: 'failures-by-group',
  title: 'Orders with failures, by reason group',
  description:
    'Distinct orders with a failing item (operation failed, C=2, or payment failed, B=4) in each ' +
    'interval, by reason group. An order that fails again later counts there too. TECH and AUTHZ are ' +
    'faults; ISSUER, RISK and USER are decisions of others. Next: click a group for stages, reasons ' +
    'and orders.',
  sql: queries.FAILURES_BY_GROUP_SQL,
  unit: 'locale',
  decimals: 0,
  size: [12, 8],
  draw: 'stacked-bars',
  noValue: 'no failures',
  legendValues: ['sum', 'max'],
  series: Object.fromEntries(
    REASON_GROUPS.map(({ name }) => [
      `/\\b${name}\\b/`,
      {
        title: name,
        colour: REASON_GROUP_COLOURS[name],
        links: [linkTo('failures', 'Failures of this group', { reason_group: seriesLabel('reason_group') })],
      },
    ]),
  ),
});

export const ordersPerMinute = timeSeriesPanel({
  key: 'orders-per-minute',
  title: 'New orders per minute, by gateway',
  description:
    'Orders by the time of their first history item. Zero means that nothing came; a gap at the end ' +
    'means that we cannot know yet. A sudden drop with healthy shares points at the shop or the ' +
    'routing, not at the gateway. Next: the Gateways dashboard.',
  sql: queries.ORDERS_PER_MINUTE_SQL,
  unit: 'opm',
  decimals: 1,
  size: [12, 8],
  series: {
    '/^orders_per_minute/': {
      title: label('gateway'),
      links: [linkTo('gateways', 'This gateway by stage', { gateway: seriesLabel('gateway') })],
    },
  },
});

export const timeToFinal = timeSeriesPanel({
  key: 'time-to-final',
  title: 'Time from first item to final',
  description:
    "Median, 95th and 99th percentile of the time from an order's first history item to its deciding " +
    "one, by when it was decided; bars are the orders behind them. Payers' own time is part of it. " +
    `Unusual above ${TIME_TO_FINAL.warnAboveSeconds / 60} min. Next: which stage holds the orders, on ` +
    'the Gateways dashboard.',
  sql: queries.TIME_TO_FINAL_SQL,
  unit: 's',
  decimals: 1,
  size: [12, 8],
  limits: { warnAbove: TIME_TO_FINAL.warnAboveSeconds, badAbove: TIME_TO_FINAL.badAboveSeconds },
  fields: {
    p50: { colour: 'light-blue' },
    p95: { colour: 'blue' },
    p99: { colour: 'dark-blue' },
    finished_orders: { ...volume('finished orders'), volumeBars: true },
  },
});

export const money = tablePanel({
  key: 'money',
  title: 'Money that something technical came between, by currency',
  description:
    'Orders that came into one of these states in the range, and what they are worth. At risk: undecided after an ' +
    'operation failed for a technical reason, so nobody knows. Delayed: undecided half an hour after it entered ' +
    'processing. Declined: failed for a technical reason. Recovered: paid after such a failure. An amount is exact ' +
    'and of one currency. Good: little at risk, and what failed on the way is recovered. Next: the orders of an alert ' +
    '(gatewatch verify --from-alert), or the view order_money.',
  sql: queries.MONEY_SQL,
  unit: 'locale',
  decimals: 0,
  size: [24, 7],
  noValue: 'nothing technical came between',
  fields: {
    money: { title: 'State', width: 330, mappings: MONEY_MAPPING, cellColour: true },
    currency: { title: 'Currency', noValue: 'not known' },
    orders: { title: 'Orders' },
    amount: { title: 'Amount', noValue: 'not known' },
    without_amount: { title: 'Orders without amount' },
  },
});
