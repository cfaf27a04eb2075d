import { createClickHouseSink } from '../../../../collector/sinks/clickhouse/sink.ts';
import type { RowBundle } from '../../../../schemas/rows.ts';
import type { Store } from '../../../../store/store.ts';

/** Stores each bundle as one batch, numbered from 1. */
export async function storeBatches(
  store: Store,
  bundles: readonly RowBundle[],
  collectorId = 'c1',
): Promise<void> {
  const sink = createClickHouseSink({ store, collectorId, maxAgeMs: 0 });
  for (const bundle of bundles) await sink.write(bundle);
  await sink.stop(5000);
}
