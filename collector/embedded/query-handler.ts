import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { clickhouseError } from './clickhouse-error.ts';
import type { Connection, ConnectionSetup, Engine, EngineResult, Role } from './engine.ts';
import { isStreamable } from './formats.ts';
import type { ReaderGate } from './reader-gate.ts';
import type { RequestParams } from './request-params.ts';
import { readRequestedStatement } from './requested-statement.ts';
import { emptySummary, type Answer, type ResponseOptions, type Summary } from './response.ts';
import { withRevision } from './native-revision.ts';
import type { Spool } from './spool.ts';
import type { InlineInsert } from './sql/insert-statement.ts';
import { isWord, tokenize } from './sql/lexer.ts';
import { findOutputClause, withOutfile } from './sql/output-clause.ts';
import { quoteString } from './sql/quote.ts';
import { guardValues } from './sql/values-guard.ts';
import { classifyStatement } from './statement-class.ts';

export interface QueryRequest {
  readonly role: Role;
  /** GET and HEAD may only read, and so may a request with `readonly`. */
  readonly mayWrite: boolean;
  readonly params: RequestParams;
  readonly body: Readable;
  readonly answer: Answer;
  /** Fires when the client has gone. */
  readonly gone: AbortSignal;
}

export interface QueryHandlerParts {
  readonly engine: Engine;
  readonly spool: Spool;
  readonly gate: ReaderGate;
}

const KILL_AGAIN_MS = 200;
const TOKEN_SETTING = 'insert_deduplication_token';

