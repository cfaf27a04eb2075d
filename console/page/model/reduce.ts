import type { Field } from './fields.ts';
import { numbersOf } from './display.ts';

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** Grafana's reducers, over the numbers of a field; the one for single values also sees texts. */
const REDUCERS: Readonly<
  Record<string, (numbers: readonly number[], values: readonly unknown[]) => unknown>
> = {
  lastNotNull: (_, values) => values.findLast((value) => value !== null && value !== undefined) ?? null,
  min: (numbers) => (numbers.length === 0 ? null : numbers.reduce((a, b) => Math.min(a, b))),
  max: (numbers) => (numbers.length === 0 ? null : numbers.reduce((a, b) => Math.max(a, b))),
  mean: (numbers) => (numbers.length === 0 ? null : sum(numbers) / numbers.length),
  sum: (numbers) => (numbers.length === 0 ? null : sum(numbers)),
};

/** One value for a whole field; null for an empty one and for a reducer that the page does not know. */
export function reduce(field: Field, calc: string): unknown {
  const reducer = Object.hasOwn(REDUCERS, calc) ? REDUCERS[calc] : undefined;
  return reducer?.(numbersOf(field), field.values) ?? null;
}

const TITLES: Readonly<Record<string, string>> = {
  lastNotNull: 'Last',
  min: 'Min',
  max: 'Max',
  mean: 'Mean',
  sum: 'Total',
};
export const reducerTitle = (calc: string): string => TITLES[calc] ?? calc;
