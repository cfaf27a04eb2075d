import type { ProvisionedRule } from '../evaluate/rule-file.ts';
import type { InstanceReplay } from './replay.ts';

/**
 * What the condition compares: the value that a plot shows, and its limit, which may differ from instant to
 * instant.
 */
export interface Headline {
  readonly value: string;
  readonly limit: string | number;
  /** It fires where the value is so, relative to the limit. */
  readonly fires: 'above' | 'below';
}

const COMPARED = /\$\{?(\w+)\}?\s*(>=|<=|>|<)\s*(?:\$\{?(\w+)\}?|(-?\d+(?:\.\d+)?))/;

/** The first comparison among the rule's expressions; null when there is none. */
export function headlineOf(rule: ProvisionedRule): Headline | null {
  for (const { model } of rule.data) {
    if ('rawSql' in model || model.type === 'reduce') continue;
    if (model.type === 'math') {
      const [, value, sign, ref, number] = COMPARED.exec(model.expression) ?? [];
      if (value === undefined) continue;
      return {
        value,
        limit: ref ?? Number(number),
        fires: sign?.startsWith('<') === true ? 'below' : 'above',
      };
    }
    const evaluator = model.conditions[0]?.evaluator;
    const isQuery = rule.data.some((node) => node.refId === model.expression && 'rawSql' in node.model);
    if (isQuery && evaluator !== undefined)
      return {
        value: model.expression,
        limit: evaluator.params[0] ?? 0,
        fires: evaluator.type.startsWith('lt') ? 'below' : 'above',
      };
  }
  return null;
}

/** One stretch of time in a plot. */
export interface Stretch {
  readonly value: number;
  readonly limit: number;
}

/**
 * Of each of `columns` equal stretches of time the evaluation that came nearest to firing, or went furthest
 * beyond; null where there was none.
 */
export function nearest(
  instance: InstanceReplay,
  headline: Headline,
  evaluations: number,
  columns: number,
): (Stretch | null)[] {
  return Array.from({ length: columns }, (_, column) => {
    const first = Math.floor((column * evaluations) / columns);
    const last = Math.max(first + 1, Math.floor(((column + 1) * evaluations) / columns));
    let best: Stretch | null = null;
    for (const values of instance.values.slice(first, last)) {
      const value = values?.[headline.value];
      const limit = typeof headline.limit === 'number' ? headline.limit : values?.[headline.limit];
      if (!isNumber(value) || !isNumber(limit)) continue;
      const one = { value, limit };
      if (best === null || nearness(one, headline) > nearness(best, headline)) best = one;
    }
    return best;
  });
}

/** How near to firing: 1 at the limit, 0 far away. */
export function nearness({ value, limit }: Stretch, { fires }: Headline): number {
  if (fires === 'above') return limit > 0 ? Math.max(0, value / limit) : value > limit ? 2 : 0;
  // A limit below zero cannot be reached: too few orders are expected to judge.
  if (limit < 0) return 0;
  return value <= 0 ? 2 : limit / value;
}

const isNumber = (value: number | null | undefined): value is number =>
  value !== null && value !== undefined && Number.isFinite(value);

/** A value as people read it: three digits that mean something. */
export const numberText = (value: number): string =>
  Number.isInteger(value) && Math.abs(value) < 1e6 ? String(value) : String(Number(value.toPrecision(3)));

export const labelsText = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ') || '(no labels)';

/** The values that say something about an alert: not the ones that only carry instants or truth. */
export const valuesText = (values: Readonly<Record<string, number | null>>): string =>
  Object.entries(values)
    .flatMap(([name, value]) =>
      value === null || INTERNAL.has(name) ? [] : [`${name} ${numberText(value)}`],
    )
    .join(', ');
const INTERNAL: ReadonlySet<string> = new Set(['breach', 'firing', 'as_of', 'window_from', 'window_to']);
