import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client';
import { Readable } from 'node:stream';
import { sleep } from '../schemas/deadline.ts';
import type { TableKey } from '../schemas/names.ts';
import { DATABASE } from '../schemas/names.ts';
import type { Rows } from '../schemas/rows.ts';
import type { Secret } from '../schemas/secret.ts';
import type { FrozenInsert } from './frozen-insert.ts';
import { freezeInsert } from './frozen-insert.ts';
import { createInsertTokens } from './insert-tokens.ts';
import { toStoreError } from './store-error.ts';

export interface StoreOptions {
  /** Address of ClickHouse's HTTP interface, e.g. `http://127.0.0.1:8123`. */
  url: string;
  /** @default 'default' */
  username?: string;
  /** @default no password */
  password?: Secret | string;
  /** @default 'gatewatch' */
  database?: string;
  /** Deadline of one statement, answer included. @default 30000 */
  requestTimeoutMs?: number;
  /** Connections kept open at most. @default 8 */
  maxConnections?: number;
}

export type SqlParams = Readonly<Record<string, unknown>>;
export type SqlSettings = Readonly<Record<string, string | number>>;

export interface StatementOptions {
  /** @default the store's database; '' for none */
  database?: string;
  /** Gives the statement up; it may still be executed. */
  signal?: AbortSignal;
  params?: SqlParams;
  /** It may take minutes: there is no deadline as long as the store answers others. @default false */
  long?: boolean;
}

/**
 * A query's result as ClickHouse's `FORMAT JSON` gives it: the types are needed, since JSON alone hides them.
 */
export interface TableResult {
  readonly meta?: readonly { readonly name: string; readonly type: string }[];
  readonly data: readonly Readonly<Record<string, unknown>>[];
}

