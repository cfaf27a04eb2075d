import { describe, expect, it } from 'vitest';
import type { FunctionRules } from '../../../../store/embedded/reader/function-rules.ts';
import { judgeText } from '../../../../store/embedded/reader/judge.ts';

/**
 * An engine whose only functions that a reader may use are `f` and, as a table, `t`; `bad` is a function of
 * its.
 */
const rules: FunctionRules = {
  meant: (name) => name.toLowerCase(),
  mayCall: (name) => name === 'f',
  mayName: (name) => name !== 'bad',
  mayCallAsTable: (name) => name === 't',
};
const refusal = (text: string): string | null => {
  const judged = judgeText(text, rules);
  return 'refused' in judged ? judged.refused : null;
};

const KEYWORDS = `
  ALL AND ANY AS ASC BY CUBE DESC DISTINCT EXCEPT EXISTS FILTER FROM HAVING IN INTERPOLATE INTERSECT JOIN LIKE ILIKE
  LIMIT MATERIALIZED NOT OFFSET ON OR OVER PREWHERE QUALIFY RECURSIVE REPLACE ROLLUP SELECT SETS STEP STRICT TABLE THEN
  TO UNION USING WHEN WHERE WITH BETWEEN IS NULL ELSE SAMPLE COLUMNS`;
const TYPES = `
  Int8 Int16 Int32 Int64 Int128 Int256 UInt8 UInt16 UInt32 UInt64 UInt128 UInt256 Float32 Float64 BFloat16 Decimal
  Decimal32 Decimal64 Decimal128 Decimal256 String FixedString Date Date32 DateTime DateTime32 DateTime64 Bool UUID IPv4
  IPv6 Enum Enum8 Enum16 Array Tuple Map Nullable LowCardinality`;
const OTHER_TYPES = `
  Identifier JSON AggregateFunction Int Int7 XInt8 Int8x Float Float16 Decimal512 Date64 DateTime128 IPv5 Enum32
  xString Stringx identifier Array2`;
const listed = (text: string): string[] => text.trim().split(/\s+/);

describe('judgeText', () => {
  it('gives the parts of a statement', () => {
    expect(judgeText('SELECT f({a:UInt8}) SETTINGS b = 1 FORMAT CSV', rules)).toEqual({
      kind: 'select',
      sql: 'SELECT f({a:UInt8})',
      treeSql: 'SELECT f(NULL)',
      format: 'CSV',
      settings: [['b', '1']],
    });
  });

  it.each(listed(KEYWORDS))('takes %s in front of a parenthesis for a keyword', (word) => {
    expect(refusal(`SELECT a ${word} (1)`)).toBeNull();
    expect(refusal(`SELECT a \`${word}\` (1)`)).toBe(`the function ${word}`);
  });

  it.each(listed(TYPES))('takes a parameter of type %s', (type) => {
    expect(refusal(`SELECT {a:${type}}, {b:Array(${type})}`)).toBeNull();
  });

  it.each(listed(OTHER_TYPES))('takes no parameter of type %s', (type) => {
    expect(refusal(`SELECT {a:${type}}`)).toBe(`a parameter of type ${type}`);
    expect(refusal(`SELECT {a:Array(${type})}`)).toBe(`a parameter of type ${type}`);
  });

  it.each([
    'SELECT f(1)',
    'SELECT `f`(1)',
    'SELECT * FROM t(1)',
    'SELECT a AS bad',
    'SELECT a.bad',
    'SELECT a AS `bad`',
    "SELECT 'bad(1)'",
    'SELECT OUTFILE',
    'SELECT INTO',
    'SELECT a.OUTFILE',
    'SELECT OUTFILE INTO',
    'SELECT `APPLY`',
    'SELECT {bad:UInt8}',
    "SELECT {a:Enum8('x' = 1)}, b",
    'SELECT SETTINGS',
    'SELECT SETTINGS, a = 1',
    'SELECT `SETTINGS` a = 1',
    'SELECT orders, `a b`, stored',
  ])('lets pass %s', (text) => {
    expect(refusal(text)).toBeNull();
  });

  it.each([
    ['SELECT "a"', 'this statement: its text is not in the form that is judged'],
    ['DROP TABLE a', 'the statement DROP'],
    ['SELECT g(1)', 'the function g'],
    ['SELECT a.g(1)', 'the function g'],
    ['SELECT a AS g(1)', 'the function g'],
    ['SELECT `g`(1)', 'the function g'],
    ['SELECT bad', 'the name bad'],
    ['SELECT `bad`', 'the name bad'],
    ['SELECT `AS` bad', 'the name bad'],
    ['SELECT {a:UInt8}, bad', 'the name bad'],
    ['SELECT {a:UInt8}, {b:UInt8}, g(1)', 'the function g'],
    ['SELECT 1 INTO OUTFILE 1', 'INTO OUTFILE'],
    ['SELECT * APPLY(f)', 'APPLY'],
    ['SELECT * APPLY f', 'APPLY'],
    ['SELECT (SELECT 1 SETTINGS a = 1)', 'this SETTINGS clause'],
    ['SELECT a.SETTINGS b = 1 + 1', 'this SETTINGS clause'],
    ['SELECT orders_store', 'the table orders_store'],
    ['SELECT a.orders_store', 'the table orders_store'],
    ['SELECT a AS orders_store', 'the table orders_store'],
    ['SELECT `a.orders_store.b`', 'the table a.orders_store.b'],
    ['SELECT `a\\nb_store`', 'the table a?b_store'],
    ['SELECT `é_store`', 'the table ?_store'],
    ['SELECT `~ _store`', 'the table ~ _store'],
    [`SELECT ${'a'.repeat(70)}(1)`, `the function ${'a'.repeat(64)}`],
    ['SELECT {1:UInt8}', 'braces'],
    ['SELECT {a}', 'braces'],
    ['SELECT {}', 'braces'],
    ["SELECT {'a':1}", 'braces'],
    ['SELECT {a, b}', 'braces'],
    ['SELECT {a:`UInt8`}', 'a parameter of type UInt8'],
    ['SELECT {a:UInt8}, {b:Identifier}', 'a parameter of type Identifier'],
    ['SELECT {a:UInt8} {b}', 'braces'],
  ])('refuses %s', (text, reason) => {
    expect(refusal(text)).toBe(reason);
  });
});
