import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { view } from '../../schemas/measures.ts';
import { type SeededStore, startSeededStore } from '../support/seed-store.ts';
import { type Comparison, compareWithEngine } from './equality.ts';
import { classesFromEngine } from './runs.ts';
import { simulate } from './simulate.ts';
import { createTwins, type Twin } from './twins.ts';

let store: SeededStore;
let twins: Twin[];
let comparisons: Comparison[];

beforeAll(async () => {
  const months = simulate({ seed: 'equality', ordersPerMinute: 1, weeks: 20 });
  twins = createTwins(months, await classesFromEngine());
  store = await startSeededStore();
  const within = (name: string, after: number): number[] =>
    months.incidents
      .filter(({ kind, form }) => kind.name === name && form === 'severe')
      .slice(0, 1)
      .map(({ start }) => start + after);
  const instants = [
    ...within('traffic drop', 90),
    ...within('gateway does not answer us', 20),
    months.minutes - 77,
  ];
  expect(instants).toHaveLength(3);
  comparisons = await compareWithEngine({ store, months, twins, instants });
});
afterAll(() => store.stop());

describe('the twins that the lab evaluates', () => {
  it('give the numbers that the pass of the product gives on the real engine', () => {
    expect(comparisons.length).toBeGreaterThan(300);
    expect(comparisons.filter(({ equal }) => !equal)).toEqual([]);
  });

  it('were compared with rows that say order type, channel and currency', async () => {
    const { data } = await store.query(
      `SELECT order_type, uniqExact(channel) AS channels, uniqExact(currency) AS currencies, countIf(currency IS NULL OR channel = '') AS without
      FROM ${view('orders')} GROUP BY order_type ORDER BY order_type`,
    );
    expect(data.map((row) => row['order_type'])).toEqual(['Deposit', 'Withdrawal']);
    for (const row of data) {
      expect(Number(row['channels'])).toBeGreaterThan(1);
      expect(Number(row['currencies'])).toBeGreaterThan(1);
      expect(Number(row['without'])).toBe(0);
    }
  });

  it('say quickly what they say at length', () => {
    const holding = twins.filter(({ holds, verdict }) => {
      let some = false;
      for (let at = 60_000; at < 190_000; at += 97) {
        const held = holds(at);
        expect(held).toBe(verdict(at).holds);
        some ||= held;
      }
      return some;
    });
    expect(holding.length).toBeGreaterThan(10);
  });

  it('were compared where it matters: with orders, expectations and a breach', () => {
    const some = (value: string, test: (one: Comparison) => boolean) =>
      comparisons.some((one) => one.value === value && test(one));
    expect(some('affected', ({ engine }) => engine > 0)).toBe(true);
    expect(some('expected', ({ engine }) => engine > 5)).toBe(true);
    expect(some('limit', ({ rule, engine }) => rule === 'GatewatchTrafficDrop' && engine > 0)).toBe(true);
    expect(some('number', ({ rule, engine }) => rule === 'GatewatchPictureBehind' && engine > 300)).toBe(
      true,
    );
  });
});
