import { DATABASE, VIEWS } from '../../../schemas/names.ts';
import { clickhouseError } from '../clickhouse-error.ts';
import { formatStatement, parserError } from '../sql/format.ts';
import { quoteString } from '../../sql/quote.ts';
import { isForm, readFields, type Fields } from './form.ts';
import type { FunctionRules } from './function-rules.ts';
import { judgeText, judgeTree, type ReadStatement } from './judge.ts';
import type { ReaderRequest, ReaderVerdict } from './messages.ts';
import { MAX_STATEMENT_BYTES, refused, tooLong } from './bounds.ts';
import { unpack } from './unpack.ts';

/** Asks the engine's parser: a statement of ours in, the text of its one value out. */
export type AskParser = (sql: string) => Promise<string>;

const TABLE_FILTERS = 'additional_table_filters';
/** Text that grows in the engine's form: CASE, BETWEEN and the like are written out. */
const MAX_CANONICAL_LENGTH = 4 * MAX_STATEMENT_BYTES;
const MAX_TREE_LENGTH = 8 * 1024 * 1024;
const MAX_FILTERS = 16;
/**
 * A condition on a table that the views read would be asked of rows, and answered with names, that are none
 * of a reader's.
 */
const FILTERED: ReadonlySet<string> = new Set(
  Object.values(VIEWS).flatMap((view) => [view, `${DATABASE}.${view}`]),
);

/** What judging needs of the engine. */
interface Judge {
  readonly ask: AskParser;
  readonly rules: FunctionRules;
}

/**
 * Judges what a reader sent (decision 14): the engine's parser makes canonical text of it, and that text,
 * which is the one to be run, has to pass the lists of kinds, functions, tables, formats and settings.
 *
 * @throws ClickHouseError in the engine's words for what it cannot parse, 497 for what a reader may not do
 */
export async function judgeRequest(
  request: ReaderRequest,
  ask: AskParser,
  rules: FunctionRules,
): Promise<ReaderVerdict> {
  const judge = { ask, rules };
  const { text, params } = await readRequest(request);
  const database = valueOf(params, 'database') || request.database;
  const judged = await judgeStatement(judge, text, database);
  const settings: [string, string][] = [];
  for (const [name, value] of judged.settings)
    settings.push([name, name === TABLE_FILTERS ? await judgeFilters(judge, value, database) : value]);
  const kept: [string, string][] = [];
  for (const [name, value] of params) {
    const isFilter = name === TABLE_FILTERS && value !== '';
    if (name !== 'query') kept.push([name, isFilter ? await judgeFilters(judge, value, database) : value]);
  }
  const { kind, sql, format } = judged;
  return { params: kept, statement: { kind, sql, format, settings } };
}

/** The statement, put together as ClickHouse does, and the parameters of the URL and of the form. */
export async function readRequest(request: ReaderRequest): Promise<{ text: string; params: Fields }> {
  const body = await unpack(request.body, request.contentEncoding);
  const fields = isForm(request.contentType) ? await readFields(body, request.contentType) : null;
  const params = [...request.search, ...(fields ?? [])];
  const query = valueOf(params, 'query') ?? '';
  const text = fields === null ? joined(query, body) : query;
  if (Buffer.byteLength(text) > MAX_STATEMENT_BYTES) throw tooLong();
  if (text.trim() === '') throw clickhouseError(62, 'Syntax error: Empty query');
  return { text, params };
}

async function judgeStatement(
  { ask, rules }: Judge,
  sql: string,
  database: string | null,
): Promise<ReadStatement> {
  const statement = judgeText(await canonicalOf(ask, sql), rules);
  if ('refused' in statement) throw refused(statement.refused);
  const tree = await ask(`EXPLAIN AST ${statement.treeSql}`);
  if (tree.length > MAX_TREE_LENGTH) throw tooLong();
  const reason = judgeTree(tree, database, rules);
  if (reason !== null) throw refused(reason);
  return statement;
}

async function canonicalOf(ask: AskParser, sql: string): Promise<string> {
  const line = await ask(formatStatement(sql)).catch((error: unknown) => {
    throw parserError(error);
  });
  if (line.length > MAX_CANONICAL_LENGTH) throw tooLong();
  return line.replace(/\n$/, '');
}

/**
 * `{'table':'condition', ..}`: each condition is judged as that of a SELECT, and goes on in canonical form.
 */
async function judgeFilters(judge: Judge, value: string, database: string | null): Promise<string> {
  const line = await canonicalOf(judge.ask, `SELECT 1 SETTINGS ${TABLE_FILTERS} = ${value}`);
  const map = judgeText(line, judge.rules);
  const [setting, ...more] = 'refused' in map ? [] : map.settings;
  const isOne = !('refused' in map) && map.sql === 'SELECT 1' && map.format === null && more.length === 0;
  if (setting === undefined || setting[0] !== TABLE_FILTERS || !isOne) throw refused(`this ${TABLE_FILTERS}`);
  const pairs: string[] = [];
  for (const [table, condition] of readFilters(setting[1])) {
    if (!FILTERED.has(table)) throw refused(`the table ${table} in ${TABLE_FILTERS}`);
    pairs.push(`${quoteString(table)}:${quoteString(await judgeCondition(judge, condition, database))}`);
  }
  return `{${pairs.join(',')}}`;
}

async function judgeCondition(judge: Judge, condition: string, database: string | null): Promise<string> {
  const before = 'SELECT 1 WHERE ';
  const statement = await judgeStatement(judge, before + condition, database);
  const isCondition = statement.sql.startsWith(before) && statement.settings.length === 0;
  if (!isCondition || statement.format !== null) throw refused(`this condition in ${TABLE_FILTERS}`);
  return statement.sql.slice(before.length);
}

/** The statement of the URL, a line end, the body: as ClickHouse joins them. */
function joined(query: string, body: Buffer): string {
  const rest = body.toString('utf8');
  if (query.trim() === '') return rest;
  return rest === '' ? query : `${query}\n${rest}`;
}

/** The last one counts. */
function valueOf(params: Fields, name: string): string | null {
  return params.findLast(([key]) => key === name)?.[1] ?? null;
}

const FILTER = /'((?:[^'\\]|\\.)*)':'((?:[^'\\]|\\.)*)',?/suy;
const PLAIN_TABLE = /^[\w.]{1,200}$/;

/** The pairs of a map in the form that `takeTail` gives. */
function readFilters(map: string): [string, string][] {
  const pairs: [string, string][] = [];
  FILTER.lastIndex = 1;
  for (let match = FILTER.exec(map); match !== null; match = FILTER.exec(map)) {
    const [table = '', condition = ''] = match.slice(1).map((text) => text.replace(/\\(.)/gsu, '$1'));
    if (!PLAIN_TABLE.test(table) || pairs.length === MAX_FILTERS) throw refused(`this ${TABLE_FILTERS}`);
    pairs.push([table, condition]);
  }
  return pairs;
}
