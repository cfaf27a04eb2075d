import { errorBudget, OBJECTIVES } from '../../schemas/limits.ts';
import { ratio, sqlText, view } from '../../schemas/measures.ts';
import type { AlertRuleName } from '../../schemas/names.ts';
import { CHOSEN_GATEWAY, END } from '../house/filters.ts';

/** SQL of the objectives: what is left of their error budgets over thirty days, and how fast it goes. */

const MONTH = `${END} - INTERVAL ${OBJECTIVES.days} DAY`;

/** What is left, 0..1, of the budget of an objective; below zero where it is missed. NULL without orders. */
const budgetLeft = (missed: string, all: string, objective: number): string =>
  `if(${all} = 0, NULL, 1 - ${missed} / ${all} / ${errorBudget(objective)})`;

const FAILED = `outcome = 'technical_failure'`;

/** Error budgets that the orders of the last hours spent for each that they had. */
function burn(hours: number): string {
  const within = `final_at >= ${END} - INTERVAL ${hours} HOUR`;
  return ratio(
    `countIf(${FAILED} AND ${within})`,
    `(${errorBudget(OBJECTIVES.technicalSuccess)} * countIf(${within}))`,
  );
}

/**
 * gateway, budget_left 0..1 of the technical success objective, failed_orders and finished_orders over thirty
 * days, and burn rates of the last 1, 6, 24 and 72 hours.
 */
export const TECHNICAL_OBJECTIVE_SQL = `SELECT gateway, ${budgetLeft('failed_orders', 'finished_orders', OBJECTIVES.technicalSuccess)} AS budget_left, failed_orders, finished_orders,
  burn_1h, burn_6h, burn_24h, burn_72h
FROM
(
  SELECT toString(gateway) AS gateway, countIf(${FAILED}) AS failed_orders, count() AS finished_orders,
    ${burn(1)} AS burn_1h, ${burn(6)} AS burn_6h, ${burn(24)} AS burn_24h, ${burn(72)} AS burn_72h
  FROM ${view('orders')}
  WHERE final_at >= ${MONTH} AND final_at < ${END} AND ${END} >= $__fromTime AND ${CHOSEN_GATEWAY}
  GROUP BY gateway
)
ORDER BY gateway
LIMIT 200`;

const CALLBACK_RULE = sqlText('GatewatchMerchantCallbackMissing' satisfies AlertRuleName);
/** Gateways and states whose callbacks the configuration says are sent. */
const SENT = `SELECT toString(gateway), substring(setting, length('enabled/') + 1) FROM ${view('alertSettings')} WHERE rule = ${CALLBACK_RULE} AND startsWith(setting, 'enabled/') AND value != 0`;
/** Seconds of a row's window, which is some quarters of an hour long. */
const LENGTH = `greatest(900, intDiv(dateDiff('second', window_from, window_to) + 450, 900) * 900)`;

/**
 * gateway, state, delivered_share 0..1, budget_left 0..1, missing_orders, finished_orders over thirty days,
 * of what GatewatchMerchantCallbackMissing saw. Windows follow one another, since only those count that end
 * at a multiple of their length; the window of a gateway that cannot be read stands still and counts once.
 */
export const CALLBACK_OBJECTIVE_SQL = `SELECT gateway, state, if(finished_orders = 0, NULL, 1 - missing_orders / finished_orders) AS delivered_share,
  ${budgetLeft('missing_orders', 'finished_orders', OBJECTIVES.merchantCallbacks)} AS budget_left, missing_orders, finished_orders
FROM
(
  SELECT gateway, state, sum(counted.1) AS missing_orders, sum(counted.2) AS finished_orders
  FROM
  (
    SELECT toString(gateway) AS gateway, toString(label) AS state, argMin(tuple(affected, seen), as_of) AS counted
    FROM ${view('alertEvaluations')}
    WHERE rule = ${CALLBACK_RULE} AND slice = '' AND as_of >= ${MONTH} AND as_of <= ${END} AND ${END} >= $__fromTime AND toUnixTimestamp(as_of) % ${LENGTH} = 0 AND ${CHOSEN_GATEWAY}
      AND (toString(gateway), toString(label)) IN (${SENT})
    GROUP BY gateway, state, window_to
  )
  GROUP BY gateway, state
)
ORDER BY gateway, state
LIMIT 200`;
