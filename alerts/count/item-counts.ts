import { sqlText } from '../../schemas/measures.ts';
import type { DropRule, ShareRule } from '../rules/rule.ts';
import { UNKNOWN_CODE_BIT } from './code-bits.ts';
import { conditionsOf, type LabelBits, type MarkFacts, SHORT_SECONDS } from './item-facts.ts';
import {
  bitsOfDecision,
  DATA_COLUMNS,
  instantOf,
  microsOf,
  secondsOf,
  type MarkSource,
  marksSince,
  SLOT_SECONDS,
} from './marks.ts';
import { LATE_REPEAT_SECONDS } from './order-count.ts';
import { lengthsOf } from './windows.ts';

/** Where a gateway's windows end, in seconds since 1970. */
export interface GatewayEnd {
  readonly gateway: string;
  readonly end: number;
  /** For counts to which a late item looks like a missing one. Not after `end`. */
  readonly lateEnd: number;
}

/** Adds orders to what a label has within a window. */
export type AddOrders = (
  at: {
    readonly rule: string;
    readonly label: string;
    readonly gateway: string;
    readonly windowSeconds: number;
  },
  seen: number,
  hit: number,
) => void;

export interface ItemCounting {
  /** One SELECT that counts for all rules whose orders are found in history items. */
  readonly sql: string;
  /** Takes in its rows. False when items had codes that the source does not know: the counts miss them. */
  readonly take: (rows: readonly ItemCountRow[], add: AddOrders) => boolean;
}

/**
 * Orders of a gateway that have something in common: `not_SOURCE` is 0 for the part that counted them, and
 * `SOURCE_0` and so on say what they met. Of items: the bits by window, shortest first; else the bits, and
 * the place of the shortest window.
 */
export type ItemCountRow = Readonly<Record<string, number | string>>;

export type CountingRule = ShareRule | DropRule;
const SOURCES = ['items', 'late', 'finished', 'processing', 'reversed', 'confirmed'] as const;
type Source = (typeof SOURCES)[number];
type BySource<T> = Readonly<Record<Source, T>>;

/** Which part of the statement counts a rule's orders; null: another statement does. */
function sourceOf({ count }: CountingRule): Source | null {
  const { kind } = count.from;
  if (kind === 'items') return count.clock === 'late' ? 'late' : 'items';
  return kind === 'polls' || kind === 'asked' || kind === 'callbacks' || kind === 'rereads' ? null : kind;
}

/** Is the rule one of those that this statement counts? */
export const countsItems = (rule: CountingRule): boolean => sourceOf(rule) !== null;

/**
 * How far back of a window's end the items of a count are read: its longest window, and for orders that are
 * judged some time after an item the time to that item and what lies before it.
 */
export function reachOf(rule: CountingRule): number {
  const { from } = rule.count;
  const longest = Math.max(...lengthsOf(rule));
  if (from.kind === 'processing') return longest + 2 * from.afterSeconds;
  if (from.kind === 'reversed') return longest + from.lookbackSeconds;
  if (from.kind === 'confirmed') return longest + from.afterSeconds + LATE_REPEAT_SECONDS;
  return longest;
}

/** How far back of a window's end the items of some counts are read. */
export const farthestOf = (rules: readonly CountingRule[]): number => Math.max(0, ...rules.map(reachOf));

/** Are counts that reach this far made from the marks that are kept for days? */
export const readsLongMarks = (reach: number): boolean => reach > 2 * SHORT_SECONDS;

/**
 * Counts orders for rules over history items. Orders are put together once, with what they met in each
 * window; orders that met the same are one row.
 *
 * @param ends at least one
 * @param asOf the instant of knowledge, in seconds since 1970
 */
