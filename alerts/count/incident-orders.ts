import { sqlText, view } from '../../schemas/measures.ts';
import { DATABASE, INCIDENT_ORDERS } from '../../schemas/names.ts';
import { type CountVariant, orderFacts, type Seconds } from './order-count.ts';
import type { Rule } from '../rules/rule.ts';
import { PAGE_SCOPE } from './scope.ts';
import { lengthsOf } from './windows.ts';

/**
 * How far before the window an order may have had its last item: some rules judge orders some time after it.
 */
const LOOKBACK_SECONDS = 3_600;

/**
 * Text of the parameterized view `incident_orders(rule, gateway, from, to, as_of)`: the orders behind a page,
 * one row per order and label, with the amount at risk. It is built from the same facts as the rules, so its
 * rows are those that the page counts: the affected orders of a share, the counted ones of a drop. Gauges
 * have none, since they count no orders.
 *
 * One scan for each source, whatever the rule: reading the statement costs the engine more than the orders of
 * a window do.
 */
export function incidentOrdersView(rules: readonly Rule[]): string {
  const variants = rules.flatMap((rule): CountVariant[] =>
    rule.kind === 'gauge'
      ? []
      : [
          {
            when: `{rule:String} = ${sqlText(rule.name)}`,
            count: rule.count,
            longestSeconds: Math.max(...lengthsOf(rule)),
          },
        ],
  );
  const bySource = Map.groupBy(variants, ({ count }) => JSON.stringify(count.from));
  const scans = [...bySource.values()].map(([first, ...others]) => {
    if (first === undefined) throw new Error('a source without rules');
    const wanted = `(${[first, ...others].map(({ when }) => when).join(' OR ')})`;
    const scope = {
      ...PAGE_SCOPE,
      within: (time: string, before?: Seconds) => `${wanted} AND ${PAGE_SCOPE.within(time, before)}`,
      reach: (time: string, longest: number, before: number) =>
        `${wanted} AND ${PAGE_SCOPE.reach(time, longest, before)}`,
    };
    return orderFacts([first, ...others], scope);
  });
  const near = (time: string): string => PAGE_SCOPE.within(time, LOOKBACK_SECONDS);
  return `CREATE OR REPLACE VIEW ${INCIDENT_ORDERS} AS
SELECT {rule:String} AS rule, hit.gateway AS gateway, hit.order_type AS order_type, hit.external_id AS external_id, hit.label AS label,
  hit.affected_at AS affected_at, toString(known.status) AS status, known.amount AS amount, toString(known.currency) AS currency, known.channel AS channel
FROM
(
  SELECT gateway, order_type, external_id, fact.1 AS label, assumeNotNull(fact.3) AS affected_at
  FROM
  (
    ${scans.join('\n    UNION ALL\n    ')}
  )
  ARRAY JOIN facts AS fact
  WHERE affected_at >= {from:DateTime64(6, 'UTC')}
) AS hit
LEFT JOIN
(
  SELECT toString(gateway) AS gateway, toString(order_type) AS order_type, external_id, status, amount, currency, channel
  FROM ${view('orders')}
  WHERE gateway = {gateway:String} AND external_id IN
  (
    SELECT external_id FROM ${view('historyEvents')} WHERE ${near('event_time')}
    UNION DISTINCT
    SELECT order_id AS external_id FROM ${view('polls')} WHERE ${near('started_at')}
    UNION DISTINCT
    SELECT assumeNotNull(external_id) AS external_id FROM ${view('callbackArrivals')} WHERE ${near('received_at')} AND external_id IS NOT NULL
  )
) AS known ON known.gateway = hit.gateway AND known.order_type = hit.order_type AND known.external_id = hit.external_id;
`.replaceAll(`${DATABASE}.`, '');
}
