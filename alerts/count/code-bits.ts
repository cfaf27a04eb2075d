import { outcome, sqlText } from '../../schemas/measures.ts';
import { bitOf, bitsSql, isOfCode, type MarkFacts, MOST_BITS } from './item-facts.ts';
import { ITEMS } from './tables.ts';

/**
 * What of the rules' conditions an item meets. Nearly all of it follows from its code, of which there are
 * few: so the conditions are asked of each code once, and items look them up.
 */

/** An item whose code was not among those given has this bit alone. */
export const UNKNOWN_CODE_BIT = MOST_BITS.items;

/** Bits beside those of the conditions on decisions: what kind of item a code is. */
export const KINDS = { paid: 10, failed: 11, confirmed: 12 } as const;

/** What follows from a code alone: its bits among the conditions on items, and on decisions with its kind. */
export interface CodeBits {
  readonly code: string;
  readonly items: string;
  readonly decisions: string;
}

/**
 * More codes than this are not looked up by code. The gateway's catalogue has some hundred: whoever sends
 * thousands must not make a statement too long for the store.
 */
const MOST_CODES = 300;

/** SELECT of the codes of some items, as far as they are looked up. */
export const codesSql = (where: string): string =>
  `SELECT DISTINCT toString(action) AS code FROM ${ITEMS} WHERE ${where} LIMIT ${MOST_CODES + 1}`;
/** SQL: did an item happen from an instant on, in seconds since 1970? */
export const since = (from: number): string => `event_time >= toDateTime64(${from}, 6, 'UTC')`;
export const areTooMany = (codes: readonly unknown[]): boolean => codes.length > MOST_CODES;

const CONDITION_COLUMNS = ['stage', 'result', 'state', 'reason_code', 'reason_group', 'code_format'];

/** SQL of the bits among the conditions on decisions, and of the kind of item. */
function decisionBits({ decisions }: MarkFacts): string {
  const kind = (bit: number, condition: string): string => `if(ifNull(${condition}, 0), ${2 ** bit}, 0)`;
  const kinds = [
    kind(KINDS.paid, `state = 'SUCCESS'`),
    kind(KINDS.failed, `state = 'FAILED'`),
    kind(KINDS.confirmed, `stage = 'MERCHANT_CALLBACK'`),
  ];
  return `${bitsSql(decisions.conditions)} + ${kinds.join(' + ')}`;
}

/** Rows of `CodeBits` for these codes, as these items have them. */
export function codeBitsSql(facts: MarkFacts, codes: readonly string[], where: string): string {
  return `SELECT toString(action) AS code, toString(${bitsSql(facts.items.conditions, isOfCode)}) AS items, toString(${decisionBits(facts)}) AS decisions
FROM
(
  SELECT *, ${outcome('state', 'reason_group')} AS outcome
  FROM (SELECT action, ${CONDITION_COLUMNS.map((name) => `any(${name}) AS ${name}`).join(', ')} FROM ${ITEMS} WHERE ${where} AND action IN (${codes.map(sqlText).join(', ')}) GROUP BY action)
)`;
}

/** SQL of an item's bits among the conditions on items and on decisions, and the columns that it reads. */
export interface BitsOfItem {
  readonly marks: string;
  readonly ofDecision: string;
  readonly columns: string;
}

/** @param codes all that items have; null: too many to look up, and each item is asked everything */
export const bitsOfItem = (facts: MarkFacts, codes: readonly CodeBits[] | null): BitsOfItem =>
  codes === null ? askedOfItems(facts) : lookedUp(facts, codes);

/** By its code, but for the conditions that a code does not answer. */
function lookedUp(facts: MarkFacts, codes: readonly CodeBits[]): BitsOfItem {
  const list = (pick: (code: CodeBits) => string): string => `[${codes.map(pick).join(', ')}]`;
  const bits = (pick: (code: CodeBits) => string, otherwise: string): string =>
    codes.length === 0
      ? otherwise
      : `transform(action, ${list(({ code }) => sqlText(code))}, CAST(${list(pick)}, 'Array(UInt64)'), ${otherwise})`;
  const each = bitsSql(facts.items.conditions, (condition) => !isOfCode(condition));
  return {
    marks: `${bits(({ items }) => items, `toUInt64(${bitOf(UNKNOWN_CODE_BIT)})`)} + ${each}`,
    ofDecision: bits(({ decisions }) => decisions, 'toUInt64(0)'),
    columns: '',
  };
}

const askedOfItems = (facts: MarkFacts): BitsOfItem => ({
  marks: bitsSql(facts.items.conditions),
  ofDecision: decisionBits(facts),
  columns: `, ${CONDITION_COLUMNS.join(', ')}, ${outcome('state', 'reason_group')} AS outcome`,
});
