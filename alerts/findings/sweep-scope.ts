import { FINDING_TIMES } from '../../schemas/findings.ts';
import { STUCK } from '../../schemas/limits.ts';
import { FIRST_ITEM, sqlText } from '../../schemas/measures.ts';
import type { EpochMicros } from '../../schemas/rows.ts';
import { ARRIVALS, CLAIMS, ITEMS } from '../count/tables.ts';

/** One step of the comparison: the orders of a gateway about which something happened in a stretch. */
export interface SweepScope {
  readonly gateway: string;
  /** The stretch, half-open. */
  readonly from: EpochMicros;
  readonly to: EpochMicros;
  /** Up to when our picture of the gateway is complete: what is due later is not judged. */
  readonly now: EpochMicros;
  /** Does it have orders that began before what is read by time? Those are looked for apart. */
  readonly hasOld: boolean;
  /** Does it have orders that began so long before that a callback of theirs can be a replayed one? */
  readonly hasAged: boolean;
}

/** How far back the facts of an order are read by time; of an order that began before, all are looked for. */
const REACH_SECONDS = 2 * STUCK.afterSeconds;
/** How far back claims and callbacks of such an order count. */
const OLD_SECONDS = 7 * 86_400;

/**
 * After these delays a fact becomes a contradiction by mere waiting, since what should follow has not come:
 * an order is looked at when a fact is known, and again after each of them.
 */
const DELAYS_SECONDS = [0, FINDING_TIMES.lateItemsSeconds, STUCK.afterSeconds] as const;

/** SQL of an instant. */
export const instant = (micros: EpochMicros): string =>
  `fromUnixTimestamp64Micro(${Math.round(micros)}, 'UTC')`;
const before = (micros: EpochMicros, seconds: number): string => instant(micros - seconds * 1e6);

/** SQL of the instants from which on facts of an order are read: of any order, and of one that is old. */
export const reach = ({ from }: SweepScope): string => before(from, REACH_SECONDS);
export const oldReach = ({ from }: SweepScope): string => before(from, OLD_SECONDS);

export const ofGateway = ({ gateway }: SweepScope): string => `gateway = ${sqlText(gateway)}`;

/** Callbacks about an order, whoever sent them. */
export const NAMES_ORDER = `order_type IS NOT NULL AND external_id IS NOT NULL`;
/** Callbacks that prove to be the gateway's, about an order. */
export const VERIFIED = `verdict IN ('valid', 'valid_previous_key') AND ${NAMES_ORDER}`;
/** Columns of an order, where callbacks have them as text or not at all. */
export const CALLBACK_ORDER = `CAST(if(order_type = 'Withdrawal', 'Withdrawal', 'Deposit'), 'Enum8(\\'Deposit\\' = 1, \\'Withdrawal\\' = 2)') AS order_type, assumeNotNull(external_id) AS external_id`;

const happened = (column: string, scope: SweepScope): string =>
  `(${DELAYS_SECONDS.map((delay) => within(column, scope, delay)).join(' OR ')})`;

/**
 * SELECT of order_type and external_id: the orders to be judged, about which an item, a callback or a claim
 * became known in the stretch, or a delay before it.
 */
export const touchedOrders = (scope: SweepScope): string =>
  `SELECT order_type, external_id FROM ${ITEMS} WHERE ${ofGateway(scope)} AND ${happened('observed_at', scope)}
      UNION DISTINCT SELECT ${CALLBACK_ORDER} FROM ${ARRIVALS} WHERE ${ofGateway(scope)} AND ${VERIFIED} AND ${happened('received_at', scope)}
      UNION DISTINCT SELECT order_type, external_id FROM ${CLAIMS} WHERE ${ofGateway(scope)} AND ${happened('observed_at', scope)}`;

/** Those whose first item is not within reach. */
export const oldOrders = (scope: SweepScope): string =>
  `SELECT order_type, external_id FROM (${touchedOrders(scope)})
      WHERE (order_type, external_id) NOT IN (${recentOrders(scope)})`;

/** SELECT of the orders that began within reach. */
export const recentOrders = (scope: SweepScope): string => beganSince(reach(scope), scope);

/** SELECT of the orders that are too young for a callback to be a replayed one before the stretch ends. */
export const youngOrders = (scope: SweepScope): string =>
  beganSince(before(scope.to, FINDING_TIMES.replayedSeconds), scope);

const beganSince = (at: string, scope: SweepScope): string =>
  `SELECT order_type, external_id FROM ${ITEMS} WHERE ${ofGateway(scope)} AND ${FIRST_ITEM} AND event_time >= ${at}`;

/** SQL of the stretch on a time column, or of the same stretch some time before. */
export const within = (column: string, { from, to }: SweepScope, secondsBefore = 0): string =>
  `${column} >= ${before(from, secondsBefore)} AND ${column} < ${before(to, secondsBefore)}`;

/** SELECT of one row: how many orders are to be judged, and how many of them are old, and aged. */
export const countOrders = (scope: Omit<SweepScope, 'hasOld' | 'hasAged'>): string => {
  const whole = { ...scope, hasOld: true, hasAged: true };
  const began = (since: string): string => `countIf((order_type, external_id) NOT IN (${since}))`;
  return `SELECT count() AS touched, ${began(recentOrders(whole))} AS old, ${began(youngOrders(whole))} AS aged FROM (${touchedOrders(whole)})`;
};
