import { sqlText, view } from '../../schemas/measures.ts';
import type { EpochMicros } from '../../schemas/rows.ts';
import { ARRIVALS, FINDINGS } from '../count/tables.ts';

/** One step of counting: the orders whose rows were written lately. */
export interface CountScope {
  /** Rows that were written from here on are looked at. */
  readonly from: EpochMicros;
  /** Up to here; null: all that are stored. */
  readonly to: EpochMicros | null;
  /** When it is counted. */
  readonly now: EpochMicros;
  /**
   * Ids in hexadecimal of those among them that were heard of so long ago that what was counted of them is
   * looked for apart; `many`: more than can be named.
   */
  readonly old: readonly string[] | 'many';
}
type StepScope = Omit<CountScope, 'old'>;

/** More would make the statement long. */
const MOST_NAMED = 500;

const SECOND: EpochMicros = 1_000_000;
/** How long before their rows most orders were heard of: what was counted of them is read by time. */
const REACH: EpochMicros = 1_800 * SECOND;
/** An order is counted for so long after it began. What was counted is known for a day longer. */
const COUNTED_FOR: EpochMicros = 7 * 86_400 * SECOND;

/** SQL of an instant. */
export const instant = (micros: EpochMicros): string =>
  `fromUnixTimestamp64Micro(${Math.round(micros)}, 'UTC')`;

/** SQL of the instant from which on counts are read by time. */
export const reach = ({ from }: Pick<CountScope, 'from'>): string => instant(from - REACH);
export const oldReach = ({ now }: Pick<CountScope, 'now'>): string => instant(now - COUNTED_FOR);

/** Condition on the time at which something became known. */
export const lately = (column: string, { from, to }: Pick<CountScope, 'from' | 'to'>): string =>
  `${column} >= ${instant(from)}${to === null ? '' : ` AND ${column} < ${instant(to)}`}`;

/** SQL of an order's trace id as 16 bytes (schemas/span.ts). */
export const ORDER_ID = `toFixedString(substring(SHA256(concat(gateway, '|', toString(order_type), '|', external_id)), 1, 16), 16)`;

/** FROM and WHERE of the orders that are to be counted. */
export const touchedOrders = (scope: StepScope): string =>
  `${view('orders')} WHERE ${lately('observed_at', scope)} AND created_at >= ${oldReach(scope)}`;

/** What `id IN (...)` takes: all orders of the scope, and those that are old. */
export const touchedIds = (scope: StepScope): string => `SELECT ${ORDER_ID} FROM ${touchedOrders(scope)}`;
export const oldIds = (scope: CountScope): string =>
  scope.old === 'many'
    ? `SELECT ${ORDER_ID} FROM ${touchedOrders(scope)} AND first_seen_at < ${reach(scope)}`
    : scope.old.map((id) => `toFixedString(unhex(${sqlText(id)}), 16)`).join(', ');
export const hasOld = ({ old }: CountScope): boolean => old.length > 0;

export interface TouchedRow {
  readonly touched: number;
  readonly old: readonly string[];
  readonly callbacks: number;
  readonly findings: number;
}
/**
 * SELECT of one row: how many orders are to be counted, those of them that are old, and how many callbacks
 * and findings there are to look at. A statement for nothing costs as much as one for a few.
 */
export const findTouched = (scope: StepScope): string =>
  `SELECT count() AS touched, groupArrayIf(${MOST_NAMED + 1})(lower(hex(${ORDER_ID})), first_seen_at < ${reach(scope)}) AS old,
    (SELECT count() FROM ${ARRIVALS} WHERE ${lately('received_at', scope)}) AS callbacks,
    (SELECT count() FROM ${FINDINGS} WHERE found_at >= ${oldReach(scope)}) AS findings
  FROM ${touchedOrders(scope)}`;
export const oldOf = ({ old }: TouchedRow): CountScope['old'] => (old.length > MOST_NAMED ? 'many' : old);