/** The one door to ClickHouse. Every method throws StoreError, whose text never quotes rows or statements. */
export interface Store {
  readonly url: string;
  readonly database: string;
  /**
   * Rows of a SELECT without FORMAT; 64-bit integers come as numbers. Parameters as `{name:Type}`; the
   * setting `database` replaces the store's.
   */
  query<T>(sql: string, params?: SqlParams, settings?: SqlSettings): Promise<T[]>;
  /** Body of a SELECT in any of ClickHouse's formats, as text. */
  queryText(sql: string, format: string, params?: SqlParams, settings?: SqlSettings): Promise<string>;
  /** A statement without result, e.g. DDL. */
  command(sql: string, options?: StatementOptions): Promise<void>;
  /**
   * Inserts rows of one table; the default token is derived from their content, so that repeating is
   * harmless.
   */
  insert<K extends TableKey>(table: K, rows: readonly Rows[K][], token?: string): Promise<void>;
  /**
   * Inserts bytes that were encoded before. Resolves when ClickHouse has stored them; safe to repeat until it
   * does.
   */
  insertFrozen(insert: FrozenInsert, signal?: AbortSignal): Promise<void>;
  /** True when the store answers. Never throws. */
  ping(): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * Pinned, because defaults differ between versions and servers: asynchronous inserts would acknowledge before
 * storing, and without `wait_end_of_query` an error could follow the acknowledgement.
 */
const INSERT_SETTINGS: ClickHouseSettings = {
  async_insert: 0,
  wait_end_of_query: 1,
  insert_deduplicate: 1,
  // A batch that failed between a table and its view reaches the view on the retry.
  deduplicate_blocks_in_dependent_materialized_views: 1,
  // Views have nothing to do with each other, and each keeps its own tokens.
  parallel_view_processing: 1,
  // Merging rows of one key can wait for the merges (a quarter of an insert's work): the views show each
  // thing once.
  optimize_on_insert: 0,
  // A backfill touches many weeks at once.
  max_partitions_per_insert_block: '0',
};

/** Opens no connection by itself: the first statement does. */
export function createStore(options: StoreOptions): Store {
  const database = options.database ?? DATABASE;
  const requestTimeoutMs = options.requestTimeoutMs ?? 30_000;
  const client = openClient(options);
  const exec = createExec(client, options, database, requestTimeoutMs);
  const tokens = createInsertTokens();
  const queryText: Store['queryText'] = (sql, format, params, settings) =>
    exec({
      operation: 'query',
      sql: `${sql}\nFORMAT ${format}`,
      settings: { wait_end_of_query: 1, ...settings },
      params,
    });
  const insertFrozen: Store['insertFrozen'] = (insert, signal) => {
    const send = async (token: string): Promise<void> => {
      const settings = { ...INSERT_SETTINGS, insert_deduplication_token: token };
      const operation = `insert into ${insert.tableName}`;
      await exec({ operation, sql: insert.statement, settings, values: insert.bytes, signal });
    };
    const uptimeS = async (): Promise<number> =>
      Number(await exec({ operation: 'query', sql: 'SELECT uptime() FORMAT TabSeparated', signal }));
    return tokens.deliver(insert.token, { send, uptimeS });
  };
  // Not the client's own: that one knows no password but the first.
  const ping = (): Promise<boolean> =>
    exec({ operation: 'ping', sql: 'SELECT 1', database: 'system' }).then(
      () => true,
      () => false,
    );
  return {
    url: options.url,
    database,
    async query<T>(sql: string, params?: SqlParams, settings?: SqlSettings): Promise<T[]> {
      const text = await queryText(sql, 'JSONEachRow', params, settings);
      return text === '' ? [] : (JSON.parse(`[${text.trimEnd().replaceAll('\n', ',')}]`) as T[]);
    },
    queryText,
    async command(sql, { long = false, ...more } = {}) {
      const run = (deadline?: AbortSignal) =>
        exec({ operation: describe(sql), sql, settings: { wait_end_of_query: 1 }, ...more, deadline });
      await (long ? whileAnswering(run, ping, requestTimeoutMs) : run());
    },
    insert: (table, rows, token) =>
      rows.length === 0 ? Promise.resolve() : insertFrozen(freezeInsert(table, rows, { token })),
    insertFrozen,
    ping,
    close: () => client.close(),
  };
}

function openClient(options: StoreOptions): ClickHouseClient {
  return createClient({
    url: options.url,
    application: 'gatewatch',
    // The client's own limit counts silence only; our deadlines count everything.
    request_timeout: LONG_STATEMENT_MS,
    max_open_connections: options.maxConnections ?? 8,
    keep_alive: { enabled: true, idle_socket_ttl: 2000 },
    // It would log statements and rows.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
  });
}

/** Longer than any statement: what bounds it is that the store answers. */
const LONG_STATEMENT_MS = 86_400_000;

interface Statement {
  /** What errors say was done. */
  readonly operation: string;
  readonly sql: string;
  readonly settings?: ClickHouseSettings;
  /** @default the store's; '' for none */
  readonly database?: string | undefined;
  readonly params?: SqlParams | undefined;
  readonly values?: Uint8Array;
  readonly signal?: AbortSignal | undefined;
  /** Instead of the store's own. */
  readonly deadline?: AbortSignal | undefined;
}

/** Sends statements and reads their answers. Everything that fails is a StoreError. */
function createExec(
  client: ClickHouseClient,
  { username, password }: StoreOptions,
  database: string,
  requestTimeoutMs: number,
): (statement: Statement) => Promise<string> {
  // With each request: the password may be renewed.
  const auth = () => ({
    username: username ?? 'default',
    password: typeof password === 'object' ? password.reveal() : (password ?? ''),
  });
  return async (statement) => {
    const deadline = statement.deadline ?? AbortSignal.timeout(requestTimeoutMs);
    const { signal: given } = statement;
    const signal = given === undefined ? deadline : AbortSignal.any([deadline, given]);
    try {
      const { stream } = await client.exec({
        query: statement.sql,
        auth: auth(),
        clickhouse_settings: { ...databaseSetting(statement.database ?? database), ...statement.settings },
        abort_signal: signal,
        ...(statement.params === undefined ? {} : { query_params: { ...statement.params } }),
        ...(statement.values === undefined ? {} : { values: Readable.from([statement.values]) }),
      });
      return await readAll(stream, signal);
    } catch (error) {
      throw toStoreError(statement.operation, signal.aborted ? signal.reason : error);
    }
  };
}

async function readAll(stream: Readable, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  const giveUp = (): void => void stream.destroy(signal.reason as Error);
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    for await (const chunk of stream) chunks.push(chunk as Buffer);
  } finally {
    // The signal lasts until its deadline: it would hold on to all that was sent, a batch's bytes included.
    signal.removeEventListener('abort', giveUp);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * Waits for a statement that may take long, as long as the store answers others meanwhile: a copy of a large
 * table takes minutes, and a store that hangs would take for ever. Given up, the statement may still be
 * executed.
 */
async function whileAnswering<T>(
  run: (signal: AbortSignal) => Promise<T>,
  ping: () => Promise<boolean>,
  everyMs: number,
): Promise<T> {
  const silence = new AbortController();
  const done = new AbortController();
  const watch = async (): Promise<void> => {
    for (;;) {
      await sleep(everyMs, done.signal);
      if (done.signal.aborted) return;
      if (await ping()) continue;
      silence.abort(new DOMException('The store does not answer any more', 'TimeoutError'));
      return;
    }
  };
  const watching = watch().catch(() => undefined);
  try {
    return await run(silence.signal);
  } finally {
    done.abort();
    await watching;
  }
}

function databaseSetting(database: string): ClickHouseSettings {
  // Sent as a setting because the client's own `database` is the same for every statement, and the first one
  // of all creates it.
  return database === '' ? {} : ({ database } as unknown as ClickHouseSettings);
}

/** The statement's first words: enough to know it by, and free of values. */
function describe(sql: string): string {
  const words = sql
    .replaceAll(/--[^\n]*/g, '')
    .replace(/\s(?:values\b|\(*['\d])[\s\S]*$/i, '')
    .trim()
    .split(/\s+/)
    .slice(0, 6);
  return words.join(' ').toLowerCase();
}
