import { createHash } from 'node:crypto';
import { DECIDING, FAILING, FIRST_ITEM, OUTCOME_PLACE, sqlList } from '../../schemas/measures.ts';
import type { EpochMicros } from '../../schemas/rows.ts';
import { ARRIVALS, FINDINGS, ITEMS, itemsOfOrders } from '../count/tables.ts';

/** One step of counting: the orders of which items were stored lately. */
export interface CountScope {
  /** Items that were first observed from here on are looked at. */
  readonly from: EpochMicros;
  /** Up to here; null: all that are stored. */
  readonly to: EpochMicros | null;
  /** When it is counted. */
  readonly now: EpochMicros;
  /**
   * Those among them that began before what is read by time, and are looked for apart; `many`: more than can
   * be named.
   */
  readonly old: readonly OrderKey[] | 'many';
}

export type OrderKey = readonly [gateway: string, orderType: string, externalId: string];
/** More would make the statement long. */
const MOST_NAMED = 500;

const SECOND: EpochMicros = 1_000_000;
/** How long before their newest items most orders began; the others are looked for one by one. */
const REACH: EpochMicros = 1_800 * SECOND;
/** An order is counted for so long after it began. What was counted is known for a day longer. */
const COUNTED_FOR: EpochMicros = 7 * 86_400 * SECOND;

/** SQL of an instant. */
export const instant = (micros: EpochMicros): string =>
  `fromUnixTimestamp64Micro(${Math.round(micros)}, 'UTC')`;

/** SQL of the instant from which on items, claims and counts are read by time. */
export const reach = ({ from }: Pick<CountScope, 'from'>): string => instant(from - REACH);
export const oldReach = ({ now }: Pick<CountScope, 'now'>): string => instant(now - COUNTED_FOR);

/** Condition on the time at which something became known. */
export const lately = (column: string, { from, to }: Pick<CountScope, 'from' | 'to'>): string =>
  `${column} >= ${instant(from)}${to === null ? '' : ` AND ${column} < ${instant(to)}`}`;

export const ORDER = 'gateway, order_type, external_id';

export const touchedOrders = (scope: Omit<CountScope, 'old'>): string =>
  `SELECT ${ORDER} FROM ${ITEMS} WHERE ${lately('observed_at', scope)} AND event_time >= ${oldReach(scope)}`;

/** Of a gateway whose clock is ahead, items are known before they happen. */
const recentOrders = (scope: Pick<CountScope, 'from'>): string =>
  `SELECT ${ORDER} FROM ${ITEMS} WHERE ${FIRST_ITEM} AND event_time >= ${reach(scope)} AND observed_at >= ${reach(scope)}`;

/** What `(ORDER) IN (...)` takes: those of which not all items are within reach. */
export const oldOrders = (scope: CountScope): string =>
  scope.old === 'many'
    ? `SELECT ${ORDER} FROM (${touchedOrders(scope)}) WHERE (${ORDER}) NOT IN (${recentOrders(scope)})`
    : scope.old.map((key) => `(${sqlList(key)})`).join(', ');
export const hasOld = ({ old }: CountScope): boolean => old.length > 0;

export interface TouchedRow {
  readonly touched: number;
  readonly old: readonly OrderKey[];
  readonly callbacks: number;
  readonly findings: number;
}
/**
 * SELECT of one row: how many orders are to be counted, those of them that are old, and how many callbacks
 * and findings there are to look at. A statement for nothing costs as much as one for a few.
 */
export const findTouched = (scope: Omit<CountScope, 'old'>): string =>
  `SELECT uniqExact(${ORDER}) AS touched,
    groupUniqArrayIf(${MOST_NAMED + 1})((toString(gateway), toString(order_type), external_id), (${ORDER}) NOT IN (${recentOrders(scope)})) AS old,
    (SELECT count() FROM ${ARRIVALS} WHERE ${lately('received_at', scope)}) AS callbacks,
    (SELECT count() FROM ${FINDINGS} WHERE found_at >= ${oldReach(scope)}) AS findings
  FROM (${touchedOrders(scope)})`;
export const oldOf = ({ old }: TouchedRow): CountScope['old'] => (old.length > MOST_NAMED ? 'many' : old);

/** SQL of an order's trace id as 16 bytes (schemas/span.ts). */
const ORDER_ID = `toFixedString(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id)), 1, 16), 16)`;
const orderId = (key: OrderKey): string =>
  `toFixedString(unhex('${createHash('sha256').update(key.join('|')).digest('hex').slice(0, 32)}'), 16)`;
/** What `id IN (...)` takes: all orders of the scope, and those that are old. */
export const touchedIds = (scope: CountScope): string => `SELECT ${ORDER_ID} FROM (${touchedOrders(scope)})`;
export const oldIds = (scope: CountScope): string =>
  scope.old === 'many' ? `SELECT ${ORDER_ID} FROM (${oldOrders(scope)})` : scope.old.map(orderId).join(', ');

/** 0 of an item that decides nothing. */
const DECISION_PLACE = `if(ifNull(${DECIDING}, 0), ${OUTCOME_PLACE}, 0)`;

const items = (table: string, where: string): string =>
  `SELECT gateway, toString(order_type) AS order_type, external_id, toUnixTimestamp64Micro(event_time) AS at, list_position, toString(action) AS action,
        ifNull(toUInt8(stage), 0) AS stage_code, ifNull(reason_code, 0) AS reason, toUInt8(ifNull(${FAILING}, 0)) AS failing, toUInt8(${DECISION_PLACE}) AS outcome_place,
        toUnixTimestamp64Micro(observed_at) AS known_at
      FROM ${table} WHERE ${where}`;

/**
 * SELECT of one row for each order: gateway, order_type, external_id, id, items as (at, list_position,
 * action, stage_code, reason, failing, outcome_place, known_at) in time order. Rows that stand twice change
 * nothing.
 */
export function touchedItems(scope: CountScope): string {
  const recent = items(ITEMS, `event_time >= ${reach(scope)} AND (${ORDER}) IN (${touchedOrders(scope)})`);
  const old = items(itemsOfOrders(`(${ORDER}) IN (${oldOrders(scope)})`), '1');
  return `SELECT ${ORDER}, ${ORDER_ID} AS id,
      arraySort(groupUniqArray((at, list_position, action, stage_code, reason, failing, outcome_place, known_at))) AS items
    FROM
    (
      ${recent}${hasOld(scope) ? `\n      UNION ALL\n      ${old}` : ''}
    )
    GROUP BY ${ORDER}
    HAVING fromUnixTimestamp64Micro(items[1].1, 'UTC') >= ${oldReach(scope)}`;
}
