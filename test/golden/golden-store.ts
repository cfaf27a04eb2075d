import { createClickHouseSink } from '../../collector/sinks/clickhouse/sink.ts';
import {
  emptyProvenance,
  addProvenance,
  appendRows,
  type RowsByTable,
} from '../../collector/sinks/bundle.ts';
import type { RowBundle } from '../../schemas/rows.ts';
import { planDerivedViews, readDerivedViews } from '../../store/derived-views.ts';
import { schemaStatements } from '../../store/migrate.ts';
import { VIEW_FILES } from '../../store/package-files.ts';
import { createStore, type Store } from '../../store/store.ts';
import { type TestStore, withEmbedded } from '../support/embedded.ts';
import { COLLECTOR, playStory, type WrittenBundle } from './play-story.ts';
import { HOUR, NOW, storyOrders } from './story.ts';

/** The story in the real engine, whose schema believes that the clock stands at NOW. */
export interface GoldenStore {
  /** As the writer, who is the collector. */
  readonly writer: Store;
  /** As the reader, who is Grafana. */
  readonly reader: Store;
  readonly stop: () => Promise<void>;
}

export async function startGoldenStore(): Promise<GoldenStore> {
  const embedded = await withEmbedded();
  const writer = createStore({ url: embedded.url, ...embedded.writer });
  const reader = createStore({ url: embedded.url, ...embedded.reader });
  await makeSchema(writer);
  const orders = storyOrders();
  await store(writer, await playStory(orders));
  return { writer, reader, stop: () => stop([writer, reader], embedded) };
}

async function stop(stores: readonly Store[], embedded: TestStore): Promise<void> {
  await Promise.all(stores.map((one) => one.close()));
  await embedded.stop();
}

/** The schema without retention, whose rows would be outdated one day, and with a clock that stands still. */
async function makeSchema(writer: Store): Promise<void> {
  await writer.command(`CREATE DATABASE ${writer.database}`, { database: '' });
  for (const statement of await schemaStatements()) await writer.command(atNow(statement));
  // As the migrator makes them in this engine: with the rights of who made them.
  const views = await readDerivedViews(VIEW_FILES);
  for (const statement of await planDerivedViews(writer, views)) await writer.command(atNow(statement));
  const kept = await writer.query<{ name: string }>(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine_full LIKE '% TTL %'",
  );
  for (const { name } of kept) await writer.command(`ALTER TABLE ${name} REMOVE TTL`);
}

/** A statement in which the clock stands at NOW. */
export function atNow(sql: string): string {
  const now = new Date(NOW).toISOString().replace('T', ' ').slice(0, 19);
  return sql
    .replace(/\bnow64\(\s*(\d)[^)]*\)/g, `toDateTime64('${now}', $1, 'UTC')`)
    .replace(/\bnow\(\s*(?:'UTC')?\s*\)/g, `toDateTime('${now}', 'UTC')`);
}

/** Writes by the product's own sink, in batches as a store sees them after an outage of hours. */
async function store(writer: Store, written: readonly WrittenBundle[]): Promise<void> {
  let nowMs = NOW;
  const sink = createClickHouseSink({
    store: writer,
    collectorId: COLLECTOR,
    maxAgeMs: 1,
    nowMicros: () => nowMs * 1000,
  });
  for (const batch of batchesOf(written)) {
    nowMs = batch.at(-1)?.atMs ?? NOW;
    const rows: RowsByTable = new Map();
    const provenance = emptyProvenance();
    for (const one of batch) {
      appendRows(rows, one.bundle);
      addProvenance(provenance, one.provenance);
    }
    await sink.write(Object.fromEntries(rows) as RowBundle, provenance);
  }
  await sink.stop(60_000);
}

/** Half days, and at the end hours. */
function batchesOf(written: readonly WrittenBundle[]): WrittenBundle[][] {
  const batches = Map.groupBy(written, ({ atMs }) =>
    Math.floor(atMs / (atMs < NOW - 24 * HOUR ? 12 * HOUR : HOUR)),
  );
  return [...batches.values()];
}
