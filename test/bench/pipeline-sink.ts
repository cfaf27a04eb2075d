import type { OrdersContext } from '../../collector/orders/context.ts';
import { configSchema } from '../../schemas/config.ts';
import { createMigrator } from '../../store/migrate.ts';
import { freezeBatch } from '../../collector/sinks/clickhouse/deliver.ts';
import { createClickHouseSink } from '../../collector/sinks/clickhouse/sink.ts';
import { createPendingWrite, createQueue } from '../../collector/sinks/clickhouse/write-queue.ts';
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

/** The real sink, with the settings that a collector has by default. */
export function createBenchSink(store: Store, collectorId: string) {
  const { maxRows: maxBatchRows, ...ages } = BATCH;
  const sink = createClickHouseSink({ store, collectorId, maxBatchRows, ...ages });
  const write: BenchSink['write'] = async (bundle, provenance) => void (await sink.write(bundle, provenance));
  return { write, stop: () => sink.stop(5_000) };
}

/** The real sink into an embedded store, with the settings that a collector has by default. */
export async function withSink<T>(work: (parts: BenchSink) => Promise<T>): Promise<T> {
  const embedded = await withBenchStore();
  const store = createStore({ url: embedded.url, ...embedded.writer });
  try {
    await createMigrator({ store }).run();
    const { write, stop } = createBenchSink(store, 'bench');
    try {
      return await work({ embedded, store, write });
    } finally {
      await stop();
    }
  } finally {
    await store.close();
    await embedded.stop();
  }
}

/** The sink's batches follow each other about so closely. */
const BATCH_MS = 300;

/** What the sink does with rows until they are sent; then they count as stored. */
export function createEncoder(): OrdersContext['write'] {
  const queue = createQueue();
  let timer: NodeJS.Timeout | null = null;
  let batchSeq = 0;
  const flush = (): void => {
    timer = null;
    const take = () => queue.take(BATCH.maxRows, 'all');
    for (let batch = take(); batch !== null; batch = take()) {
      freezeBatch(batch, { collectorId: 'bench', batchSeq: (batchSeq += 1) }, BATCH.maxRows);
      for (const write of batch.writes) write.resolveWrite();
    }
  };
  return (bundle, provenance) => {
    const { write, done } = createPendingWrite(bundle, provenance, performance.now());
    queue.add(write);
    timer ??= setTimeout(flush, BATCH_MS);
    return done;
  };
}
