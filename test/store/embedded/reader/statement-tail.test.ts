import { describe, expect, it } from 'vitest';
import { readTokens } from '../../../../store/embedded/reader/canonical-tokens.ts';
import { withoutParameters } from '../../../../store/embedded/reader/canonical-tokens.ts';
import { takeTail } from '../../../../store/embedded/reader/statement-tail.ts';

function tailOf(text: string): { body: string; format: string | null; settings: unknown } {
  const { body, format, settings } = takeTail(readTokens(text) ?? []);
  return { body: text.slice(0, body.at(-1)?.end ?? 0), format, settings };
}

describe('takeTail', () => {
  it.each([
    ['SELECT 1', 'SELECT 1', null, []],
    ['SELECT 1 FORMAT JSON', 'SELECT 1', 'JSON', []],
    ['SELECT FORMAT JSON', 'SELECT', 'JSON', []],
    ['SELECT 1 FORMAT `Null`', 'SELECT 1', 'Null', []],
    ['SELECT 1 SETTINGS a = 1', 'SELECT 1', null, [['a', '1']]],
    ['SELECT 1 SETTINGS a = 1 FORMAT CSV', 'SELECT 1', 'CSV', [['a', '1']]],
    ['SELECT 1 FORMAT CSV SETTINGS b = 2', 'SELECT 1', 'CSV', [['b', '2']]],
    ['SELECT 1 SETTINGS a = 1 FORMAT CSV SETTINGS b = 2, c = 3', 'SELECT 1', 'CSV', [['a', '1'], ['b', '2'], ['c', '3']]],
    ["SELECT 1 SETTINGS a = 'x y', b = true, c = `q`", 'SELECT 1', null, [['a', 'x y'], ['b', 'true'], ['c', 'q']]],
    ['SELECT 1 SETTINGS a = -1, b = 1.5', 'SELECT 1', null, [['a', '-1'], ['b', '1.5']]],
    ["SELECT 1 SETTINGS a = {'b':'c'}", 'SELECT 1', null, [['a', "{'b':'c'}"]]],
    ["SELECT 1 SETTINGS a = {'b' : 'it\\'s', 'd':'e'}, f = 1", 'SELECT 1', null, [['a', "{'b':'it\\'s','d':'e'}"], ['f', '1']]],
    ['SELECT 1 SETTINGS a = {}', 'SELECT 1', null, [['a', '{}']]],
    ['SELECT (SELECT 1 SETTINGS a = 1) SETTINGS b = 2', 'SELECT (SELECT 1 SETTINGS a = 1)', null, [['b', '2']]],
  ])('%s', (text, body, format, settings) => {
    expect(tailOf(text)).toEqual({ body, format, settings });
  }); // prettier-ignore

  it.each([
    'SETTINGS a = 1',
    'FORMAT JSON',
    "SELECT 1 FORMAT 'JSON'",
    'SELECT 1 FORMAT 1',
    'SELECT 1 `FORMAT` JSON',
    'SELECT 1 SETTINGS',
    'SELECT 1 SETTINGS a',
    'SELECT 1 SETTINGS a =',
    'SELECT 1 SETTINGS a 1',
    'SELECT 1 SETTINGS a = 1 b = 2',
    'SELECT 1 SETTINGS a = 1 + 1',
    'SELECT 1 SETTINGS a = 1 + b = 2',
    'SELECT 1 SETTINGS a = 1, b',
    'SELECT 1 SETTINGS `a` = 1',
    'SELECT 1 SETTINGS 1 = 1',
    "SELECT 1 SETTINGS a = -'1'",
    'SELECT 1 SETTINGS a = -',
    'SELECT 1 SETTINGS a = +1',
    'SELECT 1 SETTINGS a = (1)',
    'SELECT 1 SETTINGS a = f(1)',
    "SELECT 1 SETTINGS a = {'b'}",
    "SELECT 1 SETTINGS a = {'b':c}",
    "SELECT 1 SETTINGS a = {b:'c'}",
    "SELECT 1 SETTINGS a = {'b','c'}",
    'SELECT 1 `SETTINGS` a = 1',
    '(SELECT 1 SETTINGS a = 1)',
  ])('leaves %s as it is', (text) => {
    expect(tailOf(text)).toEqual({ body: text, format: null, settings: [] });
  });

  it('leaves a clause whose map has no end', () => {
    const tokens = (readTokens("SELECT 1 SETTINGS a = {'b':'c'}") ?? []).slice(0, -1);
    expect(takeTail(tokens)).toEqual({ body: tokens, format: null, settings: [] });
  });

  it('takes no settings in front of a format that is not there', () => {
    expect(tailOf('SELECT 1 SETTINGS a = 1 SETTINGS b = 2')).toEqual({
      body: 'SELECT 1 SETTINGS a = 1',
      format: null,
      settings: [['b', '2']],
    });
  });
});

describe('withoutParameters', () => {
  it.each([
    ['SELECT 1', 'SELECT 1'],
    ['SELECT {a:UInt8}', 'SELECT NULL'],
    ["SELECT {a:Array(String)} + 1, '{b}', {c:Enum8('x' = 1)} AS d", "SELECT NULL + 1, '{b}', NULL AS d"],
  ])('%s', (sql, without) => {
    expect(withoutParameters(sql, readTokens(sql) ?? [])).toBe(without);
  });
});
