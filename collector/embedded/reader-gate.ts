import { TABLES } from '../../schemas/names.ts';
import { clickhouseError, type ClickHouseError } from './clickhouse-error.ts';
import type { Connection, Engine } from './engine.ts';
import { readableSystemTables } from './engine-config.ts';
import { explainAst } from './explain-ast.ts';
import {
  computingCategories,
  harmfulFunctions,
  harmlessFunctions,
  readableNodes,
  readableRoots,
  readableTableFunctions,
} from './reader-rules.ts';
import { parseAst, type AstNode } from './sql/ast.ts';
import { isWord, tokenize } from './sql/lexer.ts';

/** Decides which read statements the reader may run. */
export interface ReaderGate {
  /** @throws ClickHouseError 497 that names what is refused */
  assertReadable(connection: Connection, sql: string, database: string | null): Promise<void>;
}

/** What the engine knows, in lower case. */
export interface FunctionCatalog {
  /** Functions that only compute. */
  readonly computing: ReadonlySet<string>;
  /** All other functions. */
  readonly refused: ReadonlySet<string>;
  readonly tableFunctions: ReadonlySet<string>;
}

/**
 * Builds the gate. The engine's `readonly` mode and its grants stand behind it but are not enough: they let `file()`
 * read any file, `arrayMap(file, ..)` too, and a quoted path serve as a table.
 *
 * @param internalTable tells which tables are nobody's business but the collector's
 */
export function createReaderGate(
  catalog: FunctionCatalog,
  internalTable: (name: string) => boolean = isInternalTable,
): ReaderGate {
  return {
    async assertReadable(connection, sql, database) {
      const tokens = [...tokenize(sql)];
      // Text behind an INSERT's head may be rows, which EXPLAIN AST would run as statements. SHOW hides its WHERE.
      if (tokens.some((token) => isWord(token, 'INSERT'))) throw refused('the word INSERT');
      if (tokens.some((token) => isWord(token, 'UUID') && followedByString(sql, token.end)))
        throw refused('UUID');
      if (isWord(tokens[0], 'SHOW') && tokens.some((token) => token.text === '('))
        throw refused('a function in SHOW');
      const tree = await explainAst((text) => connection.run(text, 'TSVRaw'), sql);
      const nodes = parseAst(tree.text());
      // FORMAT Null would leave nothing to judge.
      if (nodes.length === 0) throw refused('this statement');
      for (const node of nodes) {
        const reason = refusal(node, database);
        if (reason !== null) throw refused(reason);
      }
    },
  };

  function refusal(node: AstNode, database: string | null): string | null {
    if (node.depth === 0) return includes(readableRoots, node.kind) ? null : `the statement ${node.kind}`;
    if (node.kind === 'Set') return node.parent?.kind === 'Explain' ? null : 'a SETTINGS clause';
    if (node.kind === 'ColumnsApplyTransformer') return 'APPLY';
    if (!includes(readableNodes, node.kind)) return node.kind;
    if (node.parent?.kind === 'Explain' && node.kind !== 'SelectWithUnionQuery')
      return `EXPLAIN of ${node.kind}`;
    if (node.kind === 'Function') return functionRefusal(node);
    if (namesTable(node)) return tableRefusal(node.name, database);
    if (node.kind === 'Identifier') return nameRefusal(node.name);
    return null;
  }

  function functionRefusal(node: AstNode): string | null {
    const name = node.name.toLowerCase();
    const inPlaceOfTable = node.parent?.kind === 'TableExpression' || isSetOfIn(node);
    if (inPlaceOfTable && readableTableFunctions.includes(name)) return null;
    if (node.parent?.kind === 'TableExpression') return `the table function ${node.name}`;
    if (catalog.computing.has(name)) return null;
    const known = catalog.refused.has(name) || catalog.tableFunctions.has(name);
    return known || name.startsWith('__') ? `the function ${node.name}` : null;
  }

  // A bare name can stand for a function: arrayMap(file, ['/etc/passwd']).
  function nameRefusal(name: string): string | null {
    if (catalog.refused.has(name.toLowerCase())) return `the name ${name}`;
    return lastPartIsInternal(name) ? `the table ${name}` : null;
  }

  function tableRefusal(name: string, database: string | null): string | null {
    // A path in quotes is a table to the engine: SELECT * FROM `/etc/passwd`.
    if (!/^[\p{L}\p{N}_ .:$-]+$/u.test(name)) return `the table ${JSON.stringify(name)}`;
    if (lastPartIsInternal(name)) return `the table ${name}`;
    const qualified = name.includes('.') ? name : `${database ?? ''}.${name}`;
    const system = /^system\.(.*)$/i.exec(qualified);
    if (system !== null && !includes(readableSystemTables, system[1] ?? '')) return `the table ${qualified}`;
    return null;
  }

  function lastPartIsInternal(name: string): boolean {
    return name.split('.').some((part) => internalTable(part));
  }
}

/** The tables behind the views, and what the collector keeps for itself. */
function isInternalTable(name: string): boolean {
  const lower = name.toLowerCase();
  return lower.endsWith('_store') || INTERNAL.has(lower);
}

const INTERNAL: ReadonlySet<string> = new Set([...Object.values(TABLES), 'schema_migrations']);

const tableFunction = 'Table function';

/** Reads which functions the engine has and sorts them by their documented category. */
export async function readFunctionCatalog(engine: Engine): Promise<FunctionCatalog> {
  const sql = `
    SELECT lower(f.name), f.is_aggregate, if(f.alias_to = '', f.categories, a.categories), f.origin, lower(f.alias_to)
    FROM system.functions f LEFT JOIN (SELECT name, categories FROM system.functions) a ON a.name = f.alias_to
    UNION ALL SELECT lower(name), 0, '${tableFunction}', 'System', '' FROM system.table_functions`;
  const setup = { role: 'writer', database: null, settings: new Map(), parameters: new Map() } as const;
  const text = await engine.withConnection(setup, async (connection) =>
    (await connection.run(sql, 'TSVRaw')).text(),
  );
  const computing = new Set<string>();
  const refusedNames = new Set<string>();
  const tableFunctions = new Set<string>();
  const harmless = new Set(harmlessFunctions.map((name) => name.toLowerCase()));
  for (const line of text.trim().split('\n')) {
    const [name = '', isAggregate, category = '', origin, aliasTo = ''] = line.split('\t');
    if (category === tableFunction) {
      tableFunctions.add(name);
      continue;
    }
    const computes =
      isAggregate === '1' ||
      (origin === 'System' &&
        (includes(computingCategories, category) || harmless.has(name) || harmless.has(aliasTo)));
    const harmful = [name, aliasTo].some((one) => harmfulFunctions.some((bad) => bad.toLowerCase() === one));
    (computes && !harmful ? computing : refusedNames).add(name);
  }
  return { computing, refused: refusedNames, tableFunctions };
}

/** Is this a table, or the right side of IN, where a name stands for a table? */
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

function followedByString(sql: string, end: number): boolean {
  const next = tokenize(sql, end).next();
  return next.done !== true && next.value.kind === 'string';
}

function includes(list: readonly string[], value: string): boolean {
  return list.includes(value);
}

function refused(what: string): ClickHouseError {
  return clickhouseError(497, `gatewatch_reader: Not enough privileges. The reader may not use ${what}.`);
}
