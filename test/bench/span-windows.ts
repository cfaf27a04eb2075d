import { parseArgs } from 'node:util';
import { readRows } from '../../collector/sinks/otlp/stored-rows.ts';
import { DATABASE, TABLES } from '../../schemas/names.ts';
import { createMigrator } from '../../store/migrate.ts';
import { createStore, type Store } from '../../store/store.ts';
import { withBenchStore } from './bench-store.ts';
import { cpuBetween, cpuTimes, untilIdle } from './cpu.ts';

/**
 * What the store spends on a window of the export among the rows that are there already. Median of five, in
 * processor milliseconds of the engine's process. `node test/bench/span-windows.ts [--orders 220000]`:
 * 2,000 orders a minute with nine items each, in batches of 400 items.
 */

const ITEMS = 9;
const BATCH_ITEMS = 400;
const ORDERS_A_LOAD = 11_000;
const ROUNDS = 5;
const COLLECTOR = 'bench';

const { values } = parseArgs({ options: { orders: { type: 'string', default: '220000' } } });
const orders = Number(values.orders);
const startS = Math.floor(Date.now() / 1000) - Math.ceil((orders * 60) / 2000);

async function main(): Promise<void> {
  const embedded = await withBenchStore();
  const store = createStore({ url: embedded.url, ...embedded.writer, requestTimeoutMs: 300_000 });
  try {
    await createMigrator({ store }).run();
    for (let from = 0; from < orders; from += ORDERS_A_LOAD) await load(store, from);
    await untilIdle(embedded.store.pid);
    const last = Math.floor((orders * ITEMS - 1) / BATCH_ITEMS) + 1;
    const windows = [
      { what: 'the last second', from: last - 1, to: last },
      { what: 'the last five seconds', from: last - 4, to: last },
      { what: '20,000 items of the middle', from: last >> 1, to: (last >> 1) + 50 },
    ];
    const figures = [];
    for (const { what, ...window } of windows) {
      const times: number[] = [];
      const { events } = await readRows(store, COLLECTOR, window);
      for (let round = 0; round < ROUNDS; round += 1) {
        const before = cpuTimes();
        await readRows(store, COLLECTOR, window);
        times.push(cpuBetween(before, cpuTimes(), (pid) => pid === embedded.store.pid));
      }
      figures.push({ what, items: events.count, cpuMs: times.toSorted((a, b) => a - b)[ROUNDS >> 1] });
    }
    console.log(`${orders * ITEMS} items of ${orders} orders`);
    console.table(figures);
  } finally {
    await store.close();
    await embedded.stop();
  }
}

async function load(store: Store, from: number): Promise<void> {
  const count = Math.min(ORDERS_A_LOAD, orders - from);
  const begin = (order: string) =>
    `toDateTime64(${startS}, 6, 'UTC') + toIntervalMicrosecond(${order} * 30000)`;
  const id = (order: string) => `lower(hex(sipHash128(${order})))`;
  await store.command(
    `INSERT INTO ${DATABASE}.${TABLES.historyEvents} (gateway, order_type, external_id, event_time, action, occurrence, external_transaction_id, channel, code_format, stage, result, state, reason_code, reason_group, reason_detail, list_position, span_start, observed_at, source, collector_id, batch_seq)
    SELECT 'acme-eu', 'Deposit', ${id(`intDiv(number, ${ITEMS})`)}, ${begin(`intDiv(number, ${ITEMS})`)} + toIntervalMicrosecond((number % ${ITEMS}) * 1000000 + cityHash64(number) % 900000) AS event_time,
      '4.2.2.13', 0, concat('tx-', toString(intDiv(number, ${ITEMS}))), 'p2p', 'v2', 'CHECK', 'INFO', 'CREATED', 13, 'TECH', 'SERVER_ERROR', number % ${ITEMS}, event_time, event_time + toIntervalSecond(1), 'schedule', '${COLLECTOR}', intDiv(number, ${BATCH_ITEMS}) + 1
    FROM numbers(${from * ITEMS}, ${count * ITEMS})`,
    { long: true },
  );
  await store.command(
    `INSERT INTO ${DATABASE}.${TABLES.settlements} (gateway, order_type, external_id, settled_at, kind, status, outcome, reason_group, reason_detail, history_items, external_transaction_id, channel, first_event_at, last_event_at, collector_id, batch_seq, deciding_action, amount, currency)
    SELECT 'acme-eu', 'Deposit', ${id('number')}, ${begin('number')} + toIntervalSecond(9) AS settled_at, 'settled', 'Success', 'succeeded', 'NONE', 'UNSPECIFIED', ${ITEMS}, concat('tx-', toString(number)), 'p2p', ${begin('number')}, settled_at, '${COLLECTOR}', intDiv(number * ${ITEMS}, ${BATCH_ITEMS}) + 1, '4.1.3.00', 100, 'EUR'
    FROM numbers(${from}, ${count})`,
    { long: true },
  );
}

if (import.meta.main) await main();
