import type { AstNode } from './ast.ts';
import { allowedSystemTables, isInternalTable } from './allowed-tables.ts';
import type { FunctionRules } from './function-rules.ts';

/** First node of a statement that may pass. */
const ROOTS: ReadonlySet<string> = new Set([
  'SelectWithUnionQuery', 'Explain', 'DescribeQuery', 'ShowTables', 'ShowColumns', 'ShowIndexes', 'ShowCreateTableQuery',
  'ShowCreateViewQuery', 'ShowCreateDatabaseQuery', 'ExistsTableQuery', 'ExistsViewQuery', 'ExistsDatabaseQuery',
]); // prettier-ignore

/**
 * Nodes that may occur below. Left out on purpose: ColumnsApplyTransformer, which does not show the function
 * that it applies, and Set (a SETTINGS clause), which could raise limits in a subquery.
 */
const NODES: ReadonlySet<string> = new Set([
  'ArrayJoin', 'Asterisk', 'ColumnsExceptTransformer', 'ColumnsListMatcher', 'ColumnsRegexpMatcher',
  'ColumnsReplaceTransformer', 'ColumnsReplaceTransformer::Replacement', 'ColumnsTransformerList', 'DataType',
  'EnumDataType', 'TupleDataType', 'ExpressionList', 'Function', 'Identifier', 'InterpolateElement', 'Literal',
  'NameTypePair', 'OrderByElement', 'QualifiedAsterisk', 'QualifiedColumnsListMatcher', 'QualifiedColumnsRegexpMatcher',
  'QueryParameter', 'SampleRatio', 'SelectIntersectExceptQuery', 'SelectQuery', 'SelectWithUnionQuery', 'Subquery',
  'TableExpression', 'TableIdentifier', 'TableJoin', 'TablesInSelectQuery', 'TablesInSelectQueryElement',
  'WindowDefinition', 'WindowListElement', 'WithElement',
]); // prettier-ignore

const SYSTEM_TABLES: ReadonlySet<string> = new Set(allowedSystemTables.flatMap(({ names }) => names));

/** Says what is not allowed about one node of `EXPLAIN AST`, or null. */
export function treeRefusal(node: AstNode, database: string | null, rules: FunctionRules): string | null {
  if (node.depth === 0) return ROOTS.has(node.kind) ? null : `the statement ${node.kind}`;
  // EXPLAIN's own options.
  if (node.kind === 'Set') return node.parent?.kind === 'Explain' ? null : 'a SETTINGS clause';
  if (node.kind === 'ColumnsApplyTransformer') return 'APPLY';
  if (!NODES.has(node.kind)) return node.kind;
  if (node.parent?.kind === 'Explain' && node.kind !== 'SelectWithUnionQuery')
    return `EXPLAIN of ${node.kind}`;
  if (node.kind === 'Function') return functionRefusal(node, rules);
  if (namesTable(node)) return tableRefusal(node.name, database);
  return node.kind === 'Identifier' && isInternal(node.name) ? `the table ${node.name}` : null;
}

function functionRefusal(node: AstNode, rules: FunctionRules): string | null {
  const isTable = node.parent?.kind === 'TableExpression';
  if ((isTable || isSetOfIn(node)) && rules.mayCallAsTable(node.name)) return null;
  if (isTable) return `the table function ${node.name}`;
  return rules.mayCall(node.name) ? null : `the function ${node.name}`;
}

function tableRefusal(name: string, database: string | null): string | null {
  // A path in quotes is a table to the engine: SELECT * FROM `/etc/passwd`.
  if (!/^[\p{L}\p{N}_ .:$-]+$/u.test(name)) return `the table ${JSON.stringify(name)}`;
  if (isInternal(name)) return `the table ${name}`;
  const qualified = name.includes('.') ? name : `${database ?? ''}.${name}`;
  const system = /^system\.(.*)$/i.exec(qualified);
  if (system !== null && !SYSTEM_TABLES.has(system[1] ?? '')) return `the table ${qualified}`;
  return null;
}

function isInternal(name: string): boolean {
  return name.split('.').some(isInternalTable);
}

/** Behind IN a name is a table unless it is a column, and in SHOW and the like it always is one. */
function namesTable(node: AstNode): boolean {
  if (node.kind === 'TableIdentifier') return true;
  if (node.kind !== 'Identifier') return false;
  const root = rootOf(node);
  return isSetOfIn(node) || (root.kind !== 'SelectWithUnionQuery' && root.kind !== 'Explain');
}

function isSetOfIn(node: AstNode): boolean {
  const call = node.parent?.parent;
  if (call?.kind !== 'Function' || node.index !== 1) return false;
  return /^(global)?(not)?(null)?in(ignoreset)?$/i.test(call.name);
}

function rootOf(node: AstNode): AstNode {
  let root = node;
  while (root.parent !== null) root = root.parent;
  return root;
}
