import { DECIDING, IN_PROCESSING } from '../../schemas/measures.ts';
import { ARRIVALS, CLAIMS, ITEMS, itemsOfOrders } from '../count/tables.ts';
import {
  CALLBACK_ORDER,
  NAMES_ORDER,
  ofGateway,
  oldOrders,
  oldReach,
  reach,
  type SweepScope,
  touchedOrders,
  VERIFIED,
} from './sweep-scope.ts';

/** What an item can be, each a column of 0 or 1. */
const IS = {
  is_paid: `state = 'SUCCESS'`,
  is_failed: `state = 'FAILED'`,
  is_decided: DECIDING,
  is_processing: IN_PROCESSING,
  is_confirmed: `stage = 'MERCHANT_CALLBACK'`,
  is_repriced: 'reason_code = 35',
  is_foreign: `code_format != 'v2'`,
} as const;

/** Of an order: whoever sends a callback again and again must not make its comparison dear. */
const MOST_CALLBACKS = 100;

/** Column names of the union's parts are those of the first. */
const items = (table: string, where: string): string =>
  `SELECT 'item' AS source, order_type, external_id, event_time AS at, observed_at AS seen_at, list_position AS position, toString(action) AS action,
      ${Object.entries(IS)
        .map(([name, sql]) => `toUInt8(ifNull(${sql}, 0)) AS ${name}`)
        .join(
          ', ',
        )}, '' AS status, CAST(NULL, 'Nullable(Decimal(38, 9))') AS amount, '' AS amount_text, '' AS currency, toUInt64(0) AS content, (toUInt16(0), toUInt32(0)) AS body
    FROM ${table} WHERE ${where}`;
const NO_ITEM = `toUInt32(0), '', ${Object.keys(IS)
  .map(() => 'toUInt8(0)')
  .join(', ')}`;
const callbacks = (where: string): string =>
  `SELECT if(${VERIFIED}, 'callback', 'doubted'), ${CALLBACK_ORDER}, received_at, received_at, ${NO_ITEM},
      assumeNotNull(toString(status)), toDecimal128OrNull(amount, 9), ifNull(amount, ''), upper(ifNull(toString(currency), '')), content_key, (body_seal, body_key)
    FROM ${ARRIVALS} WHERE ${NAMES_ORDER} AND status IS NOT NULL AND ${where}`;
const claims = (where: string): string =>
  `SELECT if(kind = 'watch', 'watch', 'reply'), order_type, external_id, observed_at, observed_at, ${NO_ITEM},
      ifNull(toString(status), ''), amount, '', upper(ifNull(toString(currency), '')), toUInt64(0), (toUInt16(0), toUInt32(0))
    FROM ${CLAIMS} WHERE ${where}`;

/**
 * SELECT of one row for each order of the scope, with what its sources say. Rows that stand twice change
 * nothing. Instants are 1970 for never.
 *
 * - `paid_first_at` ... `failed_last_at`, `decided_first_at`, `began_at`: times of items
 * - `paid_seen`, `failed_seen`, `decided_seen`: when the first item of that kind was known
 * - `deciding`: (status as replies have it, known at, at, action) of the deciding item
 * - `repriced`, `foreign`: has it an item with reason 35; one of another code format, whose state is unknown
 * - `confirmations`: (at, known at) of the merchant callback's items (stage 6)
 * - `callbacks`: (at, status, amount, amount's text, currency, content, (body's seal, body's key)) of those
 *   that verify, oldest first
 * - `paid_doubted_at`, `failed_doubted_at`: when the first callback of that status came that does not verify
 * - `replies`, `watches`: (at, status, amount, currency), oldest first
 */
export function orderFacts(scope: SweepScope): string {
  const gateway = ofGateway(scope);
  const touched = `(order_type, external_id) IN (${touchedOrders(scope)})`;
  const old = `(order_type, external_id) IN (${oldOrders(scope)})`;
  // Without the outer SELECT, the conditions on what callbacks have would read its aliases.
  const callbacksOf = (where: string, orders: string): string =>
    `SELECT * FROM (${callbacks(where)}) WHERE ${orders}`;
  const parts = [
    items(ITEMS, `${gateway} AND event_time >= ${reach(scope)} AND ${touched}`),
    callbacksOf(`${gateway} AND received_at >= ${reach(scope)}`, touched),
    claims(`${gateway} AND observed_at >= ${reach(scope)} AND ${touched}`),
  ];
  const oldParts = [
    items(itemsOfOrders(`${gateway} AND ${old}`), '1'),
    callbacksOf(`${gateway} AND received_at >= ${oldReach(scope)} AND received_at < ${reach(scope)}`, old),
    claims(`${gateway} AND observed_at >= ${oldReach(scope)} AND observed_at < ${reach(scope)} AND ${old}`),
  ];
  return `SELECT order_type, external_id,
    countIf(source = 'item') AS items,
    minIf(at, is_paid) AS paid_first_at, maxIf(at, is_paid) AS paid_last_at, minIf(seen_at, is_paid) AS paid_seen,
    minIf(at, is_failed) AS failed_first_at, maxIf(at, is_failed) AS failed_last_at, minIf(seen_at, is_failed) AS failed_seen,
    minIf(at, is_decided) AS decided_first_at, minIf(seen_at, is_decided) AS decided_seen,
    argMaxIf((multiIf(is_paid, 'Success', is_failed, 'Failed', ''), seen_at, at, action), (at, position, action), is_decided) AS deciding,
    minIf(at, is_processing) AS began_at, countIf(is_repriced) > 0 AS repriced, countIf(is_foreign) > 0 AS foreign,
    groupArrayIf((at, seen_at), is_confirmed) AS confirmations,
    arraySort(groupArrayIf(${MOST_CALLBACKS})((at, status, amount, amount_text, currency, content, body), source = 'callback')) AS callbacks,
    minIf(at, source = 'doubted' AND status = 'Success') AS paid_doubted_at, minIf(at, source = 'doubted' AND status = 'Failed') AS failed_doubted_at,
    arraySort(groupArrayIf((at, status, amount, currency), source = 'reply')) AS replies,
    arraySort(groupArrayIf((at, status, amount, currency), source = 'watch')) AS watches
  FROM
  (
    ${[...parts, ...(scope.hasOld ? oldParts : [])].join('\n    UNION ALL\n    ')}
  )
  GROUP BY order_type, external_id`;
}
