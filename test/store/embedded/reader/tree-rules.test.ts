import { describe, expect, it } from 'vitest';
import { createFunctionRules } from '../../../../store/embedded/reader/function-rules.ts';
import { judgeTree } from '../../../../store/embedded/reader/judge.ts';

const rules = createFunctionRules({
  functions: new Map([
    ['file', 'file'],
    ['sum', 'sum'],
  ]),
  tableFunctions: new Set(['file', 'numbers']),
});

/** A tree of nodes, each below the one before. */
const chain = (...nodes: string[]): string => nodes.map((node, depth) => ' '.repeat(depth) + node).join('\n');
const judge = (ast: string, database: string | null = null) => judgeTree(ast, database, rules);

describe('judgeTree', () => {
  it('refuses a tree of nothing', () => {
    expect(judge('')).toBe('this statement');
    expect(judge(' \n')).toBe('this statement');
  });

  it.each([
    'SelectWithUnionQuery', 'Explain', 'DescribeQuery', 'ShowTables', 'ShowColumns', 'ShowIndexes',
    'ShowCreateTableQuery', 'ShowCreateViewQuery', 'ShowCreateDatabaseQuery', 'ExistsTableQuery', 'ExistsViewQuery',
    'ExistsDatabaseQuery',
  ])('takes %s for a statement', (root) => {
    expect(judge(root)).toBeNull();
  }); // prettier-ignore

  it.each([
    'ArrayJoin', 'Asterisk', 'ColumnsExceptTransformer', 'ColumnsListMatcher', 'ColumnsRegexpMatcher',
    'ColumnsReplaceTransformer', 'ColumnsReplaceTransformer::Replacement', 'ColumnsTransformerList', 'DataType',
    'EnumDataType', 'TupleDataType', 'ExpressionList', 'Function sum', 'Identifier a', 'InterpolateElement', 'Literal',
    'NameTypePair', 'OrderByElement', 'QualifiedAsterisk', 'QualifiedColumnsListMatcher',
    'QualifiedColumnsRegexpMatcher', 'QueryParameter', 'SampleRatio', 'SelectIntersectExceptQuery', 'SelectQuery',
    'SelectWithUnionQuery', 'Subquery', 'TableExpression', 'TableIdentifier a', 'TableJoin', 'TablesInSelectQuery',
    'TablesInSelectQueryElement', 'WindowDefinition', 'WindowListElement', 'WithElement',
  ])('takes %s for a part of one', (node) => {
    expect(judge(chain('SelectWithUnionQuery', node))).toBeNull();
  }); // prettier-ignore

  it.each(['InsertQuery', 'Function sum', 'SelectQuery', 'Set'])('takes %s for none', (root) => {
    expect(judge(root)).toBe(`the statement ${root.split(' ')[0]}`);
  });

  it.each([
    [chain('SelectWithUnionQuery', 'Set'), 'a SETTINGS clause'],
    [chain('Explain', 'SelectWithUnionQuery', 'Set'), 'a SETTINGS clause'],
    [chain('Explain', 'Set'), null],
    [chain('SelectWithUnionQuery', 'ColumnsApplyTransformer'), 'APPLY'],
    [chain('SelectWithUnionQuery', 'InsertQuery'), 'InsertQuery'],
    [chain('SelectWithUnionQuery', 'Literal orders_store'), null],
    [chain('Explain', 'SelectWithUnionQuery'), null],
    [chain('Explain', 'SelectQuery'), 'EXPLAIN of SelectQuery'],
    [chain('SelectWithUnionQuery', 'Function file'), 'the function file'],
    [chain('SelectWithUnionQuery', 'Function sum'), null],
    [chain('SelectWithUnionQuery', 'TableExpression', 'Function numbers'), null],
    [chain('SelectWithUnionQuery', 'TableExpression', 'Function sum'), 'the table function sum'],
    [chain('SelectWithUnionQuery', 'Function numbers'), 'the function numbers'],
  ])('%j: %s', (ast, refusal) => expect(judge(ast)).toBe(refusal));

  it.each([
    ['orders', null, null],
    ['gatewatch.orders', null, null],
    ['a-b $c:d_9', null, null],
    ['заказы', null, null],
    ['/etc/passwd', null, 'the table "/etc/passwd"'],
    ['a/b', null, 'the table "a/b"'],
    ['orders_store', null, 'the table orders_store'],
    ['gatewatch.ORDERS_STORE', null, 'the table gatewatch.ORDERS_STORE'],
    ['ingest_ledger', null, 'the table ingest_ledger'],
    ['system.one', null, null],
    ['system.processes', null, 'the table system.processes'],
    ['SYSTEM.processes', null, 'the table SYSTEM.processes'],
    ['xsystem.processes', null, null],
    ['system', null, null],
    ['processes', null, null],
    ['processes', 'gatewatch', null],
    ['processes', 'system', 'the table system.processes'],
    ['one', 'system', null],
    ['gatewatch.processes', 'system', null],
  ])('a table %j in the database %j: %s', (name, database, refusal) => {
    expect(judge(chain('SelectWithUnionQuery', `TableIdentifier ${name}`), database)).toBe(refusal);
    expect(judge(chain('DescribeQuery', `Identifier ${name}`), database)).toBe(refusal);
    expect(judge(chain('ShowTables', 'ExpressionList', `Identifier ${name}`), database)).toBe(refusal);
  });

  it('takes a column for a column, whatever it is called', () => {
    for (const root of ['SelectWithUnionQuery', 'Explain']) {
      const column = (name: string) => judge(chain(root, 'SelectWithUnionQuery', `Identifier ${name}`));
      expect(column('a/b')).toBeNull();
      expect(column('system.processes')).toBeNull();
      expect(column('orders_store.id')).toBe('the table orders_store.id');
    }
  });

  it.each([
    'in',
    'notIn',
    'globalIn',
    'globalNotIn',
    'nullIn',
    'notNullIn',
    'globalNotNullIn',
    'inIgnoreSet',
    'IN',
  ])('takes the second name of %s for a table', (call) => {
    const set = (first: string, second: string): string =>
      `SelectWithUnionQuery\n Function ${call}\n  ExpressionList\n   ${first}\n   ${second}`;
    expect(judge(set('Identifier a', 'Identifier /etc/passwd'))).toBe('the table "/etc/passwd"');
    expect(judge(set('Identifier a', 'Function numbers'))).toBeNull();
    expect(judge(set('Identifier a', 'Function file'))).toBe('the function file');
    expect(judge(set('Identifier /etc', 'Identifier a'))).toBeNull();
    expect(judge(set('Function numbers', 'Identifier a'))).toBe('the function numbers');
  });

  it.each(['sum', 'inner', 'begin', 'xin', 'inx'])('takes the second name of %s for a column', (call) => {
    const ast = `SelectWithUnionQuery\n Function ${call}\n  ExpressionList\n   Identifier a\n   Identifier /etc`;
    expect(judge(ast)).toBeNull();
    expect(judge(ast.replace(`Function ${call}`, `Identifier ${call}`))).toBeNull();
    expect(judge(ast.replace(`Function ${call}`, 'Identifier in'))).toBeNull();
  });
});
