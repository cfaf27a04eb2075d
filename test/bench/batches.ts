import { randomBytes, randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import type { RowBundle } from '../../schemas/rows.ts';
import { createClickHouseSink } from '../../collector/sinks/clickhouse/sink.ts';
import { createMigrator } from '../../store/migrate.ts';
import { createStore } from '../../store/store.ts';
import { orderRow } from '../support/order-row.ts';
import { anyRow } from '../collector/sinks/support/rows.ts';
import { withBenchStore } from './bench-store.ts';
import { cpuBetween, cpuTimes, untilIdle } from './cpu.ts';

/**
 * What a callback costs the embedded store by how many share a batch, and at 5,000 of them by the tables that
 * they go to; and what a status read costs that found three new items, with the row of its order of nine.
 * Processor time of the engine's process, merges of the next moments included. In turns within one run,
 * medians. `node test/bench/batches.ts [--rounds 9] [--sizes 100000]`.
 */

/** Larger ones leave merges to those after them: they are measured apart. */
const SIZES = '1000,2000,5000,10000,25000';
const READ_SIZES = [12, 3_000];
const PART_SIZE = 5_000;
type Part = 'callbackDeliveries' | 'orders' | 'orderWatch';
const PARTS: readonly Part[] = ['callbackDeliveries', 'orders', 'orderWatch'];

function callbacks(count: number, parts: readonly Part[]): RowBundle {
  const now = Date.now() * 1000;
  const orders = Array.from({ length: count }, (_, index) => ({
    external_id: randomUUID(),
    at: now + index,
  }));
  const rows = {
    callbackDeliveries: () =>
      orders.map(({ external_id, at }) => ({
        ...anyRow('callbackDeliveries'),
        content_hash: randomBytes(32),
        delivery_id: `callbacks/0/${at}`,
        received_at: at,
        external_id,
      })),
    orders: () =>
      orders.map(({ external_id, at }) => ({
        ...orderRow({ external_id, observed_at: at, amount: '100.00', currency: 'EUR' }),
      })),
    orderWatch: () =>
      orders.map(({ external_id, at }) => ({
        ...anyRow('orderWatch'),
        order_id: external_id,
        updated_at: at,
      })),
  };
  return Object.fromEntries(parts.map((part) => [part, rows[part]()]));
}

/** What a status read brings: three items that are new, and the whole row of the order. */
function reads(count: number): RowBundle {
  const now = Date.now() * 1000;
  const orders = Array.from({ length: count }, (_, index) => ({
    external_id: randomUUID(),
    at: now + index,
  }));
  const items = (at: number) =>
    Array.from({ length: 9 }, (_, n) => ({ time: at - (9 - n) * 1_000_000, action: '4.2.2.13' }));
  return {
    historyEvents: orders.flatMap(({ external_id, at }) =>
      [0, 1, 2].map((n) => ({
        ...anyRow('historyEvents'),
        external_id,
        event_time: at - n * 1_000_000,
        observed_at: at,
        list_position: 8 - n,
      })),
    ),
    orders: orders.map(({ external_id, at }) => orderRow({ external_id, observed_at: at }, items(at))),
  };
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { rounds: { type: 'string', default: '9' }, sizes: { type: 'string', default: SIZES } },
  });
  const sizes = values.sizes.split(',').map(Number);
  const embedded = await withBenchStore();
  const store = createStore({ url: embedded.url, ...embedded.writer });
  try {
    await createMigrator({ store }).run();
    const sink = createClickHouseSink({
      store,
      collectorId: 'bench',
      maxBatchRows: PARTS.length * Math.max(PART_SIZE, ...sizes),
      maxAgeMs: 1,
      quietAgeMs: 1,
    });
    const costOf = async (count: number, bundle: RowBundle): Promise<number> => {
      const before = cpuTimes();
      await sink.write(bundle, { kafkaRecords: count });
      await untilIdle(embedded.store.pid);
      return (cpuBetween(before, cpuTimes(), (pid) => pid === embedded.store.pid) * 1000) / count;
    };
    const ways = new Map<string, () => Promise<number>>([
      ...sizes.map((size) => [`${size} a batch`, () => costOf(size, callbacks(size, PARTS))] as const),
      ...PARTS.map(
        (part) =>
          [
            `${PART_SIZE} a batch, ${part} and the ledger`,
            () => costOf(PART_SIZE, callbacks(PART_SIZE, [part])),
          ] as const,
      ),
      ...READ_SIZES.map((size) => [`${size} reads a batch`, () => costOf(size, reads(size))] as const),
    ]);
    const figures = new Map<string, number[]>();
    for (let round = -1; round < Number(values.rounds); round += 1) {
      for (const [name, measure] of ways) {
        const cost = await measure();
        if (round >= 0) figures.set(name, [...(figures.get(name) ?? []), cost]);
      }
    }
    for (const [name, all] of figures) {
      const sorted = all.toSorted((a, b) => a - b);
      console.log(`${(sorted[sorted.length >> 1] ?? Number.NaN).toFixed(1).padStart(8)} us a piece  ${name}`);
    }
    await sink.stop(5_000);
  } finally {
    await store.close();
    await embedded.stop();
  }
}

if (import.meta.main) await main();