export function itemCounting(
  rules: readonly CountingRule[],
  source: MarkSource,
  ends: readonly GatewayEnd[],
  asOf: number,
): ItemCounting {
  const bySource = <T>(pick: (source: Source) => T): BySource<T> =>
    Object.fromEntries(SOURCES.map((source) => [source, pick(source)])) as unknown as BySource<T>;
  const planned = bySource((source) => rules.filter((rule) => sourceOf(rule) === source));
  const plan: Plan = {
    facts: source.facts,
    rules: planned,
    windows: bySource((source) => [...new Set(planned[source].flatMap(lengthsOf))].toSorted((a, b) => a - b)),
  };
  const reach = farthestOf(rules);
  const from = Math.min(...ends.map(({ lateEnd }) => lateEnd)) - reach;
  const marks = marksSince(source, from, asOf, readsLongMarks(reach));
  return {
    sql: statement(partsOf(plan), ends, marks),
    take: (rows, add) =>
      rows
        .map((row) => takeRow(row, plan, ends[Number(row['place']) - 1]?.gateway ?? '', add))
        .every((isKnown) => isKnown),
  };
}

interface Plan {
  readonly facts: MarkFacts;
  readonly rules: BySource<readonly CountingRule[]>;
  /** Lengths, ascending. */
  readonly windows: BySource<readonly number[]>;
}

interface Part {
  readonly source: Source;
  /** By order. */
  readonly aggregates: readonly string[];
  /**
   * What follows from the aggregates: in a query of its own, since the engine repeats an expression wherever
   * its name stands.
   */
  readonly steps?: readonly string[];
  /** SQL of what orders are distinguished by. */
  readonly keys: readonly string[];
}

/**
 * The key of an order is its hash alone, and that of a group the hash of what its orders met: one number is
 * grouped by several times as fast as a tuple.
 */
function statement(parts: readonly Part[], ends: readonly GatewayEnd[], marks: string): string {
  const list = (pick: (end: GatewayEnd, index: number) => string): string => `[${ends.map(pick).join(', ')}]`;
  const names = ({ source, keys }: Part): string[] => keys.map((_, index) => `${source}_${index}`);
  const keys = parts.flatMap((part) =>
    part.keys.map((sql, index) => `${sql} AS ${names(part)[index] ?? ''}`),
  );
  const groups = parts.map(
    (part) => `cityHash64(gateway_place, ${names(part).join(', ')}) AS by_${part.source}`,
  );
  const met = parts.flatMap((part) => [
    `grouping(r.by_${part.source}) AS not_${part.source}`,
    ...names(part).map((name) => `any(r.${name}) AS ${name}`),
  ]);
  const byOrder = `SELECT any(place) AS gateway_place, any(ends_at) AS end_of, any(late_ends_at) AS late_end_of, ${distinct(parts, ({ aggregates }) => aggregates).join(', ')}
  FROM
  (
    SELECT slot, order_hash, ${DATA_COLUMNS}, place, ends[place] AS ends_at, late_ends[place] AS late_ends_at, ends_at - slot AS age
    FROM
    (
      SELECT slot, order_hash, ${DATA_COLUMNS}, transform(toString(gateway), gateways, places, 0) AS place
      FROM
      (
    ${marks}
      )
    )
    WHERE place > 0 AND age > 0
  )
  GROUP BY order_hash`;
  return `WITH ${list(({ gateway }) => sqlText(gateway))} AS gateways, ${list((_, index) => String(index + 1))} AS places, ${list(({ end }) => `toInt64(${end})`)} AS ends, ${list(({ lateEnd }) => `toInt64(${lateEnd})`)} AS late_ends
SELECT any(r.gateway_place) AS place, ${met.join(', ')}, count() AS orders
FROM
(
  SELECT gateway_place, ${keys.join(', ')}, ${groups.join(', ')}
  FROM (SELECT *, ${distinct(parts, ({ steps = [] }) => steps).join(', ')} FROM (${byOrder}))
) AS r
GROUP BY GROUPING SETS (${parts.map(({ source }) => `(r.by_${source})`).join(', ')})`;
}

const distinct = (parts: readonly Part[], pick: (part: Part) => readonly string[]): string[] => [
  ...new Set(parts.flatMap(pick)),
];

/** Place of the shortest window that an age lies in; the number of windows: in none. */
const placeOf = (age: string, lengths: readonly number[]): string =>
  `(${age} <= 0) * ${lengths.length} + ${lengths.map((length) => `(${age} > ${length})`).join(' + ')}`;

