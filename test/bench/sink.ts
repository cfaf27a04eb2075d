import { createClient } from '@clickhouse/client';
import { createMigrator } from '../../store/migrate.ts';
import { createStore } from '../../store/store.ts';
import { DATABASE, TABLES } from '../../schemas/names.ts';
import type { HistoryEventRow } from '../../schemas/rows.ts';
import { collectGarbage, withBenchStore } from './bench-store.ts';
import { median, ratioOf } from './result.ts';
import type { BenchResult } from './result.ts';

const BATCH_ROWS = 10_000;
const ROUNDS = 31;
const WARM_UP = 12;

/**
 * Acknowledged rows a second of the sink's Arrow inserts against `client.insert` of objects, in turns within
 * one run: rows of the same form into the same table of the same store.
 */
export async function run(): Promise<BenchResult> {
  const embedded = await withBenchStore();
  const store = createStore({ url: embedded.url, ...embedded.writer });
  const client = createClient({ url: embedded.url, ...embedded.writer, database: DATABASE });
  const insertObjects = (rows: HistoryEventRow[]): Promise<unknown> =>
    client.insert({
      table: TABLES.historyEvents,
      values: rows.map(asObject),
      format: 'JSONEachRow',
      clickhouse_settings: { async_insert: 0 },
    });
  const insertArrow = (rows: HistoryEventRow[]): Promise<unknown> => store.insert('historyEvents', rows);
  try {
    await createMigrator({ store }).run();
    const objects: number[] = [];
    const arrow: number[] = [];
    for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
      const objectsMs = await timed(insertObjects, round * 2);
      const arrowMs = await timed(insertArrow, round * 2 + 1);
      if (round < WARM_UP) continue;
      objects.push((BATCH_ROWS / objectsMs) * 1000);
      arrow.push((BATCH_ROWS / arrowMs) * 1000);
    }
    return {
      name: 'sink: Arrow inserts against client.insert of objects',
      unit: 'rows/s',
      ours: median(arrow),
      baseline: median(objects),
      aim: 3,
      note: `${BATCH_ROWS} history rows a batch, embedded store, acknowledged, medians of ${ROUNDS}`,
    };
  } finally {
    await Promise.all([store.close(), client.close()]);
    await embedded.stop();
  }
}

function makeRows(count: number, round: number): HistoryEventRow[] {
  const start = Date.UTC(2026, 10, 18) * 1000;
  return Array.from({ length: count }, (_, i) => ({
    gateway: 'acme-eu',
    order_type: i % 5 === 0 ? 'Withdrawal' : 'Deposit',
    external_id: `7d9f2c1e-4b7a-4d53-${String(round).padStart(4, '0')}-${String(i >> 3).padStart(12, '0')}`,
    event_time: start + i * 250_000,
    action: '4.1.4.63',
    occurrence: i % 8,
    external_transaction_id: `merchant-${i >> 3}`,
    channel: 'p2p',
    code_format: 'v2',
    stage: 'CHECK',
    result: 'SUCCESS',
    state: 'FAILED',
    reason_code: 63,
    reason_group: 'ISSUER',
    reason_detail: 'INSUFFICIENT_FUNDS',
    list_position: i % 8,
    span_start: start + i * 250_000 - 1000,
    observed_at: start + i * 250_000 + 2_000_000,
    source: 'schedule',
    callback_at: null,
    read_span: '',
  }));
}

/** The row as the client takes it: JSON carries instants as seconds with six decimals. */
function asObject(row: HistoryEventRow): Record<string, unknown> {
  const { event_time, span_start, observed_at } = row;
  return {
    ...row,
    event_time: seconds(event_time),
    span_start: seconds(span_start),
    observed_at: seconds(observed_at),
  };
}

function seconds(micros: number): string {
  return `${Math.floor(micros / 1e6)}.${String(micros % 1e6).padStart(6, '0')}`;
}

async function timed(insert: (rows: HistoryEventRow[]) => Promise<unknown>, round: number): Promise<number> {
  const rows = makeRows(BATCH_ROWS, round);
  collectGarbage();
  const start = performance.now();
  await insert(rows);
  return performance.now() - start;
}

if (import.meta.main) {
  const result = await run();
  console.log({ ...result, ratio: ratioOf(result) });
}
