import { sqlText } from '../../schemas/measures.ts';
import { bitsOfItem, type CodeBits, KINDS } from './code-bits.ts';
import { bitOf, type MarkFacts } from './item-facts.ts';
import { FRONTIER, ITEMS, MARKS } from './tables.ts';

/**
 * Marks: what of the rules' conditions each order has met, by half minute. They are made of history items,
 * the same way for those that are kept in `order_marks_store` and for those that are read when they are
 * needed. All of it is the same however often and in whatever order items come: bits are united, instants
 * compared.
 */

/** Windows begin and end at multiples of this. */
export const SLOT_SECONDS = 30;

const time = (seconds: number): string => `toDateTime64(${seconds}, 6, 'UTC')`;
const micros = (us: number): string => `fromUnixTimestamp64Micro(toInt64(${us}), 'UTC')`;

/** An order, whatever its ids are. */
const ORDER_HASH = 'cityHash64(toString(gateway), toString(order_type), external_id)';

/**
 * A decision as one number, so that the latest of an order is the greatest: microseconds since 2020 (50
 * bits), the place in the list (4 bits, for decisions of one instant) and the bits of the rules' conditions
 * (10).
 */
const EPOCH_2020_US = 1_577_836_800_000_000;
const DECISION_AT = `bitShiftLeft(toUInt64(toUnixTimestamp64Micro(event_time) - ${EPOCH_2020_US}), 14) + bitShiftLeft(toUInt64(least(list_position, 15)), 10)`;
/** SQL of a decision's instant, in microseconds since 2020. */
export const instantOf = (decision: string): string => `bitShiftRight(${decision}, 14)`;
/** The same since 1970. */
export const microsOf = (decision: string): string => `(bitShiftRight(${decision}, 14) + ${EPOCH_2020_US})`;
/** The same in whole seconds since 1970. */
export const secondsOf = (decision: string): string =>
  `(intDiv(bitShiftRight(${decision}, 14), 1000000) + ${EPOCH_2020_US / 1e6})`;
/** SQL of a decision's bits. */
export const bitsOfDecision = (decision: string): string => `bitAnd(${decision}, 1023)`;

/** Columns of a mark that are united over an order. */
export const DATA_COLUMNS = 'marks, paid_first, paid_last, failed_first, failed_last, confirmed_last';

/**
 * SELECT of marks, one row an item: `slot` in seconds since 1970, decisions as numbers (0: none) and, in
 * microseconds since 1970, the callback to the merchant.
 *
 * @param codes all codes that the items have; null: too many to look up, and each item is asked everything
 * @param wheres conditions on items, of which exactly one holds
 */
function itemMarks(facts: MarkFacts, codes: readonly CodeBits[] | null, wheres: readonly string[]): string {
  const { marks, ofDecision, columns } = bitsOfItem(facts, codes);
  const decision = (bit: number): string =>
    `if(bitTest(of_decision, ${bit}), ${DECISION_AT} + bitAnd(of_decision, 1023), toUInt64(0))`;
  const items = wheres.map(
    (where) =>
      `SELECT gateway, order_type, external_id, event_time, action, list_position, observed_at${columns} FROM ${ITEMS} WHERE ${where}`,
  );
  return `SELECT intDiv(toUInt32(toDateTime(event_time)), ${SLOT_SECONDS}) * ${SLOT_SECONDS} AS slot, gateway, ${ORDER_HASH} AS order_hash,
      ${marks} AS marks, ${ofDecision} AS of_decision,
      ${decision(KINDS.paid)} AS paid_first, paid_first AS paid_last, ${decision(KINDS.failed)} AS failed_first, failed_first AS failed_last,
      if(bitTest(of_decision, ${KINDS.confirmed}), toUInt64(toUnixTimestamp64Micro(event_time)), toUInt64(0)) AS confirmed_last
    FROM
    (
      ${items.join('\n      UNION ALL\n      ')}
    )`;
}

/**
 * Marks that are kept: of all items from `from` to `to`, in seconds since 1970, that were observed by
 * `knownUs`, in microseconds.
 */
export interface Frontier {
  readonly from: number;
  readonly to: number;
  readonly knownUs: number;
}

/** Nothing is kept. */
export const NO_FRONTIER: Frontier = { from: 0, to: 0, knownUs: 0 };

