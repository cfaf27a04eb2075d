import { outcomeName, stageName } from '../../schemas/measures.ts';
import { ARRIVALS, CLAIMS, COUNTS } from '../count/tables.ts';
import {
  type CountScope,
  hasOld,
  instant,
  oldIds,
  oldOrders,
  oldReach,
  ORDER,
  reach,
  touchedIds,
  touchedItems,
  touchedOrders,
} from './count-scope.ts';

/**
 * The statement that counts what the orders of the scope have come to and was not counted of them:
 *
 * - `started`: the order is known
 * - `stage` (stage): it came there; with the time from the item before
 * - `failure` (stage, reason code): an item of that stage and reason failed
 * - `outcome` (outcome): it is decided; with the time from its first item
 * - `amount` (outcome, currency): its amount, as the reply with the decision names it
 * - `change` (outcome before, outcome now): it is decided otherwise than was counted last
 *
 * It can be repeated at any time: what was counted of an order is looked up in the same statement.
 */
export function countOrders(scope: CountScope): string {
  return `INSERT INTO ${COUNTS} (about, counted_at, gateway, order_type, id, kind, subject, first_label, second_label, micros, amount)
SELECT 'order', ${instant(scope.now)}, gateway, order_type, id, fact.1 AS kind, fact.2, fact.3, fact.4, fact.5, if(kind = 'amount', amount, NULL)
FROM
(
  SELECT gateway, order_type, id, amount, ${FACTS} AS facts
  FROM
  (
    ${touchedItems(scope)}
  ) AS known
  LEFT JOIN
  (
    ${counted(scope)}
  ) AS counted USING (id)
  LEFT JOIN
  (
    ${amounts(scope)}
  ) AS known_amount USING (${ORDER})
)
ARRAY JOIN arrayFilter(one -> one.1 != '', facts) AS fact`;
}

const NO_TIME = `CAST(NULL, 'Nullable(Int64)')`;
const fact = (kind: string, subject: string, first: string, second: string, micros = NO_TIME): string =>
  `(${kind}, ${subject}, ${first}, ${second}, CAST(${micros}, 'Nullable(Int64)'))`;
const NEW = `NOT has(counted_facts, (one.1, one.2))`;

const TIMES = 'items.1';
const STAGE_CODES = 'items.4';
const DECIDED = `arrayLastIndex(place -> place > 0, items.7)`;
const OUTCOME = outcomeName(`items[${DECIDED}].7`);

const STAGE_FACTS = `arrayMap(code -> ${fact(
  `'stage'`,
  stageName('code'),
  stageName('code'),
  `''`,
  `if(indexOf(${STAGE_CODES}, code) = 1, NULL, ${TIMES}[indexOf(${STAGE_CODES}, code)] - ${TIMES}[indexOf(${STAGE_CODES}, code) - 1])`,
)}, arrayFilter(code -> code > 0, arrayDistinct(${STAGE_CODES})))`;
const FAILURE_FACTS = `arrayMap(item -> ${fact(
  `'failure'`,
  `concat(${stageName('item.1')}, ' ', toString(item.2))`,
  stageName('item.1'),
  `toString(item.2)`,
)}, arrayDistinct(arrayMap(item -> (item.4, item.5), arrayFilter(item -> item.6 = 1 AND item.4 > 0, items))))`;
const OUTCOME_FACTS = `if(${DECIDED} = 0, [], [${fact(
  `'outcome'`,
  `''`,
  OUTCOME,
  `''`,
  `${TIMES}[${DECIDED}] - ${TIMES}[1]`,
)}])`;
/** What a label may say. Replies are held to the same grammar when they are read; this is the second wall. */
const IS_CURRENCY = `match(currency, '^([A-Z]{3,5}|[0-9]{3})$')`;
/** A batch is stored table by table: the reply may not be there yet. */
const AMOUNT_FACTS = `if(${DECIDED} = 0 OR NOT ${IS_CURRENCY} OR amount IS NULL OR replied_at < items[${DECIDED}].8, [], [${fact(
  `'amount'`,
  `''`,
  OUTCOME,
  'currency',
)}])`;
/** An order can go back and forth: each decision that differs from what was counted last is a change. */
const CHANGE_FACTS = `if(${DECIDED} = 0 OR counted_outcome IN ('', ${OUTCOME}), [], [${fact(
  `'change'`,
  `concat(toString(${TIMES}[${DECIDED}]), ' ', items[${DECIDED}].3)`,
  'counted_outcome',
  OUTCOME,
)}])`;
const FACTS = `arrayFilter(one -> ${NEW}, arrayConcat([${fact(`'started'`, `''`, `''`, `''`)}], ${STAGE_FACTS}, ${FAILURE_FACTS}, ${OUTCOME_FACTS}, ${AMOUNT_FACTS}, ${CHANGE_FACTS}))`;