/** The first decision against an order and the last ones of either kind, of all that was read. */
const DECISIONS = [
  'minIf(failed_first, failed_first > 0) AS failed_1',
  'max(failed_last) AS failed_2',
  'max(paid_last) AS paid_2',
];
const LAST = 'greatest(paid_2, failed_2) AS last';
const LAST_AGE = `end_of - intDiv(${secondsOf('last')}, ${SLOT_SECONDS}) * ${SLOT_SECONDS} AS last_age`;

function partsOf(plan: Plan): Part[] {
  const { rules, windows } = plan;
  const parts: (Part | null)[] = [
    {
      source: 'items',
      aggregates: windows.items.map((length, index) => `groupBitOrIf(marks, age <= ${length}) AS m${index}`),
      keys: windows.items.map((_, index) => `m${index}`),
    },
    latePart(plan),
    {
      source: 'finished',
      aggregates: DECISIONS,
      steps: [LAST, LAST_AGE],
      keys: [bitsOfDecision('last'), lastDecisionIn(windows.finished)],
    },
    processingPart(plan),
    {
      source: 'reversed',
      aggregates: DECISIONS,
      steps: [
        LAST,
        LAST_AGE,
        `failed_1 > 0 AND ${instantOf('paid_2')} > ${instantOf('failed_1')} AS reversed`,
      ],
      keys: [labelBits(rules.reversed[0]), lastDecisionIn(windows.reversed)],
    },
    confirmedPart(plan),
  ];
  return parts.filter((part) => part !== null).filter(({ source }) => rules[source].length > 0);
}

const lastDecisionIn = (lengths: readonly number[]): string =>
  `if(last = 0, ${lengths.length}, ${placeOf('last_age', lengths)})`;

/** A label of such a count is one bit: the last time that an order had it says in which windows it lies. */
function latePart({ facts, rules, windows }: Plan): Part {
  const bits = lateBits(rules.late, facts);
  const { late: lengths } = windows;
  return {
    source: 'late',
    aggregates: bits.map(
      (bit) => `maxIf(slot, bitTest(marks, ${bit}) AND slot < late_ends_at) AS late_${bit}_at`,
    ),
    keys: bits.map(
      (bit) =>
        `if(late_${bit}_at = 0, ${lengths.length}, ${placeOf(`(late_end_of - late_${bit}_at)`, lengths)})`,
    ),
  };
}

const lateBits = (rules: readonly CountingRule[], { items }: MarkFacts): number[] => [
  ...new Set(rules.flatMap(({ name }) => (items.labels.get(name) ?? []).map(({ hit }) => hit))),
];

function processingPart({ facts, rules, windows }: Plan): Part | null {
  const [rule] = rules.processing;
  if (rule?.count.from.kind !== 'processing') return null;
  const { processing: lengths } = windows;
  const reach = reachOf(rule);
  return {
    source: 'processing',
    aggregates: [
      ...DECISIONS,
      `minIf(slot, bitTest(marks, ${facts.processing}) AND age <= ${reach}) AS began`,
    ],
    steps: [LAST, LAST_AGE],
    keys: [
      labelBits(rule, { decided: `(last > 0 AND last_age <= ${reach})` }),
      `if(began = 0, ${lengths.length}, ${placeOf(`(end_of - began - ${rule.count.from.afterSeconds})`, lengths)})`,
    ],
  };
}

/**
 * Orders by when they came into their last state: the first decision for it, unless one of the other state
 * came after that.
 */
function confirmedPart({ rules, windows }: Plan): Part | null {
  const [rule] = rules.confirmed;
  if (rule?.count.from.kind !== 'confirmed') return null;
  const { confirmed: lengths } = windows;
  const reach = reachOf(rule);
  const { afterSeconds } = rule.count.from;
  const first = (kind: string): string =>
    `minIf(${kind}_first, ${kind}_first > 0 AND age <= ${reach}) AS ${kind}_within`;
  return {
    source: 'confirmed',
    aggregates: [...DECISIONS, first('paid'), first('failed'), 'max(confirmed_last) AS confirmed_at'],
    steps: [
      `if(paid_2 > failed_2, 'SUCCESS', 'FAILED') AS state`,
      'if(paid_2 > failed_2, if(paid_within > failed_2, paid_within, paid_2), if(failed_within > paid_2, failed_within, failed_2)) AS came',
      `end_of - intDiv(${secondsOf('came')}, ${SLOT_SECONDS}) * ${SLOT_SECONDS} - ${afterSeconds} AS came_age`,
      `confirmed_at + 1000000 >= ${microsOf('came')} AS confirmed`,
    ],
    keys: [
      labelBits(rule),
      `if(greatest(paid_within, failed_within) = 0, ${lengths.length}, ${placeOf('came_age', lengths)})`,
    ],
  };
}

