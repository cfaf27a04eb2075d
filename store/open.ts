import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import { sleep } from '../schemas/deadline.ts';
import type { Config, RetentionConfig } from '../schemas/config.ts';
import { GatewatchError, isRetryable } from '../schemas/errors.ts';
import { DATABASE } from '../schemas/names.ts';
import { Secret } from '../schemas/secret.ts';
import { storePaths } from './embedded/engine-config.ts';
import { findRunningStore } from './embedded/connection-file.ts';
import type { EmbeddedStoreEvent } from './embedded/events.ts';
import { startEmbeddedStore, type EmbeddedStore } from './embedded/store.ts';
import { createMigrator, type Migrator } from './migrate.ts';
import { retentionDays } from './retention.ts';
import { createStore, type Store } from './store.ts';

export interface Login {
  readonly username: string;
  readonly password: Secret;
}

/** Who can be asked, and as whom. */
interface Address {
  /**
   * A server of the configuration, the embedded store that another process serves, or one that this process
   * started.
   */
  readonly kind: 'configured' | 'running' | 'started';
  readonly url: string;
  readonly database: string;
  readonly writer: Login;
  /** The embedded store's user who can only read. With a configured server: the configured user. */
  readonly reader: Login;
  /** What the system refuses the embedded engine's process, in words; null with a configured server. */
  readonly sandbox: string | null;
  /** File of the key of fingerprints; null with a configured server, which has it in a table. */
  readonly keyFile: string | null;
}

export interface OpenedStore extends Address {
  /** The store with the writer's rights. */
  readonly store: Store;
  /** The engine that this process started; null when another process serves the store. */
  readonly embedded: EmbeddedStore | null;
  close(): Promise<void>;
}

export interface OpenOptions {
  /**
   * Where the configuration names no server. `find`: the store that another process serves, else the one in
   * the data folder, started at a free port. `create`: the same, and an empty one where there is none.
   * `serve`: the one in the data folder, at its configured port. @default 'find'
   */
  readonly embedded?: 'find' | 'create' | 'serve';
  /** Deadline of one statement. @default that of the configuration, else 30000 */
  readonly requestTimeoutMs?: number;
  /** How long the engine's running requests may take to finish at the end. @default 10000 */
  readonly stopTimeoutMs?: number;
  /** Called with what happens to the engine that this process starts. */
  readonly log?: (event: EmbeddedStoreEvent) => void;
  /** Shows a person what is being waited for. */
  readonly progress?: <T>(what: string, work: Promise<T>) => Promise<T>;
}

/**
 * The one way to open the store: the configured server, or the embedded store.
 * @throws GatewatchError `store_unavailable` when the data folder holds no store and none may be made
 * @throws EmbeddedStoreError when the engine does not start
 */
export async function openStore(
  config: Pick<Config, 'clickhouse' | 'dataDir' | 'embedded'>,
  options: OpenOptions = {},
): Promise<OpenedStore> {
  if (config.clickhouse !== undefined) {
    const { url, database, username, password, requestTimeoutMs } = config.clickhouse;
    const login = { username, password };
    const server = {
      kind: 'configured',
      url,
      database,
      writer: login,
      reader: login,
      sandbox: null,
      keyFile: null,
    } as const;
    return connect(server, { requestTimeoutMs, ...options });
  }
  const mode = options.embedded ?? 'find';
  const running = mode === 'serve' ? null : await findRunningStore(config.dataDir);
  if (running !== null) return connect(addressOf('running', running, config.dataDir), options);
  if (mode === 'find' && !hasStore(config.dataDir)) {
    throw new GatewatchError(
      `There is no store in ${config.dataDir}. Start one with 'gatewatch run' or 'gatewatch store', or say where it is ` +
        'with --config, GATEWATCH_DATA_DIR or GATEWATCH_CLICKHOUSE_URL.',
      { code: 'store_unavailable' },
    );
  }
  const embedded = await startEngine(config, options);
  return connect(addressOf('started', embedded, config.dataDir), options, embedded);
}

/** Has an embedded store ever run in this folder? */
export function hasStore(dataDir: string): boolean {
  return existsSync(join(dataDir, 'clickhouse'));
}

function startEngine(
  config: Pick<Config, 'dataDir' | 'embedded'>,
  { embedded, stopTimeoutMs, log, progress }: OpenOptions,
): Promise<EmbeddedStore> {
  const { port, fsync, readerPassword, readersWithoutSandbox } = config.embedded;
  const starting = startEmbeddedStore({
    dataDir: config.dataDir,
    port: embedded === 'serve' ? port : 0,
    fsync,
    readerPassword,
    readersWithoutSandbox,
    ...(stopTimeoutMs === undefined ? {} : { stopTimeoutMs }),
    ...(log === undefined ? {} : { log }),
  });
  return progress === undefined ? starting : progress('starting the embedded store', starting);
}

function addressOf(
  kind: 'running' | 'started',
  store: Pick<EmbeddedStore, 'url' | 'writer' | 'reader' | 'sandbox'>,
  dataDir: string,
): Address {
  const { url, writer, reader, sandbox } = store;
  const logins = { writer: loginOf(writer), reader: loginOf(reader) };
  return {
    kind,
    url,
    database: DATABASE,
    ...logins,
    sandbox,
    keyFile: storePaths(resolve(dataDir)).fingerprintKey,
  };
}

function loginOf(login: { readonly username: string; readonly password: string }): Login {
  return { username: login.username, password: new Secret(login.password) };
}

function connect(
  address: Address,
  { requestTimeoutMs }: OpenOptions,
  embedded: EmbeddedStore | null = null,
): OpenedStore {
  const store = createStore({
    url: address.url,
    ...address.writer,
    database: address.database,
    ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
  });
  return {
    ...address,
    store,
    embedded,
    async close() {
      await store.close();
      await embedded?.stop();
    },
  };
}

/** What brings this store to the schema of this version. */
export function schemaMigrator(store: Store, retention: RetentionConfig): Migrator {
  return createMigrator({ store, retention: retentionDays(retention) });
}

/** A store that may be away, and how long to wait for it. */
export interface Waiting {
  readonly store: Store;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Brings the schema up to date, waiting for a store that does not answer yet. */
export async function migrate(retention: RetentionConfig, waiting: Waiting): Promise<void> {
  const migrator = schemaMigrator(waiting.store, retention);
  const done = await untilStoreAnswers(() => migrator.run(), waiting);
  for (const step of done.steps) waiting.log.info({ step: step.title }, 'schema: applied');
}

const RETRY_MS = 2_000;

/** Repeats a step of the start while the store is away or too slow for it. */
export async function untilStoreAnswers<T>(
  step: () => Promise<T>,
  { store, log, signal }: Waiting,
): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await step();
    } catch (error) {
      if (!isRetryable(error)) throw error;
      log.warn(
        { reason: (error as Error).message, store: store.url, retryInMs: RETRY_MS },
        'the store does not answer',
      );
      await sleep(RETRY_MS, signal);
    }
  }
}
