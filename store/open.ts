import type { Logger } from 'pino';
import { sleep } from '../schemas/deadline.ts';
import type { LoadedConfig } from '../schemas/config.ts';
import type { Refill } from './embedded/set-aside.ts';
import { startEmbeddedStore, type EmbeddedStore } from './embedded/store.ts';
import { isRetryable } from '../schemas/errors.ts';
import { createMigrator } from './migrate.ts';
import { createStore, type Store } from './store.ts';
import { MIGRATIONS_FOLDER } from './package-files.ts';
import { retentionDays } from './retention-days.ts';

export interface OpenStore {
  readonly store: Store;
  readonly embedded: EmbeddedStore | null;
  /** Set when the store began anew and its sources have yet to be told. */
  readonly refill?: Refill | undefined;
  stop(): Promise<void>;
}

const RETRY_MS = 2_000;
/** The whole collector has ten seconds to stop. */
const STOP_TIMEOUT_MS = 2_500;

/** The configured ClickHouse, or the embedded one. The embedded one is running when this resolves. */
export async function openStore(config: LoadedConfig, log: Logger): Promise<OpenStore> {
  const { clickhouse } = config;
  if (clickhouse !== undefined) {
    const store = createStore(clickhouse);
    return { store, embedded: null, stop: () => store.close() };
  }
  const embedded = await startEmbeddedStore({
    dataDir: config.dataDir,
    port: config.embedded.port,
    fsync: config.embedded.fsync,
    readerPassword: config.embedded.readerPassword,
    stopTimeoutMs: STOP_TIMEOUT_MS,
    log: ({ level, msg, ...fields }) => log[level](fields, msg),
  });
  const store = createStore({ url: embedded.url, ...embedded.writer });
  return {
    store,
    embedded,
    refill: embedded.refill.isDue() ? embedded.refill : undefined,
    async stop() {
      await store.close();
      await embedded.stop();
    },
  };
}

/** Brings the schema up to date, waiting for a store that does not answer yet. */
export async function migrate(
  store: Store,
  config: LoadedConfig,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const retention = retentionDays(config.retention);
  const migrator = createMigrator({ store, directory: MIGRATIONS_FOLDER, retention });
  const done = await untilStoreAnswers(() => migrator.run(), { store, log, signal });
  for (const step of done.steps) log.info({ step: step.title }, 'schema: applied');
}

/** Repeats a step of the start while the store is away or too slow for it. */
export async function untilStoreAnswers<T>(
  step: () => Promise<T>,
  { store, log, signal }: { readonly store: Store; readonly log: Logger; readonly signal: AbortSignal },
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