/** SQL of two bits a label: is an order seen there, is it hit? */
function labelBits(rule: CountingRule | undefined, named: Readonly<Record<string, string>> = {}): string {
  const spelled = (condition: string): string =>
    Object.entries(named).reduce(
      (text, [name, sql]) => text.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), sql),
      condition,
    );
  const bits = (rule?.count.counts ?? []).flatMap((label, index) => {
    const { seen, hit } = conditionsOf(rule?.count ?? {}, label);
    return [seen, hit].map(
      (condition, side) => `if(ifNull(${spelled(condition)}, 0), ${2 ** (2 * index + side)}, 0)`,
    );
  });
  return bits.join(' + ');
}

/** @returns false when an item of these orders has a code that is not among the known ones */
function takeRow(row: ItemCountRow, plan: Plan, gateway: string, add: AddOrders): boolean {
  const source = SOURCES.find((source) => Number(row[`not_${source}`] ?? 1) === 0);
  const n = Number(row['orders']);
  const key = (index: number): number => Number(row[`${source}_${index}`]);
  if (source === undefined) return true;
  if (source === 'items') return takeItems(key, plan, gateway, n, add);
  if (source === 'late') takeLate(key, plan, gateway, n, add);
  else {
    const has = hasBit(key(0));
    for (const rule of plan.rules[source])
      for (const { label, seen, hit } of labelsOf(source, rule, plan.facts))
        if (has(seen))
          for (const windowSeconds of plan.windows[source].slice(key(1)))
            add({ rule: rule.name, label, gateway, windowSeconds }, n, has(hit) ? n : 0);
  }
  return true;
}

const labelsOf = (source: Source, { name, count }: CountingRule, facts: MarkFacts): readonly LabelBits[] =>
  source === 'finished'
    ? (facts.decisions.labels.get(name) ?? [])
    : count.counts.map(({ label }, index) => ({ label, seen: 2 * index, hit: 2 * index + 1 }));

/** Bits of a number up to 2 ** 53: operators know 32 of them. */
function hasBit(bits: number): (bit: number) => boolean {
  const [low, high] = [bits % 2 ** 32, Math.floor(bits / 2 ** 32)];
  return (bit) => (((bit < 32 ? low : high) >>> (bit & 31)) & 1) === 1;
}

function takeItems(
  key: (index: number) => number,
  { facts, rules, windows }: Plan,
  gateway: string,
  n: number,
  add: AddOrders,
): boolean {
  let isKnown = true;
  for (const [index, windowSeconds] of windows.items.entries()) {
    const bits = key(index);
    if (bits === 0) continue;
    const has = hasBit(bits);
    isKnown &&= !has(UNKNOWN_CODE_BIT);
    for (const rule of rules.items)
      for (const { label, seen, hit } of facts.items.labels.get(rule.name) ?? [])
        if (has(seen)) add({ rule: rule.name, label, gateway, windowSeconds }, n, has(hit) ? n : 0);
  }
  return isKnown;
}

function takeLate(
  key: (index: number) => number,
  { facts, rules, windows }: Plan,
  gateway: string,
  n: number,
  add: AddOrders,
): void {
  const bits = lateBits(rules.late, facts);
  for (const rule of rules.late)
    for (const { label, hit } of facts.items.labels.get(rule.name) ?? [])
      for (const windowSeconds of windows.late.slice(key(bits.indexOf(hit))))
        add({ rule: rule.name, label, gateway, windowSeconds }, n, n);
}
