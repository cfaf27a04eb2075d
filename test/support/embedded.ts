import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  startEmbeddedStore,
  type EmbeddedStore,
  type EmbeddedStoreOptions,
} from '../../store/embedded/store.ts';
import { PATIENCE_MS } from './until.ts';

/** An embedded ClickHouse of a test's own: a folder that nobody else has, and a free port. */
export interface TestStore {
  readonly store: EmbeddedStore;
  readonly url: string;
  readonly dataDir: string;
  /** For `createClient({ url, ...writer })`. */
  readonly writer: EmbeddedStore['writer'];
  readonly reader: { readonly username: string; readonly password: string };
  /** Stops the store and removes its folder. */
  stop(): Promise<void>;
}

/**
 * Starts a store for a test file:
 *
 *     let store: TestStore;
 *     beforeAll(async () => { store = await withEmbedded(); });
 *     afterAll(() => store.stop());
 */
export async function withEmbedded(options: Partial<EmbeddedStoreOptions> = {}): Promise<TestStore> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'gatewatch-store-')));
  // Power loss is no part of these tests, and waiting for the disk would only slow them.
  const store = await startEmbeddedStore({
    port: 0,
    fsync: false,
    // Tests run where the system has no sandbox, too.
    readersWithoutSandbox: 'trusted_with_all_files',
    startTimeoutMs: PATIENCE_MS,
    ...options,
    dataDir,
  });
  return {
    store,
    url: store.url,
    dataDir,
    writer: store.writer,
    reader: store.reader,
    async stop() {
      await store.stop();
      if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
}
