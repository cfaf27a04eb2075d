import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { DATABASE } from '../../schemas/names.ts';
import { createMigrator } from '../../store/migrate.ts';
import { createStore } from '../../store/store.ts';
import { withBenchStore } from './bench-store.ts';
import { loadDashboardRows } from './dashboards-load.ts';
import { ratioOf, type BenchResult } from './result.ts';

const ITEMS = 500_000;
const DAYS = 2;
const SHOWN = 8;

/**
 * Bytes that a stored history item takes on disk, with all that comes with it: its copy by time, callbacks,
 * status requests, and orders. Against the same rows in the same store when every column is
 * packed as the engine does it by default. All tables merged, as they are after a while.
 */
export async function run(): Promise<BenchResult> {
  const embedded = await withBenchStore();
  const store = createStore({ url: embedded.url, ...embedded.writer });
  const writer = createClient({
    url: embedded.url,
    ...embedded.writer,
    database: DATABASE,
    request_timeout: 600_000,
    log: { level: ClickHouseLogLevel.ERROR },
  });
  try {
    await createMigrator({ store }).run();
    const progress = (): void => undefined;
    const endMs = Date.now();
    const { items } = await loadDashboardRows(writer, { rows: ITEMS, days: DAYS, endMs, progress });
    const ours = await bytesByTable(writer);
    await removeCodecs(writer);
    const before = await bytesByTable(writer);
    const anItem = (bytes: number): string => (bytes / items).toFixed(1);
    const largest = [...ours].toSorted(([, a], [, b]) => b - a).slice(0, SHOWN);
    const each = largest.map(
      ([table, bytes]) => `${table} ${anItem(bytes)} (${anItem(before.get(table) ?? 0)})`,
    );
    return {
      name: 'disk: items a megabyte holds, with all their tables and copies',
      unit: 'items/MB',
      ours: (items * 1e6) / sum(ours),
      baseline: (items * 1e6) / sum(before),
      aim: 1.4,
      note: `${items} items; bytes an item: ${anItem(sum(ours))}, before ${anItem(sum(before))}; ${each.join(', ')}`,
    };
  } finally {
    await Promise.all([store.close(), writer.close()]);
    await embedded.stop();
  }
}

async function bytesByTable(writer: ClickHouseClient): Promise<Map<string, number>> {
  for (const table of await tablesOf(writer))
    await writer.command({ query: `OPTIMIZE TABLE ${table} FINAL` });
  const rows = await select<{ table: string; bytes: string }>(
    writer,
    `SELECT table, sum(bytes_on_disk) AS bytes FROM system.parts WHERE active AND database = '${DATABASE}' GROUP BY table`,
  );
  return new Map(rows.map(({ table, bytes }) => [table, Number(bytes)]));
}

async function removeCodecs(writer: ClickHouseClient): Promise<void> {
  const columns = await select<{ table: string; name: string }>(
    writer,
    `SELECT table, name FROM system.columns WHERE database = '${DATABASE}' AND compression_codec != ''`,
  );
  for (const table of new Set(columns.map((column) => column.table))) {
    const own = columns.filter((column) => column.table === table);
    const changes = own.map(({ name }) => `MODIFY COLUMN ${name} REMOVE CODEC`).join(', ');
    await writer.command({ query: `ALTER TABLE ${table} ${changes}` });
  }
}

async function tablesOf(writer: ClickHouseClient): Promise<string[]> {
  const rows = await select<{ name: string }>(
    writer,
    `SELECT name FROM system.tables WHERE database = '${DATABASE}' AND engine LIKE '%MergeTree'`,
  );
  return rows.map(({ name }) => name);
}

const select = async <T>(writer: ClickHouseClient, query: string): Promise<T[]> =>
  (await writer.query({ query, format: 'JSONEachRow' })).json<T>();

const sum = (bytes: ReadonlyMap<string, number>): number =>
  [...bytes.values()].reduce((all, one) => all + one, 0);

if (import.meta.main) {
  const result = await run();
  console.log({ ...result, ratio: ratioOf(result) });
}
