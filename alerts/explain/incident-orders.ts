import { sqlText } from '../../schemas/measures.ts';
import { incidentOrders } from '../count/incident-orders.ts';
import { atPage } from '../count/scope.ts';
import { sliceCondition } from '../count/slices.ts';
import type { EvaluationNumbers } from '../evaluate/instance.ts';
import type { Rule } from '../rules/rule.ts';
import type { CountedOrder } from './counted-order.ts';

/**
 * The affected orders of an evaluation, the newest first: the rows of `incident_orders`, which the page
 * counts. A drop has none, since its orders never came, nor has a gauge: null.
 *
 * @param sinceMs milliseconds since 1970: those affected since then as well. @default the window's begin
 */
export async function readIncidentOrders(
  query: <T>(sql: string) => Promise<T[]>,
  rule: Rule,
  numbers: EvaluationNumbers,
  sinceMs: number = Infinity,
): Promise<CountedOrder[] | null> {
  if (rule.kind !== 'share') return null;
  const { gateway, slice, label, window_from, window_to: to, as_of: asOf } = numbers;
  const from = Math.min(window_from, sinceMs * 1000);
  const orders = atPage(incidentOrders([rule]), { rule: rule.name, gateway, from, to, asOf });
  return query<CountedOrder>(
    `SELECT toString(o.gateway) AS gateway, toString(o.order_type) AS orderType, o.external_id AS externalId
FROM (${orders}) AS o WHERE o.label = ${sqlText(label)} AND ${sliceCondition(slice)}
GROUP BY gateway, orderType, externalId ORDER BY max(o.affected_at) DESC, externalId`,
  );
}
