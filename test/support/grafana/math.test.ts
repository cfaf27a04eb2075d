import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluateMath, type NumberSet, refsOf } from './math.ts';

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

describe('math expressions', () => {
  it.each([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['2 ** 3 * 2', 16],
    ['10 - 4 - 3', 3],
    ['-2 ** 2', 4],
    ['7 % 4 / 2', 1.5],
    ['-1 - -6', 5],
    ['1 < 2 && 2 < 1 || 1', 1],
    ['!(1 > 2) && 3 >= 3', 1],
    ['1 == 1 != 0', 1],
    ['1.5e1 <= 15', 1],
    ['1 / 0', Number.POSITIVE_INFINITY],
  ])('%s is %d', (expression, expected) => {
    expect(one(expression)).toBe(expected);
  });

  it('agrees with JavaScript where the two languages mean the same', () => {
    const leaf = fc.integer({ min: 0, max: 20 }).map(String);
    const { tree } = fc.letrec<{ tree: string }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc
          .tuple(tie('tree'), fc.constantFrom('+', '-', '*'), tie('tree'))
          .map(([a, op, b]) => `(${a} ${op} ${b})`),
      ),
    }));
    fc.assert(
      fc.property(tree, (text) => {
        expect(one(text)).toBe(new Function(`return ${text}`)() as number);
      }),
    );
  });

  it('joins sets on equal labels and drops what has no partner', () => {
    const a: NumberSet = [
      { labels: { gateway: 'x', stage: 'CHECK' }, value: 0.4 },
      { labels: { gateway: 'y', stage: 'CHECK' }, value: 0.4 },
      { labels: { gateway: 'z', stage: 'CHECK' }, value: 0.4 },
    ];
    const b: NumberSet = [
      { labels: { gateway: 'x', stage: 'CHECK' }, value: 20 },
      { labels: { gateway: 'y', stage: 'CHECK' }, value: 2 },
    ];
    expect(
      evaluateMath(
        '($a > 0.1) && ($b >= 10)',
        new Map([
          ['a', a],
          ['b', b],
        ]),
      ),
    ).toEqual([
      { labels: { gateway: 'x', stage: 'CHECK' }, value: 1 },
      { labels: { gateway: 'y', stage: 'CHECK' }, value: 0 },
    ]);
  });

  it('keeps "no value" apart from NaN, and short circuits before NaN', () => {
    expect(one('$a + 1', { a: null })).toBeNull();
    expect(one('$a + 1', { a: Number.NaN })).toBeNaN();
    expect(one('0 && $a', { a: Number.NaN })).toBe(0);
    expect(one('1 || $a', { a: Number.NaN })).toBe(1);
  });

  it.each(['1 +', '(1', '1 2', '$a', 'abs(1)', '1 = 1', '', '&& 1'])('refuses "%s"', (expression) => {
    expect(() => one(expression)).toThrow();
  });

  it('names the refs it reads', () => {
    expect(refsOf('($share_low > 0.05) && (${affected} >= 10)')).toEqual(['share_low', 'affected']);
  });
});
