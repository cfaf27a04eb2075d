import { BURN_RATES, errorBudget, MERCHANT_CALLBACK, OBJECTIVES } from '../../schemas/limits.ts';
import { type FieldLook, percent } from '../house/fields.ts';
import { column, linkTo } from '../house/links.ts';
import { tablePanel } from '../house/panels.ts';
import { ERROR_BUDGET } from '../house/thresholds.ts';
import { CALLBACK_OBJECTIVE_SQL, TECHNICAL_OBJECTIVE_SQL } from './objective-queries.ts';

/** Will the month meet its objectives? Thirty days up to the end of the range, whatever its begin. */

const BUDGET: FieldLook = {
  title: 'Budget left',
  unit: 'percentunit',
  decimals: 1,
  limits: { warnBelow: ERROR_BUDGET.warnBelowShare, badBelow: ERROR_BUDGET.badBelowShare },
  cellColour: true,
  noValue: '-',
};
const rate = (title: string, badAbove: number): FieldLook => ({
  title,
  decimals: 1,
  width: 70,
  limits: badAbove > 1 ? { warnAbove: 1, badAbove } : { badAbove },
  cellColour: true,
  noValue: '-',
});
const factors = Object.values(BURN_RATES).map(({ factor }) => factor);

export const technicalObjective = tablePanel({
  key: 'objective-technical-success',
  title: 'Technical success: error budget and burn rates',
  description:
    `Objective: ${percent(OBJECTIVES.technicalSuccess)} of finished orders without a technical failure ` +
    `over ${OBJECTIVES.days} days. Budget left: 1 - failed / finished / ` +
    `${percent(errorBudget(OBJECTIVES.technicalSuccess))}; below zero it is missed. Failed: orders whose ` +
    'deciding item has a reason of group TECH or AUTHZ, out of all that were decided, all order types and ' +
    'channels. Burn rates: how many times too fast the last 1, 6, 24 and 72 hours spent it; the rules for ' +
    `technical burn look at the second, and fire from ${factors.join(', ')} on, beyond chance. Next: ` +
    'failures by reason group.',
  sql: TECHNICAL_OBJECTIVE_SQL,
  unit: 'locale',
  decimals: 0,
  size: [12, 7],
  fields: {
    gateway: { title: 'Gateway' },
    budget_left: BUDGET,
    failed_orders: {
      title: 'Failed',
      width: 90,
      links: [linkTo('failures', 'Failures of this gateway', { gateway: column('gateway') })],
    },
    finished_orders: { title: 'Finished', width: 95 },
    burn_1h: rate('1 h', BURN_RATES.hour.factor),
    burn_6h: rate('6 h', BURN_RATES.sixHours.factor),
    burn_24h: rate('24 h', BURN_RATES.day.factor),
    burn_72h: rate('72 h', BURN_RATES.threeDays.factor),
  },
});

export const callbackObjective = tablePanel({
  key: 'objective-merchant-callbacks',
  title: 'Merchant callbacks: delivered in time, and error budget',
  description:
    `Objective: ${percent(OBJECTIVES.merchantCallbacks)} of finished orders with an item of the merchant ` +
    `callback (stage 6) within ${MERCHANT_CALLBACK.withinSeconds / 60} minutes after their decision, ` +
    `over ${OBJECTIVES.days} days, by the state that they came to. Summed over what ` +
    'GatewatchMerchantCallbackMissing saw in windows that follow one another; around a change of its ' +
    'window (a quarter of an hour, an hour or three) orders may count twice or not at all, and what was ' +
    'not evaluated is missing. Only callback types that the configuration of the gateway names ' +
    '(callbackTypes). Next: stage 6 on the Gateways dashboard.',
  sql: CALLBACK_OBJECTIVE_SQL,
  unit: 'locale',
  decimals: 0,
  size: [12, 7],
  noValue: 'no evaluation, or no callback type configured',
  fields: {
    gateway: {
      title: 'Gateway',
      links: [linkTo('gateways', 'Stages of this gateway', { gateway: column('gateway') })],
    },
    state: { title: 'State', width: 90 },
    delivered_share: { title: 'In time', unit: 'percentunit', decimals: 2, width: 85, noValue: '-' },
    budget_left: BUDGET,
    missing_orders: { title: 'Missing', width: 85 },
    finished_orders: { title: 'Finished', width: 95 },
  },
});
