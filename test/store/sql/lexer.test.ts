import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { identifierName, tokenize } from '../../../store/sql/lexer.ts';
import { findOutputClause, withOutfile } from '../../../store/embedded/sql/output-clause.ts';
import { quoteIdentifier, quoteString } from '../../../store/sql/quote.ts';
import { parseDataType } from '../../../store/embedded/sql/data-type.ts';

const texts = (sql: string) => [...tokenize(sql)].map((token) => token.text);

function isFormat(name: string): boolean {
  return ['csv', 'json', 'values'].includes(name.toLowerCase());
}

describe('tokenize', () => {
  it.each([
    ["SELECT 'it''s \\' ;' AS x", ['SELECT', "'it''s \\' ;'", 'AS', 'x']],
    ['a--b\n+c #! d\n# e\n/* /* f */ */g', ['a', '+', 'c', 'g']],
    ['`a``b` "c\\"d"', ['`a``b`', '"c\\"d"']],
    ['$$ ; $$ $t$ $$ $t$ $', ['$$ ; $$', '$t$ $$ $t$', '$']],
    ['x1_$ 12ab 0.5', ['x1_$', '12ab', '0', '.', '5']],
    ["a 'open", ['a', "'open"]],
    ['a /* open', ['a', ' /* open']],
  ])('splits %j', (sql, expected) => {
    expect(texts(sql)).toEqual(expected);
  });

  it('takes a quoted text for one token, whatever is in it', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect([...tokenize(` ${quoteString(text)};`)].map((token) => token.kind)).toEqual([
          'string',
          'symbol',
        ]);
        const [token] = tokenize(quoteIdentifier(text));
        expect(identifierName(token)).toBe(text);
      }),
    );
  });

  it('gives tokens in order that lie in the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab1 \n-/*#\'"`\\;$().,\u00a0é') }), (sql) => {
        let end = 0;
        for (const token of tokenize(sql)) {
          expect(token.start).toBeGreaterThanOrEqual(end);
          expect(sql.slice(token.start, token.end)).toBe(token.text);
          expect(token.end).toBeGreaterThan(token.start);
          end = token.end;
        }
      }),
    );
  });
});

describe('findOutputClause', () => {
  it.each([
    ['SELECT 1 FORMAT JSON', 'JSON', 'SELECT 1 '],
    ['SELECT 1 format csv;', 'csv', 'SELECT 1 '],
    ['SELECT 1 FORMAT CSV SETTINGS a = 1', 'CSV', 'SELECT 1 '],
    ['SELECT 1 -- FORMAT JSON', null, 'SELECT 1'],
    ["SELECT 'FORMAT JSON'", null, "SELECT 'FORMAT JSON'"],
    ['SELECT 1 AS format ORDER BY format DESC ;;', null, 'SELECT 1 AS format ORDER BY format DESC'],
    ['SELECT * FROM (SELECT 1 FORMAT JSON)', null, 'SELECT * FROM (SELECT 1 FORMAT JSON)'],
    ['SELECT format FORMAT JSON', 'JSON', 'SELECT format '],
  ])('finds it in %j', (sql, format, before) => {
    const clause = findOutputClause(sql, isFormat);
    expect([clause.format, sql.slice(0, clause.insertAt)]).toEqual([format, before]);
  });

  it('gives the place for INTO OUTFILE', () => {
    const sql = 'SELECT 1 FORMAT JSON SETTINGS a = 1';
    const text = withOutfile(sql, findOutputClause(sql, isFormat), "a'b", 'CSV');
    expect(texts(text).join(' ')).toBe(
      "SELECT 1 INTO OUTFILE 'a\\'b' COMPRESSION 'none' FORMAT JSON SETTINGS a = 1",
    );
    const bare = 'SELECT 1 -- x';
    expect(texts(withOutfile(bare, findOutputClause(bare, isFormat), 'f', 'CSV')).slice(-2)).toEqual([
      'FORMAT',
      'CSV',
    ]);
  });
});

describe('parseDataType', () => {
  it.each([
    ['UInt8', 'UInt8', 0],
    ["DateTime64(6, 'Europe/Berlin')", 'DateTime64', 0],
    ["Enum8('a, (b' = 1, 'c' = -2)", 'Enum8', 0],
    ['Map(String, Array(Nullable(Decimal(18, 2))))', 'Map', 2],
    ['Tuple(a UInt8, `b c` Nullable(String), String)', 'Tuple', 3],
    ['LowCardinality(String)', 'LowCardinality', 1],
  ])('reads %s', (text, name, children) => {
    const type = parseDataType(text);
    expect([type?.name, type?.children.length]).toEqual([name, children]);
  });

  it.each(['', 'Array(', 'Array(UInt8', 'A)', '1'])('refuses %j', (text) => {
    expect(parseDataType(text)).toBeNull();
  });
});
