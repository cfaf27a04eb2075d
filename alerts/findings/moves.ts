import { FINDING_TIMES } from '../../schemas/findings.ts';
import { DECIDING, sqlText } from '../../schemas/measures.ts';
import { ITEMS, itemsOfOrders, MOVES } from '../count/tables.ts';
import { evidenceSql } from './finding-rows.ts';
import { instant, ofGateway, oldOrders, reach, type SweepScope, within } from './sweep-scope.ts';

/**
 * The statement that keeps the moves between codes that were never seen at the gateway before. Only orders
 * that were decided long enough before: until then an item may come late and stand between two others.
 */
export const learnMoves = (scope: SweepScope): string => {
  const gateway = ofGateway(scope);
  const decided = `(order_type, external_id) IN (SELECT order_type, external_id FROM ${ITEMS} WHERE ${gateway} AND ${DECIDING} AND ${within('observed_at', scope, FINDING_TIMES.lateItemsSeconds)})`;
  const items = (table: string, where: string): string =>
    `SELECT order_type, external_id, (event_time, list_position, toString(action), observed_at) AS item FROM ${table} WHERE ${gateway} AND code_format = 'v2' AND ${decided} AND ${where}`;
  return `INSERT INTO ${MOVES} (gateway, before, after, order_type, external_id, moved_at, known_at)
SELECT ${sqlText(scope.gateway)}, step.1.3 AS left, step.2.3 AS right, argMin(order_type, (known, external_id)), argMin(external_id, (known, external_id)), argMin(step.2.1, (known, external_id)), min(greatest(step.1.4, step.2.4) AS known)
FROM
(
  SELECT order_type, external_id, arraySort(groupUniqArray(item)) AS items
  FROM
  (
    ${[
      items(ITEMS, `event_time >= ${reach(scope)}`),
      ...(scope.hasOld
        ? [items(itemsOfOrders(`${gateway} AND (order_type, external_id) IN (${oldOrders(scope)})`), '1')]
        : []),
    ].join(' UNION ALL ')}
  )
  GROUP BY order_type, external_id
)
ARRAY JOIN arrayZip(arrayPopBack(items), arrayPopFront(items)) AS step
WHERE (left, right) NOT IN (SELECT before, after FROM ${MOVES} WHERE ${gateway})
GROUP BY left, right`;
};

/** SELECT of the moves that were first seen after the time of learning, of the last day. */
export const firstSeenMoves = (scope: SweepScope): string =>
  `SELECT order_type, external_id, 'FIRST_SEEN_TRANSITION' AS kind, concat(before, ' -> ', after) AS subject, known_at + INTERVAL ${FINDING_TIMES.lateItemsSeconds} SECOND AS found_at,
    'gateway' AS side, 'a move seen before' AS expected, subject AS received, ${evidenceSql([['history', 'moved_at', 'subject']])} AS evidence, toDateTime64(0, 6, 'UTC') AS resolved_at
    FROM ${MOVES} FINAL
    WHERE ${ofGateway(scope)} AND known_at >= ${instant(scope.from)} - INTERVAL 1 DAY
      AND known_at > (SELECT min(known_at) FROM ${MOVES} WHERE ${ofGateway(scope)}) + INTERVAL ${FINDING_TIMES.learningSeconds} SECOND`;
