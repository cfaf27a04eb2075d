import { FORM_EXITS, FORM_STEPS } from '../../schemas/payform.ts';
import { CONFIRM_FAILURES, FORM_SUBMITTED } from '../house/thresholds.ts';
import { percent, time, volume } from '../house/fields.ts';
import { linkTo, TO_ORDER } from '../house/links.ts';
import { statPanel, tablePanel, timeSeriesPanel } from '../house/panels.ts';
import { barPanel } from '../house/special-panels.ts';
import * as queries from './queries.ts';

const SUBMIT_LIMITS = { warnBelow: FORM_SUBMITTED.warnBelowShare, badBelow: FORM_SUBMITTED.badBelowShare };

export const submitted = statPanel({
  key: 'form-submitted',
  title: 'Payers who submitted the form',
  description:
    'Share of the orders on the payment form that were submitted (3.1.1.55, or a later step), and how ' +
    `many were on the form. Good: ${percent(FORM_SUBMITTED.warnBelowShare)} and more; below ` +
    `${percent(FORM_SUBMITTED.badBelowShare)} something keeps payers from paying. Next: the step of ` +
    'the funnel where they stop.',
  sql: queries.SUBMITTED_SQL,
  unit: 'percentunit',
  decimals: 1,
  size: [8, 5],
  noValue: 'nobody on the form',
  limits: SUBMIT_LIMITS,
  fields: { submitted_share: { title: 'submitted' }, form_orders: volume('orders on the form') },
});

export const cancelled = statPanel({
  key: 'form-cancelled',
  title: 'Payers who cancelled',
  description:
    'Share of the orders on the payment form that the payer cancelled (3.0.4.54), and how many were on ' +
    'the form. Compare it with its own past: shops differ. A jump points at the page: price, language, ' +
    'methods on offer. Next: the orders below.',
  sql: queries.CANCELLED_SQL,
  unit: 'percentunit',
  decimals: 1,
  size: [8, 5],
  noValue: 'nobody on the form',
  fields: { cancelled_share: { title: 'cancelled' }, form_orders: volume('orders on the form') },
});

export const confirmFailures = statPanel({
  key: 'confirm-failures',
  title: 'Payers who failed the confirmation',
  description:
    'Share of the submitted orders that failed 3-D Secure (3.2.4.56) or the one-time password ' +
    '(3.2.4.57), and how many were submitted. Unusual above ' +
    `${percent(CONFIRM_FAILURES.warnAboveShare)}, bad above ` +
    `${percent(CONFIRM_FAILURES.badAboveShare)}: then an issuer's confirmation page is broken rather ` +
    'than its payers. Next: exits over time.',
  sql: queries.CONFIRM_FAILURES_SQL,
  unit: 'percentunit',
  decimals: 1,
  size: [8, 5],
  noValue: 'nothing submitted',
  limits: { warnAbove: CONFIRM_FAILURES.warnAboveShare, badAbove: CONFIRM_FAILURES.badAboveShare },
  fields: {
    confirm_failure_share: {
      title: 'failed the confirmation',
      links: [linkTo('failures', 'These failures', { stage: 'PAYFORM', reason_group: 'USER' })],
    },
    submitted_orders: volume('submitted orders'),
  },
});

export const funnel = barPanel({
  key: 'form-funnel',
  title: 'Orders on the payment form, by step reached',
  description: `Distinct orders that reached each step: ${FORM_STEPS.map(({ step, codes }) => `${step} (${codes})`).join(', ')}. An order counts for every step up to the last one it reached, for not every flow emits every code. Good: small losses from bar to bar. Next: the exits at the step that loses most.`,
  sql: queries.FUNNEL_SQL,
  unit: 'locale',
  decimals: 0,
  size: [12, 9],
  noValue: 'nobody on the form',
  fields: { orders: { colour: 'blue' } },
});

export const exits = timeSeriesPanel({
  key: 'form-exits',
  title: 'Orders whose payer left, cancelled or failed, by what happened',
  description: `Distinct orders on the form by when they were first there: ${FORM_EXITS.map(({ code, label }) => `${label} (${code})`).join(', ')}. An order with two of them counts in both; leaving can be followed by coming back. Good: steady. Next: the orders below.`,
  sql: queries.EXITS_SQL,
  unit: 'locale',
  decimals: 0,
  size: [12, 9],
  draw: 'stacked-bars',
  noValue: 'nobody left',
  legendValues: ['sum', 'max'],
  series: {
    '/left the form/': { title: 'left the form', colour: 'light-blue' },
    '/cancelled/': { title: 'cancelled', colour: 'blue' },
    '/3-D Secure failed/': { title: '3-D Secure failed', colour: 'red' },
    '/one-time password failed/': { title: 'one-time password failed', colour: 'orange' },
    '/left at confirmation/': { title: 'left at confirmation', colour: 'purple' },
  },
});

export const submittedOverTime = timeSeriesPanel({
  key: 'form-submitted-over-time',
  title: 'Payers who submitted the form, over time',
  description:
    'Share of the orders on the form that were submitted by now, by when they were first there, of those ' +
    'that were submitted, left, or have been there for half an hour: who may still be typing is in the ' +
    `bars alone. Below ${percent(FORM_SUBMITTED.badBelowShare)} is bad (dashed). Next: exits in the same ` +
    'minutes.',
  sql: queries.SUBMITTED_OVER_TIME_SQL,
  unit: 'percentunit',
  decimals: 1,
  size: [12, 8],
  max: 1,
  limits: SUBMIT_LIMITS,
  noValue: 'nobody on the form',
  legendValues: ['min', 'lastNotNull'],
  fields: {
    submitted_share: { title: 'submitted', colour: 'green' },
    form_orders: { ...volume('orders on the form'), volumeBars: true },
  },
});

export const timeOnForm = timeSeriesPanel({
  key: 'time-on-form',
  title: 'Time from the form to the click on submit',
  description:
    "Median and 95th percentile of the time from an order's first item of the form to the click on " +
    "submit (3.1.1.55), by when it was first there; bars are the submitted orders. It is payers' own " +
    'time: a jump means a slow or confusing page. Next: whether fewer submit.',
  sql: queries.TIME_ON_FORM_SQL,
  unit: 's',
  decimals: 0,
  size: [12, 8],
  noValue: 'nothing submitted',
  fields: {
    p50: { colour: 'light-blue' },
    p95: { colour: 'blue' },
    submitted_orders: { ...volume('submitted orders'), volumeBars: true },
  },
});

export const exitedOrders = tablePanel({
  key: 'exited-orders',
  title: 'Orders whose payer left, cancelled or failed',
  description:
    'The newest 100 orders on the form with one of these: left, cancelled, failed 3-D Secure or the ' +
    'one-time password, left at the confirmation; with the last step reached. Good: an even mix. Next: ' +
    'click an order for its timeline.',
  sql: queries.EXITED_ORDERS_SQL,
  unit: 'locale',
  size: [24, 10],
  noValue: 'nobody left',
  fields: {
    on_form_at: time('On the form'),
    order_id: { title: 'Order', width: 310, links: [TO_ORDER] },
    gateway: { title: 'Gateway', width: 120 },
    order_type: { title: 'Type', width: 100 },
    last_step: { title: 'Last step', width: 130 },
    what_happened: { title: 'What happened' },
  },
});
