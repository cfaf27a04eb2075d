/**
 * Which slices of the orders explain an incident: of their channels, currencies and so on, those that are
 * affected more than all others, beyond chance. Pure: counts come in, slices go out.
 */

/** By what orders are distinguished before anything happens to them. */
export const WHERE = ['channel', 'order_type', 'currency', 'amount_band', 'age'] as const;
/**
 * What happened to them: only affected orders have it, so it is compared with the time before. Of the same
 * orders the reason says more than the stage, and comes first.
 */
export const WHAT = ['reason', 'stage'] as const;
export type Dimension = (typeof WHERE)[number] | (typeof WHAT)[number];

/** Orders that are alike in every dimension. */
export interface Cell {
  /** '' where it is not known. */
  readonly values: Readonly<Record<Dimension, string>>;
  /** Orders in the window. */
  readonly seen: number;
  readonly affected: number;
  /** Orders in a window of the same length just before it. */
  readonly seenBefore: number;
  readonly affectedBefore: number;
}

/** `affected` of `seen` orders. Of a drop: so many orders after `seen` in the time before. */
export interface Count {
  readonly seen: number;
  readonly affected: number;
}

export interface Slice extends Count {
  readonly dimension: Dimension;
  readonly value: string;
  /**
   * What it is compared with: the other orders whose value is known, or for a stage or reason all orders of
   * the time before. Orders of slices that were named before it are left out of both.
   */
  readonly against: Count & { readonly of: 'rest' | 'before' };
  /** How many orders more are affected (of a drop: fewer have come) than at the share of the others. */
  readonly explained: number;
}

export interface Question {
  readonly kind: 'share' | 'drop';
  /** How many orders too many are affected, or are missing. */
  readonly excess: number;
  /** Stage and reason are of interest unless the rule fixes them. */
  readonly what: readonly (typeof WHAT)[number][];
}

const MOST_SLICES = 3;
/** What is less is not worth the place in a page. */
export const LEAST_PART = 0.2;
export const LEAST_ORDERS = 5;
/** A slice that explains this part of what a wider one does, of the same orders, says more. */
const AS_GOOD = 0.8;
/** Affected orders that two slices of "the same orders" have in common. */
const SAME = 0.9;
/** With fewer orders to compare with, no share of theirs means anything. */
export const LEAST_AGAINST = 10;
/** Standard deviations that chance is allowed: dozens of slices are compared. */
export const Z = 4;

/**
 * The slices that explain at least a fifth of the excess each, at most three: first where it is, then what it
 * is, each by how much they explain. Of the same orders the narrowest slice is named (171 of 171 orders of a
 * channel rather than 174 of all deposits), and the others, which explain nothing more, are left out. None:
 * nothing stands out.
 */
export function standOut(cells: readonly Cell[], { kind, excess, what }: Question): Slice[] {
  const where = (some: readonly Cell[], dimension: Dimension, value: string): Slice =>
    againstRest(some, dimension, value, kind);
  const slices = [
    ...best(cells, kind === 'drop' ? WHERE.filter((one) => one !== 'age') : WHERE, where, kind, excess),
    ...best(cells, kind === 'drop' ? [] : what, againstBefore, kind, excess),
  ];
  return slices.slice(0, MOST_SLICES);
}

type Compare = (cells: readonly Cell[], dimension: Dimension, value: string) => Slice;

function best(
  cells: readonly Cell[],
  dimensions: readonly Dimension[],
  compare: Compare,
  kind: Question['kind'],
  excess: number,
): Slice[] {
  const found: Slice[] = [];
  for (let left = cells; found.length < MOST_SLICES;) {
    const slices = dimensions
      .flatMap((dimension) => valuesOf(left, dimension).map((value) => compare(left, dimension, value)))
      .filter((slice) => slice.explained >= LEAST_PART * excess && isBeyondChance(slice, kind));
    const [most] = slices.toSorted((a, b) => b.explained - a.explained);
    if (most === undefined) break;
    const first = narrowest(left, most, slices);
    found.push(first);
    left = left.filter(({ values }) => values[first.dimension] !== first.value);
  }
  return found;
}