/** Runs one request's statement. Rows of an insert always go through a file, results are never held in memory whole. */
export function createQueryHandler({ engine, spool, gate }: QueryHandlerParts) {
  const isOutputFormat = (name: string) => engine.formats.get(name.toLowerCase())?.output === true;

  async function handle(request: QueryRequest): Promise<void> {
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

  async function readRows(request: QueryRequest, sql: string): Promise<void> {
    const clause = findOutputClause(sql, isOutputFormat);
    const format = clause.format ?? request.params.defaultFormat;
    if (!isOutputFormat(format)) throw clickhouseError(73, `Unknown format ${format}.`);
    const options = responseOptions(request, format);
    if (!isSelect(sql)) {
      // SHOW, DESCRIBE, EXISTS and EXPLAIN: short, and not all of them take INTO OUTFILE.
      const result = await connected(request, sql, (connection) => connection.run(sql, format));
      return answerWith(request, options, result);
    }
    if (mayStream(request, sql, format)) {
      return connected(request, sql, (connection) => streamRows(request, connection, sql, options));
    }
    // Formats with a header or footer are written by the engine as a whole, next to the data and not into memory.
    const output = spool.newFile();
    try {
      const statement = withOutfile(sql, clause, output.name, format);
      const result = await connected(request, sql, (connection) => connection.run(statement));
      const file = await open(output.path);
      request.answer.begin(options, readSummary(result));
      for await (const chunk of file.createReadStream({ highWaterMark: 1 << 18 })) {
        await request.answer.write(chunk as Buffer);
      }
      await request.answer.end();
    } finally {
      await spool.remove(output);
    }
  }

  /** A connection for a read: gated for the reader, and its statement is killed when the client leaves. */
  function connected<T>(
    request: QueryRequest,
    sql: string,
    work: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    return engine.withConnection(setupOf(request), async (connection) => {
      if (request.role === 'reader') await gate.assertReadable(connection, sql, request.params.database);
      if (request.gone.aborted) throw clickhouseError(236, 'The client has gone.');
      const ended = new AbortController();
      const kill = () => void killUntil(ended.signal, connection);
      request.gone.addEventListener('abort', kill, { once: true });
      try {
        return await work(connection);
      } finally {
        ended.abort();
        request.gone.removeEventListener('abort', kill);
      }
    });
  }

  async function insertRows(request: QueryRequest, insert: InlineInsert, rows: Readable): Promise<void> {
    if (engine.formats.get(insert.format.toLowerCase())?.input !== true) {
      throw clickhouseError(73, `Unknown format ${insert.format}.`);
    }
    const guarded = insert.format.toLowerCase() === 'values' ? guardValues(rows) : rows;
    const input = await spool.store(guarded);
    try {
      const { setup, token } = withoutToken(setupOf(request));
      const settings = [token, insert.settings].filter((text) => text !== '').join(', ');
      const source = `FROM INFILE ${quoteString(input.name)} COMPRESSION 'none'`;
      const clause = settings === '' ? '' : ` SETTINGS ${settings}`;
      const sql = `${insert.target} ${source}${clause} FORMAT ${insert.format}`;
      await classifyStatement(engine, sql, setup);
      const result = await engine.runLeavingNoTrace(setup, sql);
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

  async function execute(request: QueryRequest, sql: string): Promise<void> {
    const format = request.params.defaultFormat;
    const result = await engine.withConnection(setupOf(request), (connection) => connection.run(sql, format));
    return answerWith(request, responseOptions(request, format), result);
  }

  return { handle };
}

/** Every insert has a token of its own: as part of the statement, it leaves the connections of one sender alike. */
function withoutToken(setup: ConnectionSetup): { setup: ConnectionSetup; token: string } {
  const settings = new Map(setup.settings);
  const token = settings.get(TOKEN_SETTING);
  settings.delete(TOKEN_SETTING);
  return {
    setup: { ...setup, settings },
    token: token === undefined ? '' : `${TOKEN_SETTING} = ${quoteString(token)}`,
  };
}

/** Kills again and again: a statement that the engine has not begun yet is not there to be killed. */
async function killUntil(ended: AbortSignal, connection: Connection): Promise<void> {
  while (!ended.aborted) {
    await connection.kill();
    await setTimeout(KILL_AGAIN_MS, undefined, { signal: ended }).catch(() => undefined);
  }
}

async function answerWith(
  request: QueryRequest,
  options: ResponseOptions,
  result: EngineResult,
): Promise<void> {
  const bytes = withRevision(result.bytes, revisionOf(request, options.format));
  request.answer.begin(options, readSummary(result));
  await request.answer.write(bytes);
  await request.answer.end();
}

function revisionOf(request: QueryRequest, format: string): number {
  return format.toLowerCase() === 'native' ? request.params.nativeRevision : 0;
}

/** `(` opens a SELECT, too. */
function isSelect(sql: string): boolean {
  const first = tokenize(sql).next().value;
  return isWord(first ?? undefined, 'SELECT', 'WITH', 'FROM') || first?.text === '(';
}

/** The engine streams plain SELECTs; totals and extremes would be lost on the way. */
function mayStream(request: QueryRequest, sql: string, format: string): boolean {
  const { waitEndOfQuery, settings } = request.params;
  if (format.toLowerCase() === 'native') return true;
  if (waitEndOfQuery || settings.has('extremes') || !isStreamable(format)) return false;
  const words = [...tokenize(sql)].filter((token) => token.kind === 'word');
  return (
    isWord(words[0], 'SELECT', 'WITH', 'FROM') && !words.some((word) => isWord(word, 'TOTALS', 'EXTREMES'))
  );
}

async function streamRows(
  request: QueryRequest,
  connection: Connection,
  sql: string,
  options: ResponseOptions,
): Promise<void> {
  const { answer } = request;
  const revision = revisionOf(request, options.format);
  for await (const chunk of connection.stream(sql, options.format)) {
    const bytes = withRevision(chunk.bytes, revision);
    if (!answer.started) answer.begin(options, emptySummary);
    await answer.write(bytes);
  }
  if (!answer.started) answer.begin(options, emptySummary);
  await answer.end();
}

function assertMayWrite(request: QueryRequest): void {
  if (request.role === 'reader') {
    throw clickhouseError(497, 'gatewatch_reader: Not enough privileges. The reader may only read.');
  }
  if (request.mayWrite) return;
  throw clickhouseError(
    164,
    'Cannot execute query in readonly mode. For queries over HTTP, method GET implies readonly. You should use method POST for modifying queries',
  );
}

function setupOf(request: QueryRequest): ConnectionSetup {
  const { database, settings, parameters } = request.params;
  return { role: request.role, database, settings, parameters };
}

function responseOptions(request: QueryRequest, format: string): ResponseOptions {
  const timezone = request.params.settings.get('session_timezone') ?? 'UTC';
  return { format, timezone, compress: request.params.compressResponse };
}

function readSummary(result: EngineResult): Summary {
  return {
    ...emptySummary,
    readRows: result.rowsRead,
    readBytes: result.bytesRead,
    elapsedSeconds: result.elapsedSeconds,
  };
}
