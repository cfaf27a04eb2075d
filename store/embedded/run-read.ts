import { open, stat } from 'node:fs/promises';
import { sleep } from '../../schemas/deadline.ts';
import { clickhouseError } from './clickhouse-error.ts';
import type { Connection, ConnectionSetup, Engine, EngineResult } from './engine.ts';
import { isStreamable } from './formats.ts';
import { rewriteBlocks, withRevision } from './native-revision.ts';
import type { QueryRequest } from './query-request.ts';
import { emptySummary, type ResponseOptions, type Summary } from './response.ts';
import type { Spool } from './spool.ts';

/** A statement that only reads, and how its result goes out. */
export interface Read {
  /** Without FORMAT behind it when `isSelect`. */
  readonly sql: string;
  readonly format: string;
  /** A SELECT: others (SHOW, DESCRIBE, EXPLAIN) are short, and not all of them take INTO OUTFILE. */
  readonly isSelect: boolean;
  /**
   * Rows may be sent while the statement runs; the result has no totals. False for readers: a streamed
   * statement is planned on the thread that serves all requests, and a reader could block it.
   */
  readonly mayStream: boolean;
  /** The statement with its result sent to a file. */
  readonly intoFile: (name: string) => string;
  /** Runs what the engine does for it. @default nobody watches */
  readonly watch?: <T>(work: () => Promise<T>) => Promise<T>;
  /** Throws when it must not run after all. @default it runs */
  readonly check?: (connection: Connection) => Promise<void>;
}

export interface ReadLimits {
  /** Size of a result that is written to a file first. */
  readonly maxFileBytes: number;
}

const KILL_AGAIN_MS = 200;
const CHECK_FILE_SIZE_MS = 100;
const WRITER_LIMITS: ReadLimits = { maxFileBytes: Number.POSITIVE_INFINITY };

/** Runs statements that only read. Results are never held in memory whole. */
export function createReadRunner(engine: Engine, spool: Spool) {
  async function run(
    request: QueryRequest,
    setup: ConnectionSetup,
    read: Read,
    limits: ReadLimits = WRITER_LIMITS,
  ): Promise<void> {
    const options = responseOptions(request, read.format);
    await engine.withUsedConnection(setup, (connection) =>
      untilGone(request, connection, async () => {
        await read.check?.(connection);
        if (!read.isSelect) {
          const result = await watched(read, () => connection.run(read.sql, read.format));
          await answerWith(request, options, result);
        } else if (mayStream(request, read)) await streamRows(request, connection, read, options);
        else await sendFile(request, connection, read, options, limits);
      }),
    );
  }

  /**
   * Formats with a header or footer are written by the engine as a whole, next to the data and not into
   * memory.
   */
  async function sendFile(
    request: QueryRequest,
    connection: Connection,
    read: Read,
    options: ResponseOptions,
    limits: ReadLimits,
  ): Promise<void> {
    const output = spool.newFile();
    try {
      const result = await bounded(output.path, limits, connection, () =>
        watched(read, () => connection.run(read.intoFile(output.name))),
      );
      const file = await open(output.path);
      const revision = revisionOf(request, read.format);
      const content = file.createReadStream({ highWaterMark: 1 << 18 }) as AsyncIterable<Buffer>;
      const chunks = revision === 0 ? content : rewriteBlocks(content, revision);
      for await (const chunk of chunks) {
        if (!request.answer.started) request.answer.begin(options, readSummary(result));
        await request.answer.write(chunk);
      }
      if (!request.answer.started) request.answer.begin(options, readSummary(result));
      await request.answer.end();
    } finally {
      await spool.remove(output);
    }
  }

  return { run };
}

/** The engine's part alone: a client may take its time to read. */
const watched = <T>(read: Read, work: () => Promise<T>): Promise<T> => read.watch?.(work) ?? work();

/** A statement is killed when its client leaves. */
async function untilGone<T>(
  request: QueryRequest,
  connection: Connection,
  work: () => Promise<T>,
): Promise<T> {
  if (request.gone.aborted) throw clickhouseError(236, 'The client has gone.');
  const ended = new AbortController();
  const kill = (): void => void killUntil(ended.signal, connection);
  request.gone.addEventListener('abort', kill, { once: true });
  try {
    return await work();
  } finally {
    ended.abort();
    request.gone.removeEventListener('abort', kill);
  }
}

/**
 * Ends a statement whose file grows too large: the engine bounds a result by its rows, which become longer as
 * text.
 */
async function bounded<T>(
  path: string,
  { maxFileBytes }: ReadLimits,
  connection: Connection,
  work: () => Promise<T>,
): Promise<T> {
  if (!Number.isFinite(maxFileBytes)) return work();
  const ended = new AbortController();
  let isTooLarge = false;
  const watch = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await sleep(CHECK_FILE_SIZE_MS, ended.signal);
      const size = ended.signal.aborted
        ? 0
        : await stat(path).then(
            (file) => file.size,
            () => 0,
          );
      isTooLarge ||= size > maxFileBytes;
      if (isTooLarge) await connection.kill();
    }
  };
  const watching = watch();
  try {
    return await work();
  } catch (error) {
    if (!isTooLarge) throw error;
    throw clickhouseError(396, `Limit for result exceeded: it is longer than ${maxFileBytes} bytes.`);
  } finally {
    ended.abort();
    await watching;
  }
}

/** Kills again and again: a statement that the engine has not begun yet is not there to be killed. */
async function killUntil(ended: AbortSignal, connection: Connection): Promise<void> {
  while (!ended.aborted) {
    await connection.kill();
    await sleep(KILL_AGAIN_MS, ended);
  }
}

/** The engine streams plain SELECTs; totals and extremes would be lost on the way. */
function mayStream(request: QueryRequest, { format, mayStream: isAllowed }: Read): boolean {
  const { waitEndOfQuery, settings } = request.params;
  if (!isAllowed) return false;
  if (format.toLowerCase() === 'native') return true;
  return !waitEndOfQuery && !settings.has('extremes') && isStreamable(format);
}

async function streamRows(
  request: QueryRequest,
  connection: Connection,
  { sql, format }: Read,
  options: ResponseOptions,
): Promise<void> {
  const { answer } = request;
  const revision = revisionOf(request, format);
  for await (const chunk of connection.stream(sql, format)) {
    const bytes = withRevision(chunk.bytes, revision);
    if (!answer.started) answer.begin(options, emptySummary);
    await answer.write(bytes);
  }
  if (!answer.started) answer.begin(options, emptySummary);
  await answer.end();
}

/** Answers with a result that is in memory. */
export async function answerWith(
  request: QueryRequest,
  options: ResponseOptions,
  result: EngineResult,
): Promise<void> {
  const bytes = withRevision(result.bytes, revisionOf(request, options.format));
  request.answer.begin(options, readSummary(result));
  await request.answer.write(bytes);
  await request.answer.end();
}

export function responseOptions(request: QueryRequest, format: string): ResponseOptions {
  const timezone = request.params.settings.get('session_timezone') ?? 'UTC';
  const { compressResponse, packBlocks } = request.params;
  return { format, timezone, compress: compressResponse, packBlocks };
}

export function readSummary(result: EngineResult): Summary {
  return {
    ...emptySummary,
    readRows: result.rowsRead,
    readBytes: result.bytesRead,
    // The library counts the rows of the result. JDBC takes a result without any for an empty one.
    resultRows: result.rowsRead,
    elapsedSeconds: result.elapsedSeconds,
  };
}

function revisionOf(request: QueryRequest, format: string): number {
  return format.toLowerCase() === 'native' ? request.params.nativeRevision : 0;
}
