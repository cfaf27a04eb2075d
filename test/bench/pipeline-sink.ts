import type { OrdersContext } from '../../collector/orders/context.ts';
import { createMigrator } from '../../store/migrate.ts';
import { createClickHouseSink } from '../../collector/sinks/clickhouse/sink.ts';
import { createStore, type Store } from '../../store/store.ts';
import { withBenchStore } from './bench-store.ts';

/** The real sink into an embedded store, with the product's own settings. */
export async function withSink<T>(
  work: (parts: { store: Store; write: OrdersContext['write'] }) => Promise<T>,
): Promise<T> {
  const embedded = await withBenchStore();
  const store = createStore({ url: embedded.url, ...embedded.writer });
  try {
    await createMigrator({ store }).run();
    const sink = createClickHouseSink({ store, collectorId: 'bench' });
    try {
      return await work({
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
