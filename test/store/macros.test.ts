import { describe, expect, it } from 'vitest';
import { expandMacros, expandVariables } from '../../store/macros.ts';

const context = { from: new Date(1_700_000_000_900), to: new Date(1_700_003_600_100), intervalMs: 90_500 };
const all = (sql: string): string => expandMacros(sql, context);

describe('macros of the ClickHouse plugin', () => {
  it.each([
    ['$__timeFilter(t)', 't >= toDateTime(1700000000) AND t <= toDateTime(1700003600)'],
    ['$__timeInterval(a.b)', 'toStartOfInterval(toDateTime(a.b), INTERVAL 90 second)'],
    ['$__timeInterval(f(a, b))', 'toStartOfInterval(toDateTime(f(a, b)), INTERVAL 90 second)'],
    ['x / $__interval_s', 'x / 90'],
    ['t < $__toTime AND t >= $__fromTime', 't < toDateTime(1700003600) AND t >= toDateTime(1700000000)'],
    ['least($__toTime, x)', 'least(toDateTime(1700003600), x)'],
  ])('%s', (sql, expected) => {
    expect(all(sql)).toBe(expected);
  });

  it('never makes a bucket narrower than a second', () => {
    expect(expandMacros('$__interval_s', { ...context, intervalMs: 10 })).toBe('1');
  });

  it.each(['$__nonsense(a)', '$__constructor', '$__timeFilter(t', '$gateway'])('leaves %s alone', (sql) => {
    expect(all(sql)).toBe(sql);
  });
});

describe('variables of panels', () => {
  const sql = "a AND $__conditionalAll(gateway IN (${gateway:singlequote}), $gateway) AND b IN (')', 1)";

  it('drop their condition when all is chosen, or nothing', () => {
    const dropped = "a AND 1=1 AND b IN (')', 1)";
    expect(expandVariables(sql, { gateway: 'all' })).toBe(dropped);
    expect(expandVariables(sql, {})).toBe(dropped);
  });

  it('list their values as quoted text, which nothing can escape', () => {
    expect(expandVariables(sql, { gateway: ['x', "o'neil", '\\'] })).toBe(
      "a AND gateway IN ('x','o\\'neil','\\\\') AND b IN (')', 1)",
    );
  });
});
