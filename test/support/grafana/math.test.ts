import { expect, it } from 'vitest';
import { evaluateMath, type NumberSet } from './math.ts';

const one = (
  expression: string,
  variables: Record<string, number | null> = {},
): number | null | undefined => {
  const sets = Object.entries(variables).map(([name, value]): [string, NumberSet] => [
    name,
    [{ labels: {}, value }],
  ]);
  return evaluateMath(expression, new Map(sets))[0]?.value;
};

it.each([
  ['$as_of - 21600', 78_400],
  ['$affected / ($seen + ($seen == 0))', 0.3],
  ['$affected >= $limit', 1],
  ['$seen > 180', 0],
])('%s is %d', (expression, expected) => {
  expect(one(expression, { as_of: 100_000, affected: 12, seen: 40, limit: 5 })).toBe(expected);
});

it('joins sets on equal labels and drops what has no partner', () => {
  const a: NumberSet = [
    { labels: { gateway: 'x', stage: 'CHECK' }, value: 4 },
    { labels: { gateway: 'y', stage: 'CHECK' }, value: 4 },
    { labels: { gateway: 'z', stage: 'CHECK' }, value: 4 },
  ];
  const b: NumberSet = [
    { labels: { gateway: 'x', stage: 'CHECK' }, value: 3 },
    { labels: { gateway: 'y', stage: 'CHECK' }, value: 5 },
  ];
  const sets = new Map(Object.entries({ a, b }));
  expect(evaluateMath('$a >= $b', sets)).toEqual([
    { labels: { gateway: 'x', stage: 'CHECK' }, value: 1 },
    { labels: { gateway: 'y', stage: 'CHECK' }, value: 0 },
  ]);
});

it('has no value where one is missing', () => {
  expect(one('$a + 1', { a: null })).toBeNull();
});

it.each(['1 +', '(1', '1 2', '$a', 'abs(1)', '1 = 1', ''])('refuses "%s"', (expression) => {
  expect(() => one(expression)).toThrow();
});
