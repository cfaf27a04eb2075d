import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DATABASE } from '../schemas/names.ts';
import { Secret } from '../schemas/secret.ts';
import { GatewatchError } from '../schemas/errors.ts';
import type { Store } from '../store/store.ts';
import type { Host } from './host.ts';
import { withProgress } from './terminal/progress.ts';
import type { StoreConfig } from './store-config.ts';

export interface Login {
  readonly username: string;
  readonly password: Secret;
}

export interface OpenedStore {
  /**
   * A server of the configuration, the embedded store that another process serves, or one started for this
   * command.
   */
  readonly kind: 'configured' | 'running' | 'started';
  readonly url: string;
  readonly database: string;
  readonly writer: Login;
  /** The embedded store's user who can only read. With a configured server: the configured user. */
  readonly reader: Login;
  /** What the system refuses the embedded engine's process, in words; null with a configured server. */
  readonly wall: string | null;
  /** The store with the writer's rights. */
  readonly store: Store;
  close(): Promise<void>;
}

export interface OpenStoreOptions {
  /** Make an embedded store where there is none yet. @default false: that is an error */
  readonly create?: boolean;
  /** Deadline of one statement. @default that of the configuration, else 30000 */
  readonly requestTimeoutMs?: number;
}

/**
 * Opens the store that the configuration means, as a command needs it: the configured server, else the
 * running embedded store, else one that lives as long as the command.
 * @throws GatewatchError `store_unavailable` when the data folder holds no store and none may be made
 */
export async function openStore(
  config: StoreConfig,
  host: Host,
  options: OpenStoreOptions = {},
): Promise<OpenedStore> {
  const wanted = options.requestTimeoutMs === undefined ? {} : { requestTimeoutMs: options.requestTimeoutMs };
  if (config.clickhouse !== undefined) {
    const { url, database, username, password, requestTimeoutMs } = config.clickhouse;
    const login = { username, password };
    return connect({
      kind: 'configured',
      url,
      database,
      writer: login,
      reader: login,
      wall: null,
      requestTimeoutMs,
      ...wanted,
    });
  }
  const { findRunningStore } = await import('../store/embedded/connection-file.ts');
  const database = DATABASE;
  const running = await findRunningStore(config.dataDir);
  if (running !== null) {
    return connect({
      kind: 'running',
      url: running.url,
      database,
      writer: loginOf(running.writer),
      reader: loginOf(running.reader),
      wall: running.wall,
      ...wanted,
    });
  }
  if (options.create !== true && !hasStore(config.dataDir)) {
    throw new GatewatchError(
      `There is no store in ${config.dataDir}. Start one with 'gatewatch run' or 'gatewatch store', or say where it is ` +
        'with --config, GATEWATCH_DATA_DIR or GATEWATCH_CLICKHOUSE_URL.',
      { code: 'store_unavailable' },
    );
  }
  const { startEmbeddedStore } = await import('../store/embedded/store.ts');
  const { fsync, readerPassword } = config.embedded;
  const starting = startEmbeddedStore({ dataDir: config.dataDir, port: 0, fsync, readerPassword });
  const embedded = await withProgress(host, 'starting the embedded store', starting);
  const { url } = embedded;
  const opened = await connect({
    kind: 'started',
    url,
    database,
    writer: loginOf(embedded.writer),
    reader: loginOf(embedded.reader),
    wall: embedded.wall,
    ...wanted,
  });
  return {
    ...opened,
    async close() {
      await opened.close();
      await embedded.stop();
    },
  };
}

/** Has an embedded store ever run in this folder? */
export function hasStore(dataDir: string): boolean {
  return existsSync(join(dataDir, 'clickhouse'));
}

async function connect(
  how: Omit<OpenedStore, 'store' | 'close'> & { requestTimeoutMs?: number },
): Promise<OpenedStore> {
  const { createStore } = await import('../store/store.ts');
  const { requestTimeoutMs, ...opened } = how;
  const store = createStore({
    url: opened.url,
    ...opened.writer,
    database: opened.database,
    ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
  });
  return { ...opened, store, close: () => store.close() };
}

function loginOf(login: { readonly username: string; readonly password: string }): Login {
  return { username: login.username, password: new Secret(login.password) };
}
