import { describe, expect, it } from 'vitest';
import { readTokens } from '../../../../store/embedded/reader/canonical-tokens.ts';
import { kindOf } from '../../../../store/embedded/reader/statement-kinds.ts';

const kind = (text: string) => kindOf(readTokens(text) ?? []);
const LONG = 'a'.repeat(128);

describe('kindOf', () => {
  it.each([
    ['SELECT 1', 'select'],
    ['WITH 1 AS a SELECT a', 'select'],
    ['EXPLAIN SELECT 1', 'explain'],
    ['EXPLAIN WITH 1 AS a SELECT a', 'explain'],
    ['EXPLAIN AST SELECT 1', 'explain'],
    ['EXPLAIN SYNTAX SELECT 1', 'explain'],
    ['EXPLAIN QUERY TREE SELECT 1', 'explain'],
    ['EXPLAIN PLAN SELECT 1', 'explain'],
    ['EXPLAIN PIPELINE SELECT 1', 'explain'],
    ['EXPLAIN ESTIMATE SELECT 1', 'explain'],
    ['EXPLAIN PLAN header = 1, actions = 0 SELECT 1', 'explain'],
    ['EXPLAIN header = 1 SELECT 1', 'explain'],
    ['DESCRIBE TABLE gatewatch.orders', 'describe'],
    ['DESCRIBE TABLE gatewatch.`orders`', 'describe'],
    [`DESCRIBE TABLE ${LONG}`, 'describe'],
    ['EXISTS TABLE gatewatch.orders', 'exists'],
    ['EXISTS VIEW a', 'exists'],
    ['EXISTS DATABASE a', 'exists'],
    ['EXISTS TEMPORARY TABLE a', 'exists'],
    ['SHOW TABLES', 'show'],
    ['SHOW FULL TABLES', 'show'],
    ['SHOW TEMPORARY TABLES', 'show'],
    ['SHOW EXTENDED FULL COLUMNS FROM a', 'show'],
    ['SHOW DATABASES', 'show'],
    ['SHOW FIELDS FROM a', 'show'],
    ['SHOW INDEX FROM a', 'show'],
    ['SHOW INDEXES FROM a', 'show'],
    ['SHOW INDICES FROM a', 'show'],
    ['SHOW KEYS FROM a', 'show'],
    ['SHOW CREATE TABLE a.b', 'show'],
    ["SHOW TABLES FROM a NOT ILIKE 'a%_b-c. d' LIMIT 10", 'show'],
    ["SHOW TABLES LIKE ''", 'show'],
    [`SHOW TABLES LIKE '${LONG}'`, 'show'],
  ])('%s', (text, expected) => {
    expect(kind(text)).toEqual({ kind: expected });
  });

  it.each([
    ['', 'the statement '],
    ['INSERT INTO a', 'the statement INSERT'],
    ['select 1', 'the statement select'],
    ['`SELECT` 1', 'the statement SELECT'],
    [`${'A'.repeat(30)} b`, `the statement ${'A'.repeat(20)}`],
    ['EXPLAIN', 'EXPLAIN of nothing'],
    ['EXPLAIN AST', 'EXPLAIN of nothing'],
    ['EXPLAIN PLAN header = 1', 'EXPLAIN of nothing'],
    ['EXPLAIN PLAN header = 1,', 'EXPLAIN of nothing'],
    ['EXPLAIN INSERT INTO a', 'EXPLAIN of INSERT'],
    ['EXPLAIN AST INSERT SELECT 1', 'EXPLAIN of INSERT'],
    ['EXPLAIN `AST` SELECT 1', 'EXPLAIN of AST'],
    ['EXPLAIN `SELECT` 1', 'EXPLAIN of SELECT'],
    ["EXPLAIN header = 'a' SELECT 1", 'EXPLAIN of header'],
    ['EXPLAIN header = a SELECT 1', 'EXPLAIN of header'],
    ['EXPLAIN header + 1 SELECT 1', 'EXPLAIN of header'],
    ['EXPLAIN `header` = 1 SELECT 1', 'EXPLAIN of header'],
    ['EXPLAIN header = 1 INSERT INTO a', 'EXPLAIN of INSERT'],
    ['EXPLAIN header = 1, INSERT INTO a', 'EXPLAIN of INSERT'],
    ['EXPLAIN header =', 'EXPLAIN of header'],
    ['EXPLAIN header', 'EXPLAIN of header'],
    [`EXPLAIN ${'A'.repeat(30)}`, `EXPLAIN of ${'A'.repeat(20)}`],
    ['SHOW', 'SHOW '],
    ['SHOW FULL', 'SHOW '],
    ['SHOW PROCESSLIST', 'SHOW PROCESSLIST'],
    ['SHOW FULL PROCESSLIST', 'SHOW PROCESSLIST'],
    ['SHOW `TABLES`', 'SHOW TABLES'],
    [`SHOW ${'A'.repeat(30)}`, `SHOW ${'A'.repeat(20)}`],
    ["SHOW TABLES LIKE 'a\\'b'", 'SHOW: "a\'b"'],
    ["SHOW TABLES LIKE 'a(b'", 'SHOW: "a(b"'],
    ["SHOW TABLES LIKE '(a'", 'SHOW: "(a"'],
    [`SHOW TABLES LIKE '${LONG}b'`, `SHOW: "${'a'.repeat(40)}"`],
    ['SHOW TABLES WHERE a = 1', 'SHOW: ='],
    ['SHOW TABLES FROM `a b`', 'SHOW: "a b"'],
    ['SHOW TABLES FROM `a-`', 'SHOW: "a-"'],
    ['SHOW TABLES FROM `-a`', 'SHOW: "-a"'],
    ['SHOW TABLES FROM ``', 'SHOW: ""'],
    [`SHOW TABLES FROM ${LONG}b`, `SHOW: "${'a'.repeat(40)}"`],
    ['DESCRIBE TABLE (SELECT 1)', 'DESCRIBE: ('],
    ["DESCRIBE TABLE 'a'", 'DESCRIBE: "a"'],
    ['DESCRIBE TABLE 1', 'DESCRIBE: "1"'],
    ["EXISTS TABLE 'a'", 'EXISTS: "a"'],
    ['EXISTS TABLE 1', 'EXISTS: "1"'],
    ['EXISTS TABLE `/etc/passwd`', 'EXISTS: "/etc/passwd"'],
  ])('refuses %s', (text, refusal) => {
    const [statement, what] = refusal.split(': ');
    expect(kind(text)).toEqual({ refused: what === undefined ? refusal : `${what} in ${statement}` });
  });
});
