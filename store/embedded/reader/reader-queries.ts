import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { clickhouseError } from '../clickhouse-error.ts';
import type { Connection, Engine } from '../engine.ts';
import type { QueryRequest } from '../query-request.ts';
import type { ReaderLimits } from '../reader-limits.ts';
import { readHead } from '../request-body.ts';
import { readRequestParams } from '../request-params.ts';
import { createReadRunner } from '../run-read.ts';
import type { Spool } from '../spool.ts';
import { NOTHING_REFUSED, refusalOf, type RefusedStatements, type Watchdog } from '../stuck-statements.ts';
import { quoteString } from '../../sql/quote.ts';
import { allowedFormats } from './allowed-formats.ts';
import type { ReaderPolicy } from './policy-client.ts';
import { readerSettings } from './reader-settings.ts';
import { MAX_BODY_BYTES, refused, tooLong } from './bounds.ts';

/** A reader's request before anything of its body has been read. */
export interface ReaderHttpRequest extends Omit<QueryRequest, 'params'> {
  readonly search: readonly (readonly [string, string])[];
  readonly headers: { readonly database: string | undefined; readonly format: string | undefined };
  readonly contentType: string;
  readonly contentEncoding: string;
  /** As it came, packed or not. */
  readonly body: Readable;
}

export interface ReaderQueriesOptions {
  readonly engine: Engine;
  readonly spool: Spool;
  readonly policy: ReaderPolicy;
  readonly limits: ReaderLimits;
  /** Watches over statements that the engine cannot interrupt. @default nobody does */
  readonly watchdog?: Watchdog;
  /** @default nothing */
  readonly refusedStatements?: RefusedStatements;
}

const FORMATS: ReadonlyMap<string, string> = new Map(
  allowedFormats.flatMap(({ names }) => names.map((name) => [name.toLowerCase(), name] as const)),
);

/**
 * Runs a reader's statements (decision 14). This process reads bytes and counts them; what they say is judged
 * in the policy's process, and only the text that comes back from there is run.
 */
export function createReaderQueries(options: ReaderQueriesOptions) {
  const { engine, spool, policy, limits, watchdog } = options;
  const refusedStatements = options.refusedStatements ?? NOTHING_REFUSED;
  const reads = createReadRunner(engine, spool);

  async function handle(request: ReaderHttpRequest): Promise<void> {
    const { search, headers, contentType, contentEncoding, answer, gone } = request;
    const body = await readBody(request.body);
    const database = headers.database ?? null;
    const { params: entries, statement } = await policy.judge({
      search,
      database,
      contentType,
      contentEncoding,
      body,
    });
    const params = readRequestParams(entries, headers);
    const format = formatOf(statement.format ?? params.defaultFormat);
    const settings = readerSettings([...params.settings, ...statement.settings], limits);
    const setup = {
      role: 'reader',
      database: params.database,
      settings,
      parameters: params.parameters,
    } as const;
    const { sql, kind } = statement;
    const hash = hashOf(sql, params.parameters);
    const refusal = refusalOf(refusedStatements, hash, Date.now());
    if (refusal !== null) throw clickhouseError(159, `The statement is refused: ${refusal}.`);
    await reads.run(
      { params, answer, gone },
      setup,
      {
        sql,
        format,
        // Nothing comes of the format Null: there is no file to send.
        isSelect: kind === 'select' && format !== 'Null',
        mayStream: false,
        check: (connection) => assertReads(sql, connection),
        ...(watchdog === undefined ? {} : { watch: (work) => watchdog.watch(hash, gone, work) }),
        intoFile: (name) => `${sql} INTO OUTFILE ${quoteString(name)} COMPRESSION 'none' FORMAT ${format}`,
      },
      { maxFileBytes: limits.maxResultBytes },
    );
  }

  return { handle };
}

const hashOf = (sql: string, parameters: ReadonlyMap<string, string>): string =>
  createHash('sha256')
    .update(JSON.stringify([sql, [...parameters]]))
    .digest('hex');

/** The engine's own word for it, in case the gate has let something else through. */
async function assertReads(sql: string, connection: Connection): Promise<void> {
  const { statementCount, queryClass } = await connection.analyze(sql);
  if (statementCount !== 1 || queryClass !== READ_ONLY)
    throw refused('anything but one statement that reads');
}

/** The class of statements that change nothing (`StatementAnalysis`). */
const READ_ONLY = 0;

/** The format's name as the list has it. */
function formatOf(name: string): string {
  const format = FORMATS.get(name.toLowerCase());
  if (format === undefined)
    throw clickhouseError(73, `Unknown format ${name.slice(0, 64)}, or none for a reader.`);
  return format;
}

/** A body that has not arrived by then is given up. */
const BODY_TIMEOUT_MS = 30_000;

async function readBody(body: Readable): Promise<Buffer> {
  const late = AbortSignal.timeout(BODY_TIMEOUT_MS);
  const giveUp = (): void => void body.destroy(clickhouseError(209, 'The body did not arrive in time.'));
  late.addEventListener('abort', giveUp, { once: true });
  try {
    const { head, rest } = await readHead(body, MAX_BODY_BYTES + 1);
    if (rest !== null) throw tooLong();
    return head;
  } finally {
    late.removeEventListener('abort', giveUp);
  }
}