/** The narrowest slice of the same affected orders that explains about as much. */
function narrowest(cells: readonly Cell[], most: Slice, slices: readonly Slice[]): Slice {
  const has = ({ dimension, value }: Slice) => {
    return ({ values }: Cell): boolean => values[dimension] === value;
  };
  const within = cells.filter(has(most));
  const isNarrower = (slice: Slice): boolean =>
    slice.seen < most.seen &&
    slice.explained >= AS_GOOD * most.explained &&
    sum(within.filter(has(slice)), 'affected') >= SAME * sum(cells.filter(has(slice)), 'affected');
  return slices.filter(isNarrower).toSorted((a, b) => a.seen - b.seen)[0] ?? most;
}

const valuesOf = (cells: readonly Cell[], dimension: Dimension): string[] =>
  [...new Set(cells.map(({ values }) => values[dimension]))].filter((value) => value !== '').toSorted();

/**
 * A part against the other orders of which the value is known: of others it may be unknown because they are
 * affected.
 */
function againstRest(
  cells: readonly Cell[],
  dimension: Dimension,
  value: string,
  kind: Question['kind'],
): Slice {
  const count = kind === 'drop' ? countDrop : countShare;
  const own = count(cells.filter(({ values }) => values[dimension] === value));
  const rest = count(cells.filter(({ values }) => ![value, ''].includes(values[dimension])));
  const usual = own.seen * shareOf(rest);
  const explained = kind === 'drop' ? usual - own.affected : own.affected - usual;
  return { dimension, value, ...own, against: { of: 'rest', ...rest }, explained };
}

/** How many orders failed so, out of all, against the same out of all in the time before. */
function againstBefore(cells: readonly Cell[], dimension: Dimension, value: string): Slice {
  const own = cells.filter(({ values }) => values[dimension] === value);
  const now = { seen: sum(cells, 'seen'), affected: sum(own, 'affected') };
  const before = { seen: sum(cells, 'seenBefore'), affected: sum(own, 'affectedBefore') };
  const explained = now.affected - now.seen * shareOf(before);
  return { dimension, value, ...now, against: { of: 'before', ...before }, explained };
}

const countShare = (cells: readonly Cell[]): Count => ({
  seen: sum(cells, 'seen'),
  affected: sum(cells, 'affected'),
});
const countDrop = (cells: readonly Cell[]): Count => ({
  seen: sum(cells, 'seenBefore'),
  affected: sum(cells, 'seen'),
});

/** Two proportions that differ by so many standard deviations of what chance does to them. */
function isBeyondChance({ seen, affected, against, explained }: Slice, kind: Question['kind']): boolean {
  if (explained < LEAST_ORDERS || against.seen < LEAST_AGAINST) return false;
  if (kind === 'share') return affected >= LEAST_ORDERS && zOf({ seen, affected }, against) >= Z;
  // Of all orders of both times, those that came in the time before: a count can grow, a part cannot.
  const before = (count: Count): Count => ({ seen: count.seen + count.affected, affected: count.seen });
  return zOf(before({ seen, affected }), before(against)) >= Z;
}

function zOf(a: Count, b: Count): number {
  const pooled = (a.affected + b.affected) / (a.seen + b.seen);
  const deviation = Math.sqrt(pooled * (1 - pooled) * (1 / a.seen + 1 / b.seen));
  return deviation === 0 ? 0 : (shareOf(a) - shareOf(b)) / deviation;
}

/** 0..1; of a drop it can be more. 0 without orders. */
export const shareOf = ({ seen, affected }: Count): number => (seen === 0 ? 0 : affected / seen);

const sum = (cells: readonly Cell[], count: Exclude<keyof Cell, 'values'>): number =>
  cells.reduce((total, cell) => total + cell[count], 0);
