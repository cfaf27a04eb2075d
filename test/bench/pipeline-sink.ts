import type { OrdersContext } from '../../collector/orders/context.ts';
import { configSchema } from '../../schemas/config.ts';
import { createMigrator } from '../../store/migrate.ts';
import { createClickHouseSink } from '../../collector/sinks/clickhouse/sink.ts';
import { createStore, type Store } from '../../store/store.ts';
import type { TestStore } from '../support/embedded.ts';
import { withBenchStore } from './bench-store.ts';

/** What a bench gets to write with, and the store behind it. */
export interface BenchSink {
  readonly embedded: TestStore;
  readonly store: Store;
  readonly write: OrdersContext['write'];
}

/** How a collector batches by default. */
export const BATCH = configSchema.parse({
  gateways: [{ name: 'acme-eu', secureUrl: 'http://127.0.0.1:1', token: 'a-token' }],
}).batch;

/** The real sink into an embedded store, with the settings that a collector has by default. */
export async function withSink<T>(work: (parts: BenchSink) => Promise<T>): Promise<T> {
  const embedded = await withBenchStore();
  const store = createStore({ url: embedded.url, ...embedded.writer });
  try {
    await createMigrator({ store }).run();
    const { maxRows: maxBatchRows, ...ages } = BATCH;
    const sink = createClickHouseSink({ store, collectorId: 'bench', maxBatchRows, ...ages });
    try {
      return await work({
        embedded,
        store,
        write: async (bundle, provenance) => void (await sink.write(bundle, provenance)),
      });
    } finally {
      await sink.stop(5_000);
    }
  } finally {
    await store.close();
    await embedded.stop();
  }
}
