import { FAILING } from '../../schemas/measures.ts';
import { COUNTS } from '../count/tables.ts';
import {
  type CountScope,
  hasOld,
  instant,
  oldIds,
  ORDER_ID,
  reach,
  touchedIds,
  touchedOrders,
} from './count-scope.ts';

/**
 * The statement that counts what the orders of the scope have come to and was not counted of them:
 *
 * - `started`: the order is known
 * - `stage` (stage): it came there; with the time from the item before
 * - `failure` (stage, reason code): an item of that stage and reason failed
 * - `outcome` (outcome): it is decided; with the time from its first item
 * - `amount` (outcome, currency): its amount, as the row with the decision has it
 * - `change` (outcome before, outcome now): it is decided otherwise than was counted last
 *
 * It can be repeated at any time: what was counted of an order is looked up in the same statement.
 */
export function countOrders(scope: CountScope): string {
  return `INSERT INTO ${COUNTS} (about, counted_at, gateway, order_type, id, kind, subject, first_label, second_label, micros, amount)
SELECT 'order', ${instant(scope.now)}, gateway, toString(order_type), id, fact.1 AS kind, fact.2, fact.3, fact.4, fact.5, if(kind = 'amount', amount, NULL)
FROM
(
  SELECT gateway, order_type, id, amount,
    arrayFilter(fact -> NOT has(counted_facts, (fact.1, fact.2)), arrayConcat([${fact(`'started'`, `''`, `''`, `''`)}], ${STAGE_FACTS}, ${FAILURE_FACTS}, ${OUTCOME_FACTS}, ${AMOUNT_FACTS}, ${CHANGE_FACTS})) AS facts
  FROM
  (
    SELECT *, ${ORDER_ID} AS id, ifNull(deciding_action, '') AS decided, ifNull(toString(outcome), '') AS result_now, ifNull(toString(currency), '') AS currency_now
    FROM ${touchedOrders(scope)}
  ) AS known
  LEFT JOIN
  (
    ${counted(scope)}
  ) AS counted USING (id)
)
ARRAY JOIN facts AS fact`;
}

const NO_TIME = `CAST(NULL, 'Nullable(Int64)')`;
const fact = (kind: string, subject: string, first: string, second: string, micros = NO_TIME): string =>
  `(${kind}, ${subject}, ${first}, ${second}, CAST(${micros}, 'Nullable(Int64)'))`;
const micros = (from: string, to: string): string =>
  `toUnixTimestamp64Micro(${to}) - toUnixTimestamp64Micro(${from})`;

/** A code of another format has no stage. */
const STAGES = `arrayFilter(stage -> stage != '', arrayDistinct(arrayMap(stage -> ifNull(toString(stage), ''), history.stage)))`;
const FIRST_OF_STAGE = `arrayFirstIndex(one -> ifNull(toString(one), '') = stage, history.stage)`;
const STAGE_FACTS = `arrayMap(stage -> ${fact(
  `'stage'`,
  'stage',
  'stage',
  `''`,
  `if(${FIRST_OF_STAGE} = 1, NULL, ${micros(`history.time[${FIRST_OF_STAGE} - 1]`, `history.time[${FIRST_OF_STAGE}]`)})`,
)}, ${STAGES})`;
const FAILING_ITEMS = `arrayFilter(item -> item.1 != '', arrayMap((stage, result, state, reason_code) -> if(ifNull(${FAILING}, 0), (ifNull(toString(stage), ''), toString(ifNull(reason_code, 0))), ('', '')), history.stage, history.result, history.state, history.reason_code))`;
const FAILURE_FACTS = `arrayMap(item -> ${fact(
  `'failure'`,
  `concat(item.1, ' ', item.2)`,
  'item.1',
  'item.2',
)}, arrayDistinct(${FAILING_ITEMS}))`;
const OUTCOME_FACTS = `if(decided = '', [], [${fact(
  `'outcome'`,
  `''`,
  'result_now',
  `''`,
  micros('assumeNotNull(created_at)', 'assumeNotNull(final_at)'),
)}])`;
/** What a label may say. Replies are held to the same grammar when they are read; this is the second wall. */
const IS_CURRENCY = `match(currency_now, '^([A-Z]{3,5}|[0-9]{3})$')`;
const AMOUNT_FACTS = `if(decided = '' OR NOT ${IS_CURRENCY} OR amount IS NULL, [], [${fact(
  `'amount'`,
  `''`,
  'result_now',
  'currency_now',
)}])`;
/** An order can go back and forth: each decision that differs from what was counted last is a change. */
const CHANGE_FACTS = `if(decided = '' OR counted_outcome IN ('', result_now), [], [${fact(
  `'change'`,
  `concat(toString(toUnixTimestamp64Micro(assumeNotNull(final_at))), ' ', decided)`,
  'counted_outcome',
  'result_now',
)}])`;

/** SELECT of what was counted of orders: id, counted_facts as (kind, subject), counted_outcome. */
function counted(scope: CountScope): string {
  // Nothing is counted of an order before it was heard of, but for clocks that differ.
  return `SELECT id, groupArray((toString(kind), subject)) AS counted_facts,
      argMaxIf(toString(if(kind = 'change', second_label, first_label)), tuple(counted_at, kind = 'change'), kind IN ('outcome', 'change')) AS counted_outcome
    FROM ${COUNTS}
    WHERE about = 'order' AND (counted_at >= ${reach(scope)} AND id IN (${touchedIds(scope)})${hasOld(scope) ? ` OR id IN (${oldIds(scope)})` : ''})
    GROUP BY id`;
}
