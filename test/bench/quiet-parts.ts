import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type ClickHouseClient, createClient } from '@clickhouse/client';
import { createClickHouseSink } from '../../collector/sinks/clickhouse/sink.ts';
import { DATABASE, TABLES } from '../../schemas/names.ts';
import { BATCH_STAMPED, COLUMNS, type RowBundle } from '../../schemas/rows.ts';
import { createMigrator } from '../../store/migrate.ts';
import { createStore } from '../../store/store.ts';
import { anyRow, historyEvent } from '../collector/sinks/support/rows.ts';
import { orderRow } from '../support/order-row.ts';
import { withBenchStore } from './bench-store.ts';
import { cpuBetween, cpuTimes } from './cpu.ts';
import { median } from './result.ts';

/**
 * Where the price of a small batch goes, and its floor: processor time of the embedded store for a batch of
 * twelve callbacks and what reads of their orders bring, one each 1.5 s, merges included. In turns within one
 * run: as the sink writes it; as one row of arrays that views spread over the same tables; and as many
 * statements to plain tables of three columns. `node test/bench/quiet-parts.ts [--rounds 5]`.
 */

const CALLBACKS = 12;
const BATCHES_A_ROUND = 10;
const PAUSE_MS = 1_500;
const CODES = ['1.1.1.00', '2.1.1.00', '3.0.1.52', '4.1.3.00', '5.1.3.00'];
const PLAIN = [1, 5, 10];
const SPREAD = ['historyEvents', 'orders', 'callbackDeliveries', 'polls', 'orderWatch'] as const;
type Spread = (typeof SPREAD)[number];
type Rows = Readonly<Record<Spread, readonly object[]>>;

function rowsOfBatch(): Rows {
  const now = Date.now() * 1000;
  const orders = Array.from({ length: CALLBACKS }, () => ({ external_id: randomUUID() }));
  const items = CODES.map((action, place) => ({ time: now + place, action, observedAt: now }));
  const watch = (id: string) => ({ ...anyRow('orderWatch'), order_id: id, updated_at: now });
  return {
    historyEvents: orders.flatMap((order) =>
      CODES.map((action, place) =>
        historyEvent({ ...order, action, event_time: now + place, observed_at: now }),
      ),
    ),
    orders: orders.flatMap((order) => [
      orderRow({ ...order, observed_at: now }),
      orderRow({ ...order, observed_at: now + 1 }, items),
    ]),
    callbackDeliveries: orders.map((order) => ({
      ...anyRow('callbackDeliveries'),
      ...order,
      content_hash: randomBytes(32),
      received_at: now,
    })),
    polls: orders.map(({ external_id: id }) => ({ ...anyRow('polls'), poll_id: id, started_at: now })),
    orderWatch: orders.flatMap(({ external_id: id }) => [
      watch(id),
      { ...watch(id), updated_at: now + 1, phase: 'rereading' },
    ]),
  };
}

const SETTINGS = {
  async_insert: 0,
  wait_end_of_query: 1,
  insert_deduplicate: 1,
  optimize_on_insert: 0,
} as const;

const insert = (client: ClickHouseClient, table: string, values: readonly object[]): Promise<unknown> =>
  client.insert({
    table,
    values,
    format: 'JSONEachRow',
    clickhouse_settings: { ...SETTINGS, insert_deduplication_token: randomUUID() },
  });

const columnsOf = (table: Spread): string[] => [
  ...Object.keys(COLUMNS[table]),
  ...(BATCH_STAMPED.has(table) ? ['collector_id', 'batch_seq'] : []),
];

/** The table of which each row is a batch, with a view for each table behind it. */
async function createLanding(client: ClickHouseClient): Promise<void> {
  const types = new Map<string, string>();
  for (const table of SPREAD) {
    const query = `SELECT name, type FROM system.columns WHERE database = '${DATABASE}' AND table = '${TABLES[table]}'`;
    const found = await (
      await client.query({ query, format: 'JSONEachRow' })
    ).json<{ name: string; type: string }>();
    for (const { name, type } of found) types.set(`${table}_${name}`, type);
  }
  const all = SPREAD.flatMap((table) => columnsOf(table).map((name) => `${table}_${name}`));
  const arrays = all.map((name) => `\`${name}\` Array(${types.get(name) ?? ''})`).join(', ');
  await client.command({ query: `CREATE TABLE landing (${arrays}) ENGINE = Null` });
  for (const table of SPREAD) {
    const names = columnsOf(table);
    const joined = names.map((name, index) => `\`${table}_${name}\` AS c${index}`).join(', ');
    await client.command({
      query: `CREATE MATERIALIZED VIEW landing_to_${table} TO ${TABLES[table]} AS
        SELECT ${names.map((name, index) => `c${index} AS ${name}`).join(', ')} FROM landing ARRAY JOIN ${joined}`,
    });
  }
}

