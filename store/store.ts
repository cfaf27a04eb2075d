import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { ClickHouseSettings } from '@clickhouse/client';
import { Readable } from 'node:stream';
import type { TableKey } from '../schemas/names.ts';
import { DATABASE } from '../schemas/names.ts';
import type { Rows } from '../schemas/rows.ts';
import type { Secret } from '../schemas/secret.ts';
import type { FrozenInsert } from './frozen-insert.ts';
import { freezeInsert } from './frozen-insert.ts';
import { createInsertTokens } from './insert-tokens.ts';
import { LONG_STATEMENT_MS, whileAnswering } from './long-statement.ts';
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
  // With each request: the password may be renewed.
  const auth = () => ({
    username: options.username ?? 'default',
    password: typeof options.password === 'object' ? options.password.reveal() : (options.password ?? ''),
  });
  const client = createClient({
    url: options.url,
    application: 'gatewatch',
    // The client's own limit counts silence only; the deadlines below count everything.
    request_timeout: LONG_STATEMENT_MS,
    max_open_connections: options.maxConnections ?? 8,
    keep_alive: { enabled: true, idle_socket_ttl: 2000 },
    // It would log statements and rows.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
  });

  async function guarded<T>(
    operation: string,
    signal: AbortSignal | undefined,
    run: (signal: AbortSignal) => Promise<T>,
    deadline = AbortSignal.timeout(requestTimeoutMs),
  ): Promise<T> {
    const both = signal === undefined ? deadline : AbortSignal.any([deadline, signal]);
    try {
      return await run(both);
    } catch (error) {
      throw toStoreError(operation, both.aborted ? both.reason : error);
    }
  }

  async function exec(
    operation: string,
    query: string,
    settings: ClickHouseSettings,
    more: Omit<StatementOptions, 'signal' | 'long'> & {
      values?: Uint8Array;
      signal?: AbortSignal | undefined;
      deadline?: AbortSignal;
    },
  ): Promise<string> {
    const run = async (signal: AbortSignal): Promise<string> => {
      const { stream } = await client.exec({
        query,
        auth: auth(),
        clickhouse_settings: { ...databaseSetting(more.database ?? database), ...settings },
        abort_signal: signal,
        ...(more.params === undefined ? {} : { query_params: { ...more.params } }),
        ...(more.values === undefined ? {} : { values: Readable.from([more.values]) }),
      });
      const chunks: Buffer[] = [];
      const giveUp = (): void => void stream.destroy(signal.reason as Error);
      signal.addEventListener('abort', giveUp, { once: true });
      try {
        for await (const chunk of stream) chunks.push(chunk as Buffer);
      } finally {
        // The signal lasts until its deadline: it would hold on to all that was sent, a batch's bytes
        // included.
        signal.removeEventListener('abort', giveUp);
      }
      return Buffer.concat(chunks).toString('utf8');
    };
    return guarded(operation, more.signal, run, more.deadline);
  }

  const tokens = createInsertTokens();
  const store: Store = {
    url: options.url,
    database,
    async query<T>(sql: string, params?: SqlParams, settings?: SqlSettings): Promise<T[]> {
      const text = await store.queryText(sql, 'JSONEachRow', params, settings);
      return text === '' ? [] : (JSON.parse(`[${text.trimEnd().replaceAll('\n', ',')}]`) as T[]);
    },
    queryText: (sql, format, params, settings) =>
      exec(
        'query',
        `${sql}\nFORMAT ${format}`,
        { wait_end_of_query: 1, ...settings },
        params === undefined ? {} : { params },
      ),
    async command(sql, { long = false, ...more } = {}) {
      const run = (deadline?: AbortSignal) =>
        exec(
          describe(sql),
          sql,
          { wait_end_of_query: 1 },
          { ...more, ...(deadline === undefined ? {} : { deadline }) },
        );
      await (long ? whileAnswering(run, () => store.ping(), requestTimeoutMs) : run());
    },
    insert: (table, rows, token) =>
      rows.length === 0 ? Promise.resolve() : store.insertFrozen(freezeInsert(table, rows, { token })),
    insertFrozen(insert, signal) {
      const send = async (token: string): Promise<void> => {
        const settings = { ...INSERT_SETTINGS, insert_deduplication_token: token };
        const sent = { values: insert.bytes, signal };
        await exec(`insert into ${insert.tableName}`, insert.statement, settings, sent);
      };
      const uptimeS = async (): Promise<number> =>
        Number(await exec('query', 'SELECT uptime() FORMAT TabSeparated', {}, { signal }));
      return tokens.deliver(insert.token, { send, uptimeS });
    },
    async ping() {
      // Not the client's own: that one knows no password but the first.
      const asked = exec('ping', 'SELECT 1', {}, { database: 'system' });
      return asked.then(
        () => true,
        () => false,
      );
    },
    close: () => client.close(),
  };
  return store;
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
    .trim()
    .split(/\s+/)
    .slice(0, 6);
  return words.join(' ').toLowerCase();
}
