import { FINDING_TIMES, type FindingKind } from '../../schemas/findings.ts';
import { sqlText } from '../../schemas/measures.ts';
import { ARRIVALS, FINDINGS, POLLS } from '../count/tables.ts';
import { evidenceSql } from './finding-rows.ts';
import { ofGateway, oldReach, type SweepScope, VERIFIED, within } from './sweep-scope.ts';

/**
 * Kinds that follow from our own status requests: few requests show one, so the orders are found by
 * those, and by what was found about them before and is still open.
 */
const orders = (kind: FindingKind, scope: SweepScope, condition: string): string =>
  `SELECT order_type, order_id AS external_id FROM ${POLLS} WHERE ${ofGateway(scope)} AND ${within('started_at', scope)} AND id_kind = 'external-id' AND ${condition}
      UNION DISTINCT SELECT order_type, external_id FROM ${FINDINGS} FINAL WHERE ${ofGateway(scope)} AND kind = ${sqlText(kind)} AND resolved_at IS NULL`;

const polls = (kind: FindingKind, scope: SweepScope, condition: string): string =>
  `FROM ${POLLS} WHERE ${ofGateway(scope)} AND started_at >= ${oldReach(scope)} AND id_kind = 'external-id' AND (order_type, order_id) IN (${orders(kind, scope, condition)})
      GROUP BY order_type, order_id`;

/**
 * SELECT of orders whose history has lost an item that an earlier reply had, until a reply has all of them
 * again.
 */
export const rewrittenHistories = (scope: SweepScope): string => {
  const lost = `anomaly = 'history_shrank'`;
  const missing = `concat(toString(first_lost.1), if(first_lost.1 = 1, ' item missing', ' items missing'))`;
  return `SELECT order_type, external_id, 'HISTORY_REWRITTEN' AS kind, '' AS subject, lost_at AS found_at, 'gateway' AS side, first_lost.2 AS expected,
    ${missing} AS received, ${evidenceSql([
      ['reply', 'lost_at', missing],
      ['reply', 'whole_at', `'all items'`],
    ])} AS evidence, arrayMin(arrayFilter(t -> t > last_lost_at, whole)) AS whole_at, whole_at AS resolved_at
    FROM
    (
      SELECT order_type, order_id AS external_id, minIf(started_at, ${lost}) AS lost_at, maxIf(started_at, ${lost}) AS last_lost_at,
        argMinIf((missing_items, missing_item), started_at, ${lost}) AS first_lost, groupArrayIf(started_at, outcome = 'ok' AND NOT ${lost}) AS whole
      ${polls('HISTORY_REWRITTEN', scope, lost)}
    )
    WHERE lost_at > toDateTime64(0, 6, 'UTC')`;
};

/**
 * SELECT of orders that a callback which verifies is about, and that the gateway does not know: never before
 * the first 404 that counts, until it knows them.
 */
export const unknownOrders = (scope: SweepScope): string => {
  const notFound = `outcome = 'not_found'`;
  const asked = orders('CALLBACK_FOR_UNKNOWN_ORDER', scope, notFound);
  return `SELECT order_type, external_id, 'CALLBACK_FOR_UNKNOWN_ORDER' AS kind, '' AS subject,
    arrayMin(arrayFilter(t -> t >= callback_at + INTERVAL ${FINDING_TIMES.unknownOrderSeconds} SECOND, unknown)) AS found_at,
    'gateway' AS side, 'an order' AS expected, '404' AS received, ${evidenceSql([
      ['callback', 'callback_at', 'callback_status'],
      ['reply', 'found_at', `'404'`],
      ['reply', 'resolved_at', `'known'`],
    ])} AS evidence, arrayMin(arrayFilter(t -> t > found_at, known)) AS resolved_at
    FROM
    (
      SELECT order_type, order_id AS external_id, groupArrayIf(started_at, outcome = 'not_found') AS unknown, groupArrayIf(started_at, outcome = 'ok') AS known
      ${polls('CALLBACK_FOR_UNKNOWN_ORDER', scope, notFound)}
    ) AS asked
    INNER JOIN
    (
      SELECT assumeNotNull(external_id) AS external_id, min(received_at) AS callback_at, ifNull(argMin(toString(status), received_at), '') AS callback_status
      FROM ${ARRIVALS}
      WHERE ${ofGateway(scope)} AND ${VERIFIED} AND received_at >= ${oldReach(scope)} AND external_id IN (SELECT external_id FROM (${asked}))
      GROUP BY external_id
    ) AS called USING (external_id)
    WHERE found_at > toDateTime64(0, 6, 'UTC') AND NOT arrayExists(t -> t < found_at, known)`;
};