/** SELECT of what was counted of orders: id, counted_facts as (kind, subject), counted_outcome. */
function counted(scope: CountScope): string {
  // Nothing is counted of an order before its first item, but for clocks that differ.
  return `SELECT id, groupArray((toString(kind), subject)) AS counted_facts,
      argMaxIf(toString(if(kind = 'change', second_label, first_label)), tuple(counted_at, kind = 'change'), kind IN ('outcome', 'change')) AS counted_outcome
    FROM ${COUNTS}
    WHERE about = 'order' AND (counted_at >= ${reach(scope)} AND id IN (${touchedIds(scope)})${hasOld(scope) ? ` OR id IN (${oldIds(scope)})` : ''})
    GROUP BY id`;
}

/**
 * SELECT of what is known of orders: amount and currency, as the view `orders` has them, and replied_at, when
 * the newest reply was read.
 */
function amounts(scope: CountScope): string {
  const claims = (where: string): string =>
    `SELECT gateway, toString(order_type) AS order_type, external_id, amount, upper(ifNull(toString(currency), '')) AS currency, (toInt8(kind), observed_at) AS rank
      FROM ${CLAIMS} WHERE ${where}`;
  const callbacks = (where: string): string =>
    `SELECT gateway, order_type, external_id, amount, currency, rank FROM
      (
        SELECT gateway, assumeNotNull(toString(a.order_type)) AS order_type, assumeNotNull(a.external_id) AS external_id, toDecimal128OrNull(a.amount, 9) AS amount,
          upper(ifNull(toString(a.currency), '')) AS currency, (toInt8(1), a.received_at) AS rank, a.received_at AS received_at
        FROM ${ARRIVALS} AS a
        WHERE a.verdict IN ('valid', 'valid_previous_key') AND a.order_type IS NOT NULL AND a.external_id IS NOT NULL
      ) WHERE ${where}`;
  const touched = `(${ORDER}) IN (${touchedOrders(scope)})`;
  const old = `(${ORDER}) IN (${oldOrders(scope)})`;
  const parts = [
    claims(`observed_at >= ${reach(scope)} AND ${touched}`),
    callbacks(`received_at >= ${reach(scope)} AND ${touched}`),
  ];
  const oldParts = [
    claims(`observed_at >= ${oldReach(scope)} AND observed_at < ${reach(scope)} AND ${old}`),
    callbacks(`received_at >= ${oldReach(scope)} AND received_at < ${reach(scope)} AND ${old}`),
  ];
  return `SELECT ${ORDER}, argMaxIf(amount, rank, amount IS NOT NULL) AS amount, argMaxIf(currency, rank, currency != '') AS currency,
      maxIf(toUnixTimestamp64Micro(rank.2), rank.1 = 3) AS replied_at
    FROM
    (
      ${[...parts, ...(hasOld(scope) ? oldParts : [])].join('\n      UNION ALL\n      ')}
    )
    GROUP BY ${ORDER}`;
}
