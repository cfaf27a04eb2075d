import type { Field } from './fields.ts';
import { numbersOf } from './display.ts';

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
const sorted = (numbers: readonly number[]): number[] => numbers.toSorted((a, b) => a - b);

/** Grafana's reducers, over the numbers of a field; the ones for single values also see texts. */
const REDUCERS: Readonly<
  Record<string, (numbers: readonly number[], values: readonly unknown[]) => unknown>
> = {
  lastNotNull: (_, values) => values.findLast((value) => value !== null && value !== undefined) ?? null,
  last: (_, values) => values.at(-1) ?? null,
  firstNotNull: (_, values) => values.find((value) => value !== null && value !== undefined) ?? null,
  first: (_, values) => values[0] ?? null,
  min: (numbers) => (numbers.length === 0 ? null : numbers.reduce((a, b) => Math.min(a, b))),
  max: (numbers) => (numbers.length === 0 ? null : numbers.reduce((a, b) => Math.max(a, b))),
  mean: (numbers) => (numbers.length === 0 ? null : sum(numbers) / numbers.length),
  median: (numbers) => {
    const ordered = sorted(numbers);
    const middle = Math.floor(ordered.length / 2);
    const high = ordered[middle] ?? null;
    return ordered.length % 2 === 1 || high === null ? high : ((ordered[middle - 1] ?? 0) + high) / 2;
  },
  sum: (numbers) => (numbers.length === 0 ? null : sum(numbers)),
  count: (_, values) => values.length,
  range: (numbers) =>
    numbers.length === 0
      ? null
      : numbers.reduce((a, b) => Math.max(a, b)) - numbers.reduce((a, b) => Math.min(a, b)),
  diff: (numbers) => (numbers.length === 0 ? null : (numbers.at(-1) ?? 0) - (numbers[0] ?? 0)),
};

/** One value for a whole field; null for an empty one and for a reducer that the page does not know. */
export function reduce(field: Field, calc: string): unknown {
  const reducer = Object.hasOwn(REDUCERS, calc) ? REDUCERS[calc] : undefined;
  return reducer?.(numbersOf(field), field.values) ?? null;
}

const TITLES: Readonly<Record<string, string>> = {
  lastNotNull: 'Last',
  last: 'Last',
  firstNotNull: 'First',
  first: 'First',
  min: 'Min',
  max: 'Max',
  mean: 'Mean',
  median: 'Median',
  sum: 'Total',
  count: 'Count',
  range: 'Range',
  diff: 'Difference',
};
export const reducerTitle = (calc: string): string => TITLES[calc] ?? calc;
