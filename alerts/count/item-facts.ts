import { createHash } from 'node:crypto';
import { IN_PROCESSING, outcome } from '../../schemas/measures.ts';
import type { DropRule, ShareRule } from '../rules/rule.ts';
import type { LabelCount, OrderCount } from './order-count.ts';

/**
 * What the rules ask of history items, each condition once and by number: an item is then a set of bits, an
 * order the union of its items' bits, and all rules are counted by one reading.
 */

/** Where a label's orders are found: by the bit that makes one seen, and the one that makes it hit. */
export interface LabelBits {
  readonly label: string;
  readonly seen: number;
  readonly hit: number;
}

export interface FactSet {
  /** Conditions by bit. */
  readonly conditions: readonly string[];
  /** By name of the rule. */
  readonly labels: ReadonlyMap<string, readonly LabelBits[]>;
}

type CountingRule = ShareRule | DropRule;

/** Room for bits of items in a number that is exact here, and for those of decisions beside their instant. */
export const MOST_BITS = { items: 52, decisions: 10 } as const;

export interface MarkFacts {
  /** Of history items; the rules of kind `items`. */
  readonly items: FactSet;
  /** Of deciding items; the rules of kind `finished`. Conditions read `outcome` and the item's columns. */
  readonly decisions: FactSet;
  /** The bit of `IN_PROCESSING` among those of items. */
  readonly processing: number;
  /** Bits of items that windows of more than a few hours need. */
  readonly long: readonly number[];
  /** Fingerprint: marks that were made by other conditions are not these. */
  readonly definition: string;
}

/** Windows up to this length are counted from all marks, longer ones from those that are kept long. */
export const SHORT_SECONDS = 21_600;

/** The bits of all rules that count history items. */
export function markFacts(rules: readonly CountingRule[]): MarkFacts {
  const items = factSet(rules.filter(({ count }) => count.from.kind === 'items'));
  const decisions = factSet(rules.filter(({ count }) => count.from.kind === 'finished'));
  const conditions = [...items.conditions];
  const processing = indexOf(conditions, IN_PROCESSING);
  if (conditions.length > MOST_BITS.items || decisions.conditions.length > MOST_BITS.decisions)
    throw new Error('the alert rules ask for more conditions than marks have bits');
  const long = rules
    .filter(({ count, condition }) => count.from.kind === 'items' && longest(condition) > SHORT_SECONDS)
    .flatMap(({ name }) => (items.labels.get(name) ?? []).flatMap(({ seen, hit }) => [seen, hit]));
  const definition = createHash('sha256')
    .update(
      JSON.stringify([LAYOUT, conditions, decisions.conditions, outcome('state', 'reason_group'), long]),
    )
    .digest('hex')
    .slice(0, 16);
  return { items: { ...items, conditions }, decisions, processing, long: [...new Set(long)], definition };
}

/** Changes when marks mean something else though the conditions are the same. */
const LAYOUT = 1;

const longest = ({ windows }: CountingRule['condition']): number =>
  Math.max(...windows.map(({ windowSeconds }) => windowSeconds));

function factSet(rules: readonly CountingRule[]): FactSet {
  const conditions: string[] = [];
  const labels = new Map(
    rules.map(({ name, count }) => [
      name,
      count.counts.map((label): LabelBits => {
        const { seen, hit } = conditionsOf(count, label);
        return { label: label.label, seen: indexOf(conditions, seen), hit: indexOf(conditions, hit) };
      }),
    ]),
  );
  return { conditions, labels };
}

/** The whole conditions of a label: what narrows the rule's rows is said again by a label's own `seen`. */
export function conditionsOf(
  { where }: Pick<OrderCount, 'where'>,
  { seen, hit }: LabelCount,
): { seen: string; hit: string } {
  const own = seen ?? where;
  if (own === undefined) return { seen: '1', hit };
  return { seen: own, hit: hit === '1' ? own : `(${own}) AND (${hit})` };
}

function indexOf(conditions: string[], condition: string): number {
  const known = conditions.indexOf(condition);
  return known === -1 ? conditions.push(condition) - 1 : known;
}

/** Conditions on anything but the code are asked of each item; the others of each code. */
const OF_ITEM = /\b(list_position|event_time|observed_at|span_start|channel|occurrence|source)\b/;
export const isOfCode = (condition: string): boolean => !OF_ITEM.test(condition);

/** SQL of a number with a bit for each condition that holds. */
export function bitsSql(
  conditions: readonly string[],
  isAsked: (condition: string) => boolean = () => true,
): string {
  const bits = conditions.flatMap((condition, bit) => {
    if (!isAsked(condition)) return [];
    return [
      condition === '1'
        ? `toUInt64(${bitOf(bit)})`
        : `if(ifNull(${condition}, 0), toUInt64(${bitOf(bit)}), toUInt64(0))`,
    ];
  });
  return bits.join(' + ') || 'toUInt64(0)';
}

/** The number that has this bit alone, as text: it can be larger than a number here holds exactly. */
export const bitOf = (bit: number): string => String(1n << BigInt(bit));