/** All that marks are made of, as of an instant. */
export interface MarkSource {
  readonly facts: MarkFacts;
  /** All codes that items have since the earliest instant that is asked for; null: too many to look up. */
  readonly codes: readonly CodeBits[] | null;
  readonly frontier: Frontier;
  /** Only items of these. @default all */
  readonly gateways?: readonly string[];
}

/**
 * SELECT of all marks from `from` on, as known at `asOf` (seconds since 1970): those kept, and the items that
 * are not among them, which are the newest and those that came late.
 *
 * @param isLong marks for long windows only
 */
export function marksSince(source: MarkSource, from: number, asOf: number, isLong: boolean): string {
  const { facts, codes, frontier, gateways } = source;
  const ours = gateways === undefined ? '' : ` AND gateway IN (${gateways.map(sqlText).join(', ')})`;
  const known = `observed_at <= ${time(asOf)}${ours}`;
  const between = (begin: number, end: number): string =>
    `event_time >= ${time(begin)} AND event_time < ${time(end)} AND ${known}`;
  if (frontier.to <= from || frontier.knownUs > asOf * 1e6)
    return itemMarks(facts, codes, [between(from, asOf)]);
  const begin = Math.max(from, frontier.from);
  const unkept = [
    between(frontier.to, asOf),
    `${between(begin, frontier.to)} AND observed_at > ${micros(frontier.knownUs)}`,
    ...(from < frontier.from ? [between(from, frontier.from)] : []),
  ];
  return `SELECT toUInt32(slot) AS slot, gateway, order_hash, ${DATA_COLUMNS}
    FROM ${MARKS}
    WHERE definition = ${sqlText(facts.definition)}${isLong ? ' AND keep_long = 1' : ''} AND slot >= toDateTime(${begin}, 'UTC') AND slot < toDateTime(${frontier.to}, 'UTC')${ours}
    UNION ALL
    SELECT slot, gateway, order_hash, ${DATA_COLUMNS} FROM (${itemMarks(facts, codes, unkept)})`;
}

/** SQL: is an item of `next` not among those that are kept? */
export function isToKeep(frontier: Frontier, next: Frontier): string {
  const known = `observed_at <= ${micros(next.knownUs)}`;
  const isNew =
    frontier.to === 0
      ? '1'
      : `NOT (event_time >= ${time(frontier.from)} AND event_time < ${time(frontier.to)} AND observed_at <= ${micros(frontier.knownUs)})`;
  return `event_time >= ${time(next.from)} AND event_time < ${time(next.to)} AND ${known} AND ${isNew}`;
}

/** The statements that keep more. First the marks, then how far they go: what is kept twice counts once. */
export function keepMarks({ facts, codes, frontier }: MarkSource, next: Frontier): string[] {
  const long = facts.long.length === 0 ? '0' : `bitAnd(united, ${facts.long.map(bitOf).join(' + ')}) != 0`;
  return [
    `INSERT INTO ${MARKS} (definition, slot, gateway, order_hash, ${DATA_COLUMNS}, keep_long)
    SELECT ${sqlText(facts.definition)}, toDateTime(slot, 'UTC'), gateway, order_hash, groupBitOr(m.marks) AS united,
      minIf(m.paid_first, m.paid_first > 0) AS paid_1, max(m.paid_last) AS paid_2, minIf(m.failed_first, m.failed_first > 0) AS failed_1, max(m.failed_last) AS failed_2,
      max(m.confirmed_last), paid_2 > 0 OR failed_2 > 0 OR ${long}
    FROM (${itemMarks(facts, codes, [isToKeep(frontier, next)])}) AS m
    GROUP BY slot, gateway, order_hash`,
    `INSERT INTO ${FRONTIER} VALUES (${sqlText(facts.definition)}, ${next.from}, ${next.to}, ${micros(next.knownUs)})`,
  ];
}

/** How far the marks of this definition go, as of the last time. */
export const frontierSql = (facts: MarkFacts): string =>
  `SELECT toUnixTimestamp(sealed_from) AS from, toUnixTimestamp(sealed_to) AS to, toUnixTimestamp64Micro(known_to) AS known_us
  FROM ${FRONTIER} WHERE definition = ${sqlText(facts.definition)} ORDER BY known_to DESC, sealed_from LIMIT 1`;
