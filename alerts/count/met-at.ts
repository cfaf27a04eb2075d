import type { CountingRule } from '../rules/rule.ts';
import { conditionsOf, type OrderSource } from './order-count.ts';
import type { LatestOf } from './order-facts.ts';

/** Of each order an array: the latest instant at which it met each condition of some rules, each once. */
export interface MetAt {
  /** For `orderFacts`: the column `met_at`. */
  readonly columns: (latest: LatestOf) => string;
  /** Places in the array for a label, once the column is made. */
  readonly placesOf: (rule: CountingRule, label: string) => { readonly seen: number; readonly hit: number };
  /** What the rules count from, each source once. */
  readonly sources: readonly [OrderSource, ...OrderSource[]];
}

/** What some rules count from, each source once. */
export const sourcesOfRules = (
  rules: readonly [CountingRule, ...CountingRule[]],
): [OrderSource, ...OrderSource[]] =>
  [...new Map(rules.map(({ count }) => [JSON.stringify(count.from), count.from])).values()] as [
    OrderSource,
    ...OrderSource[],
  ];

export function metAt(rules: readonly [CountingRule, ...CountingRule[]]): MetAt {
  const instants: string[] = [];
  const placeOf = (instant: string): number => {
    const place = instants.indexOf(instant);
    return place === -1 ? instants.push(instant) - 1 : place;
  };
  const places = new Map<string, { readonly seen: number; readonly hit: number }>();
  return {
    sources: sourcesOfRules(rules),
    columns(latest) {
      for (const { name, count } of rules)
        for (const label of count.counts) {
          const { seen, hit } = conditionsOf(count, label);
          places.set(`${name}|${label.label}`, {
            seen: placeOf(latest(count.from, seen)),
            hit: placeOf(latest(count.from, hit)),
          });
        }
      return `[${instants.join(', ')}] AS met_at`;
    },
    placesOf: ({ name }, label) => places.get(`${name}|${label}`) ?? { seen: -1, hit: -1 },
  };
}
