import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readInsert } from '../../../../store/embedded/sql/insert-statement.ts';
import { quoteIdentifier } from '../../../../store/sql/quote.ts';

describe('readInsert', () => {
  it.each([
    ['INSERT INTO t FORMAT CSV\n1', 'INSERT INTO t', '', 'CSV', '1'],
    [
      'insert into table db.t (a, b) format JSONEachRow {"a":1}',
      'insert into table db.t (a, b)',
      '',
      'JSONEachRow',
      '{"a":1}',
    ],
    ['INSERT INTO t VALUES (1)', 'INSERT INTO t', '', 'Values', ' (1)'],
    [
      'INSERT INTO format (values, format) VALUES(1)',
      'INSERT INTO format (values, format)',
      '',
      'Values',
      '(1)',
    ],
    ['INSERT INTO table.t FORMAT CSV 1', 'INSERT INTO table.t', '', 'CSV', '1'],
    ["INSERT INTO t SETTINGS a = 1, b = 'x' FORMAT CSV\r\n1", 'INSERT INTO t', "a = 1, b = 'x'", 'CSV', '1'],
    ['INSERT INTO t FORMAT CSV SETTINGS a = -0.5\n1', 'INSERT INTO t', 'a = -0.5', 'CSV', '1'],
    [
      "INSERT INTO FUNCTION f('a', (1)) (x) FORMAT TSV\n1",
      "INSERT INTO FUNCTION f('a', (1)) (x)",
      '',
      'TSV',
      '1',
    ],
    ['/* c */ INSERT -- d\n INTO t(*) FORMAT CSV\n\n1', 'INSERT -- d\n INTO t(*)', '', 'CSV', '\n1'],
  ])('takes %j apart', (sql, target, settings, format, data) => {
    const insert = readInsert(sql);
    expect(insert).toMatchObject({ kind: 'inline', target, settings, format });
    expect(insert.kind === 'inline' && sql.slice(insert.dataStart)).toBe(data);
  });

  it.each([
    ['SELECT 1', 'other'],
    ['', 'other'],
    ['INSERT INTO t SELECT 1', 'complete'],
    ['INSERT INTO t (a) WITH 1 AS x SELECT x', 'complete'],
    ['INSERT INTO t (SELECT 1)', 'complete'],
    ["INSERT INTO t FROM INFILE 'x' FORMAT CSV", 'complete'],
    ['INSERT INTO t (a)', 'no-source'],
    ['INSERT t VALUES (1)', 'unreadable'],
    ['INSERT INTO t PARTITION BY a VALUES (1)', 'unreadable'],
    ["INSERT INTO 't' VALUES (1)", 'unreadable'],
    ['INSERT INTO t (a VALUES (1)', 'unreadable'],
    ['INSERT INTO t SETTINGS VALUES (1)', 'unreadable'],
    ['INSERT INTO t FORMAT', 'unreadable'],
    ['INSERT INTO t; DROP TABLE t', 'unreadable'],
  ])('knows %j for %s', (sql, kind) => {
    expect(readInsert(sql).kind).toBe(kind);
  });

  it('begins the rows where they begin, whatever they and the names hold', () => {
    const header = fc.record({
      table: fc.string({ minLength: 1 }),
      column: fc.string({ minLength: 1 }),
      comment: fc.stringMatching(/^[^*/]*$/),
      data: fc.string(),
    });
    fc.assert(
      fc.property(header, ({ table, column, comment, data }) => {
        const head = `INSERT INTO ${quoteIdentifier(table)} /*${comment}*/ (${quoteIdentifier(column)}) FORMAT CSV\n`;
        const insert = readInsert(head + data);
        expect(insert).toMatchObject({ kind: 'inline', format: 'CSV', dataStart: head.length });
      }),
    );
  });

  it('never throws and never reads behind the end', () => {
    const words = fc.constantFrom('INSERT', 'INTO', 'VALUES', 'FORMAT', 'SETTINGS', '(', ')', "'", '`', '--', '/*', ' ', '\n', 'a', '=', '$$', '\\', ';'); // prettier-ignore
    fc.assert(
      fc.property(fc.array(fc.oneof(words, fc.string())), (parts) => {
        const sql = `INSERT INTO t ${parts.join(' ')}`;
        const insert = readInsert(sql);
        expect(['inline', 'complete', 'no-source', 'unreadable']).toContain(insert.kind);
        expect(insert.kind === 'inline' ? insert.dataStart : 0).toBeLessThanOrEqual(sql.length);
      }),
    );
  });
});
