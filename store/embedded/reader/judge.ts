import { isInternalTable } from './allowed-tables.ts';
import { treeRefusal } from './tree-rules.ts';
import { parseAst } from './ast.ts';
import { isName, isSymbol, isWord, readTokens, type Token } from './canonical-tokens.ts';
import type { FunctionRules } from './function-rules.ts';
import { withoutParameters } from './canonical-tokens.ts';
import { parsedArgumentRefusal, parsesText } from './parsed-arguments.ts';
import { kindOf, type StatementKind } from './statement-kinds.ts';
import { takeTail, type Tail } from './statement-tail.ts';

/** A statement that a reader may run. */
export interface AllowedStatement {
  readonly kind: StatementKind;
  /** The statement in canonical form, without its tail: what was judged, and what is to be run. */
  readonly sql: string;
  readonly format: string | null;
  readonly settings: Tail['settings'];
}

/** A statement whose words are allowed, and whose tree is still to be looked at. */
export interface ReadStatement extends AllowedStatement {
  /** The text whose tree it is: parameters replaced by values. */
  readonly treeSql: string;
}

export type Judged = ReadStatement | { readonly refused: string };

/**
 * Keywords behind which the canonical form may have a parenthesis. All other words in front of one are
 * functions.
 */
const BEFORE_PARENTHESIS: ReadonlySet<string> = new Set([
  'ALL', 'AND', 'ANY', 'AS', 'ASC', 'BY', 'CUBE', 'DESC', 'DISTINCT', 'EXCEPT', 'EXISTS', 'FILTER', 'FROM', 'HAVING', 'IN',
  'INTERPOLATE', 'INTERSECT', 'JOIN', 'LIKE', 'ILIKE', 'LIMIT', 'MATERIALIZED', 'NOT', 'OFFSET', 'ON', 'OR', 'OVER',
  'PREWHERE', 'QUALIFY', 'RECURSIVE', 'REPLACE', 'ROLLUP', 'SELECT', 'SETS', 'STEP', 'STRICT', 'TABLE', 'THEN', 'TO',
  'UNION', 'USING', 'WHEN', 'WHERE', 'WITH', 'BETWEEN', 'IS', 'NULL', 'ELSE', 'SAMPLE', 'COLUMNS',
]); // prettier-ignore

/** Types of values that may come as parameters: `{from:DateTime64(3, 'UTC')}`. A name is no value. */
const PARAMETER_TYPES =
  /^(?:U?Int(?:8|16|32|64|128|256)|Float(?:32|64)|BFloat16|Decimal(?:32|64|128|256)?|String|FixedString|Date(?:32)?|DateTime(?:32|64)?|Bool|UUID|IPv[46]|Enum(?:8|16)?|Array|Tuple|Map|Nullable|LowCardinality)$/;

/**
 * Reads a statement in canonical form up to its tail, and refuses it where a word, a name or its kind is not
 * on a list.
 *
 * @param canonical the engine's own text of the statement (`formatQuerySingleLine`)
 */
export function judgeText(canonical: string, rules: FunctionRules): Judged {
  const tokens = readTokens(canonical);
  if (tokens === null) return { refused: 'this statement: its text is not in the form that is judged' };
  const { body, format, settings } = takeTail(tokens);
  const kind = kindOf(body);
  if ('refused' in kind) return kind;
  const refused = wordRefusal(body, rules) ?? parameterRefusal(body);
  if (refused !== null) return { refused };
  const sql = canonical.slice(0, body.at(-1)?.end ?? 0);
  const treeSql = withoutParameters(sql, body);
  return { kind: kind.kind, sql, format, settings, treeSql };
}

/**
 * What the tree of the statement shows that its words do not: which names are tables, and parts that nobody
 * has listed.
 */
export function judgeTree(ast: string, database: string | null, rules: FunctionRules): string | null {
  const nodes = parseAst(ast);
  if (nodes.length === 0) return 'this statement';
  for (const node of nodes) {
    const refused = treeRefusal(node, database, rules);
    if (refused !== null) return refused;
  }
  return null;
}

/** Every word is looked at, wherever it stands: what the tree hides cannot hide here. */
function wordRefusal(tokens: readonly Token[], rules: FunctionRules): string | null {
  let braces = 0;
  for (const [index, token] of tokens.entries()) {
    if (isSymbol(token, '{')) braces += 1;
    if (isSymbol(token, '}')) braces -= 1;
    // Types of parameters are judged apart.
    if (!isName(token) || braces > 0) continue;
    const isCall = isSymbol(tokens[index + 1], '(');
    const refused =
      nameRefusal(token, tokens[index - 1], tokens[index + 1], rules) ??
      (isCall ? parsedArgumentRefusal(tokens, index, rules) : null);
    if (refused !== null) return refused;
    if (isWord(token, 'SETTINGS') && isSymbol(tokens[index + 2], '=')) return 'this SETTINGS clause';
  }
  return null;
}

function nameRefusal(
  token: Token,
  before: Token | undefined,
  next: Token | undefined,
  rules: FunctionRules,
): string | null {
  if (isWord(token, 'OUTFILE') && isWord(before, 'INTO')) return 'INTO OUTFILE';
  if (isWord(token, 'APPLY')) return 'APPLY';
  if (token.text.split('.').some(isInternalTable)) return `the table ${shown(token)}`;
  if (!isSymbol(next, '(')) {
    // The name of an alias or of a column is no function call.
    const isOwn = isWord(before, 'AS') || isSymbol(before, '.');
    const mayStand = rules.mayName(token.text) && !parsesText(token.text, rules);
    return isOwn || mayStand ? null : `the name ${shown(token)}`;
  }
  if (token.kind === 'word' && BEFORE_PARENTHESIS.has(token.text)) return null;
  const isKnown = rules.mayCall(token.text) || rules.mayCallAsTable(token.text);
  return isKnown ? null : `the function ${shown(token)}`;
}

/** `{name:Type}` takes a value; a parameter that stands for a name could stand for any table. */
function parameterRefusal(tokens: readonly Token[]): string | null {
  let inside = false;
  for (const [index, token] of tokens.entries()) {
    if (isSymbol(token, '{')) {
      inside = isName(tokens[index + 1]) && isSymbol(tokens[index + 2], ':');
      if (!inside) return 'braces';
    } else if (isSymbol(token, '}')) inside = false;
    else if (inside && isName(token) && !isSymbol(tokens[index - 1], '{')) {
      const isType = token.kind === 'word' && PARAMETER_TYPES.test(token.text);
      if (!isType) return `a parameter of type ${shown(token)}`;
    }
  }
  return null;
}

const shown = (token: Token): string => token.text.slice(0, 64).replace(/[^\x20-\x7e]/g, '?');
