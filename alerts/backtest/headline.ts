import type { Labels } from '../evaluate/alert-state.ts';
import type { Rule } from '../rules/rule.ts';

type Values = Readonly<Record<string, number | null>>;

/** What the condition compares: the value that a plot shows with its limit. */
export interface Headline {
  readonly value: 'affected' | 'number';
  /** It fires where the value is so, relative to the limit. */
  readonly fires: 'above' | 'below';
}

/** In a drop the orders that are counted are the affected ones. */
export const headlineOf = ({ kind }: Rule): Headline => ({
  value: kind === 'gauge' ? 'number' : 'affected',
  fires: kind === 'drop' ? 'below' : 'above',
});

/** What a rule compared: at one evaluation, or in a stretch of time of a plot. */
export interface Compared {
  readonly value: number;
  readonly limit: number;
}

export function comparedOf(rule: Rule, values: Values): Compared | null {
  const value = values[headlineOf(rule).value] ?? null;
  const limit = values['limit'] ?? null;
  return value === null || limit === null ? null : { value, limit };
}

/**
 * Of each of `columns` equal stretches of time the evaluation that came nearest to firing, or went furthest
 * beyond; null where there was none.
 */
export function nearest(
  compared: readonly (Compared | null)[],
  headline: Headline,
  evaluations: number,
  columns: number,
): (Compared | null)[] {
  return Array.from({ length: columns }, (_, column) => {
    const first = Math.floor((column * evaluations) / columns);
    const last = Math.max(first + 1, Math.floor(((column + 1) * evaluations) / columns));
    let best: Compared | null = null;
    for (const one of compared.slice(first, last)) {
      if (one === null) continue;
      if (best === null || nearness(one, headline) > nearness(best, headline)) best = one;
    }
    return best;
  });
}

/** How near to firing: 1 at the limit, 0 far away. */
export function nearness({ value, limit }: Compared, { fires }: Headline): number {
  if (fires === 'above') return limit > 0 ? Math.max(0, value / limit) : value > limit ? 2 : 0;
  // A limit below zero cannot be reached: too few orders are expected to judge.
  if (limit < 0) return 0;
  return value <= 0 ? 2 : limit / value;
}

/** A value as people read it: three digits that mean something. */
export const numberText = (value: number): string =>
  Number.isInteger(value) && Math.abs(value) < 1e6 ? String(value) : String(Number(value.toPrecision(3)));

export const labelsText = (labels: Labels): string =>
  Object.entries(labels)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}=${value}`)
    .join(' ') || '(no labels)';

/** The values that say something about an alert of this kind. */
export const valuesText = ({ kind }: Rule, values: Values): string =>
  VALUES_SHOWN[kind]
    .flatMap((name) => {
      const value = values[name] ?? null;
      return value === null ? [] : [`${name} ${numberText(value)}`];
    })
    .join(', ');
const VALUES_SHOWN: Readonly<Record<Rule['kind'], readonly string[]>> = {
  share: ['affected', 'limit', 'seen', 'share', 'expected'],
  drop: ['seen', 'limit', 'expected', 'share'],
  gauge: ['number', 'limit'],
};