const inSeconds = (micros: number): string => (micros / 1e6).toFixed(6);
/** As JSON has them: times in seconds, hashes as text. */
function asJson(name: string, value: unknown, kind: string | undefined): unknown {
  if (kind?.startsWith('micros') === true && typeof value === 'number') return inSeconds(value);
  if (kind === 'bytes32') return randomUUID().slice(0, 32);
  if (name === 'collector_id') return 'landing';
  return name === 'batch_seq' ? 1 : value;
}

function landingRow(rows: Rows): object {
  const entries = SPREAD.flatMap((table) => {
    const kinds: Readonly<Record<string, string>> = COLUMNS[table];
    return columnsOf(table).map((name) => {
      const values = (rows[table] as Record<string, unknown>[]).map((row) => row[name]);
      return [`${table}_${name}`, values.map((value) => asJson(name, value, kinds[name]))];
    });
  });
  return Object.fromEntries(entries) as object;
}

async function toPlain(client: ClickHouseClient, tables: number): Promise<void> {
  const rows = Array.from({ length: CALLBACKS }, () => ({
    id: randomUUID(),
    at: inSeconds(Date.now() * 1000),
    n: 1,
  }));
  for (let table = 0; table < tables; table += 1) await insert(client, `plain_${table}`, rows);
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } });
  const embedded = await withBenchStore();
  const store = createStore({ url: embedded.url, ...embedded.writer });
  const client = createClient({ url: embedded.url, ...embedded.writer, database: DATABASE });
  try {
    await createMigrator({ store }).run();
    await createLanding(client);
    for (let table = 0; table < Math.max(...PLAIN); table += 1)
      await client.command({
        query: `CREATE TABLE plain_${table} (id String, at DateTime64(6), n UInt32) ENGINE = MergeTree ORDER BY id SETTINGS non_replicated_deduplication_window = 1000`,
      });
    const sink = createClickHouseSink({ store, collectorId: 'bench', maxAgeMs: 1, quietAgeMs: 1 });
    const ledger = () => ({
      ...anyRow('ingestLedger'),
      collector_id: 'landing',
      acknowledged_at: inSeconds(Date.now() * 1000),
    });
    const ways = new Map<string, () => Promise<unknown>>([
      ['the product', () => sink.write(rowsOfBatch() as RowBundle, { kafkaRecords: CALLBACKS })],
      [
        'one row of arrays, and the ledger',
        async () => {
          await insert(client, 'landing', [landingRow(rowsOfBatch())]);
          await insert(client, TABLES.ingestLedger, [ledger()]);
        },
      ],
      ...PLAIN.map((tables) => [`plain tables: ${tables}`, () => toPlain(client, tables)] as const),
      ['nothing', () => Promise.resolve()],
    ]);
    const figures = await inTurns(ways, Number(values.rounds), embedded.store.pid);
    for (const [name, each] of figures)
      console.log(`${median(each).toFixed(1).padStart(7)} ms a batch  ${name}`);
    await sink.stop(5_000);
  } finally {
    await Promise.all([store.close(), client.close()]);
    await embedded.stop();
  }
}

async function inTurns(
  ways: ReadonlyMap<string, () => Promise<unknown>>,
  rounds: number,
  pid: number,
): Promise<Map<string, number[]>> {
  const figures = new Map<string, number[]>();
  for (let round = -1; round < rounds; round += 1)
    for (const [name, write] of ways) {
      const before = cpuTimes();
      for (let batch = 0; batch < BATCHES_A_ROUND; batch += 1) {
        await write();
        await sleep(PAUSE_MS);
      }
      const took = cpuBetween(before, cpuTimes(), (one) => one === pid) / BATCHES_A_ROUND;
      if (round >= 0) figures.set(name, [...(figures.get(name) ?? []), took]);
    }
  return figures;
}

if (import.meta.main) await main();
