import type { Readable } from 'node:stream';
import { clickhouseError } from './clickhouse-error.ts';
import type { ConnectionSetup, Engine } from './engine.ts';
import type { WriterRequest } from './query-request.ts';
import { readRequestedStatement } from './requested-statement.ts';
import { answerWith, createReadRunner, readSummary, responseOptions } from './run-read.ts';
import type { Spool } from './spool.ts';
import type { InlineInsert } from './sql/insert-statement.ts';
import { isWord, tokenize } from '../sql/lexer.ts';
import { findOutputClause, withOutfile } from './sql/output-clause.ts';
import { quoteString } from '../sql/quote.ts';
import { guardValues } from './sql/insert-statement.ts';
import { formatStatement, parserError } from './sql/format.ts';

const TOKEN_SETTING = 'insert_deduplication_token';
/** While an insert runs, statements of a greater number wait between their blocks: readers have one. */
const FIRST = 'priority = 1';

/** Runs a writer's statements. Rows of an insert always go through a file. */
export function createWriterQueries(engine: Engine, spool: Spool) {
  const reads = createReadRunner(engine, spool);
  const isOutputFormat = (name: string) => engine.formats.get(name.toLowerCase())?.output === true;

  async function handle(request: WriterRequest): Promise<void> {
    const requested = await readRequestedStatement(request.params.query, request.body);
    if (requested.kind === 'rows') {
      assertMayWrite(request);
      return insertRows(request, requested.insert, requested.rows);
    }
    if ((await classifyStatement(engine, requested.sql, setupOf(request))) === 'read') {
      return readRows(request, requested.sql);
    }
    assertMayWrite(request);
    return execute(request, requested.sql);
  }

  async function readRows(request: WriterRequest, sql: string): Promise<void> {
    const clause = findOutputClause(sql, isOutputFormat);
    const format = clause.format ?? request.params.defaultFormat;
    if (!isOutputFormat(format)) throw clickhouseError(73, `Unknown format ${format}.`);
    const words = [...tokenize(sql)];
    const isSelect = isWord(words[0], 'SELECT', 'WITH', 'FROM') || words[0]?.text === '(';
    const mayStream = words[0]?.text !== '(' && !words.some((word) => isWord(word, 'TOTALS', 'EXTREMES'));
    const intoFile = (name: string) => withOutfile(sql, clause, name, format);
    return reads.run(request, setupOf(request), { sql, format, isSelect, mayStream, intoFile });
  }

  async function insertRows(request: WriterRequest, insert: InlineInsert, rows: Readable): Promise<void> {
    if (engine.formats.get(insert.format.toLowerCase())?.input !== true) {
      throw clickhouseError(73, `Unknown format ${insert.format}.`);
    }
    const guarded = insert.format.toLowerCase() === 'values' ? guardValues(rows) : rows;
    const input = await spool.store(guarded);
    try {
      const { setup, token } = withoutToken(setupOf(request));
      const settings = [FIRST, token, insert.settings].filter((text) => text !== '').join(', ');
      const source = `FROM INFILE ${quoteString(input.name)} COMPRESSION 'none'`;
      const sql = `${insert.target} ${source} SETTINGS ${settings} FORMAT ${insert.format}`;
      await classifyStatement(engine, sql, setup);
      const result = await engine.withUsedConnection(setup, (connection) => connection.run(sql));
      const written = { writtenRows: result.rowsRead, writtenBytes: result.bytesRead };
      request.answer.begin(responseOptions(request, request.params.defaultFormat), {
        ...readSummary(result),
        ...written,
      });
      await request.answer.end();
    } finally {
      await spool.remove(input);
    }
  }

  async function execute(request: WriterRequest, sql: string): Promise<void> {
    const format = request.params.defaultFormat;
    const result = await engine.withConnection(setupOf(request), (connection) => connection.run(sql, format));
    return answerWith(request, responseOptions(request, format), result);
  }

  return { handle };
}

/**
 * Every insert has a token of its own: as part of the statement, it leaves the connections of one sender
 * alike.
 */
function withoutToken(setup: ConnectionSetup): { setup: ConnectionSetup; token: string } {
  const settings = new Map(setup.settings);
  const token = settings.get(TOKEN_SETTING);
  settings.delete(TOKEN_SETTING);
  return {
    setup: { ...setup, settings },
    token: token === undefined ? '' : `${TOKEN_SETTING} = ${quoteString(token)}`,
  };
}

function assertMayWrite({ mayWrite }: WriterRequest): void {
  if (mayWrite) return;
  throw clickhouseError(
    164,
    'Cannot execute query in readonly mode. For queries over HTTP, method GET implies readonly. You should use method POST for modifying queries',
  );
}

function setupOf({ params }: WriterRequest): ConnectionSetup {
  const { database, settings, parameters } = params;
  return { role: 'writer', database, settings, parameters };
}

/** `read` leaves no trace; `write` changes something. */
type StatementClass = 'read' | 'write';

const engineClass = { readOnly: 0, control: 3, unknown: 4 } as const;
const readingWords = ['SELECT', 'WITH', 'FROM', 'SHOW', 'EXPLAIN', 'DESCRIBE', 'DESC', 'EXISTS'];

/**
 * Asks the engine's own parser what a text is.
 *
 * @throws ClickHouseError 62 for none or several statements, with the engine's words for a syntax error; 48
 *   for INTO OUTFILE
 */
async function classifyStatement(
  engine: Engine,
  sql: string,
  setup: ConnectionSetup,
): Promise<StatementClass> {
  const first = tokenize(sql).next();
  if (first.done === true) throw clickhouseError(62, 'Syntax error: Empty query');
  const { statementCount, queryClass } = await engine.analyze(sql, setup.database ?? 'default');
  // Inline rows behind a statement count as a further one, as in EXPLAIN INSERT .. FORMAT CSV <rows>.
  if (statementCount > 1) throw clickhouseError(62, 'Syntax error (Multi-statements are not allowed)');
  if (queryClass === engineClass.unknown) throw await syntaxError(engine, sql, setup);
  if (queryClass === engineClass.readOnly) return 'read';
  const reads = isWord(first.value, ...readingWords) || first.value.text === '(';
  if (queryClass === engineClass.control && reads) throw clickhouseError(48, 'INTO OUTFILE is not allowed');
  return 'write';
}

/** Lets the engine word the error: its formatter parses, and runs nothing. */
async function syntaxError(engine: Engine, sql: string, setup: ConnectionSetup): Promise<Error> {
  const general = clickhouseError(62, 'Syntax error: the statement cannot be parsed');
  return engine
    .withConnection({ ...setup, role: 'reader' }, (connection) =>
      connection.run(formatStatement(sql), 'TSVRaw'),
    )
    .then(
      () => general,
      (error: unknown) => parserError(error),
    );
}
