import { createPaymentCounts } from '../../alerts/metrics/payment-counts.ts';
import { createTotalsReader } from '../../alerts/metrics/totals.ts';
import { decode } from '../../collector/decode/code.ts';
import { type Given, type Result, runReportCommand } from '../support/report-command.ts';
import { dateTime64, type SeededStore, startSeededStore } from '../support/seed-store.ts';
import { cpuBetween, cpuTimes } from './cpu.ts';

/**
 * What payment metrics cost: a minute's pass that counts, and a scrape that reads the sums, in processor time
 * of all processes. Each minute brings that many orders, a part of which goes on until half an hour later.
 */

const USAGE = `node test/bench/payment-metrics.ts [--orders 2000] [--minutes 40] [--json FILE]

  --orders   orders a minute
  --minutes  minutes of traffic before the first pass that is measured`;

const MINUTE = 60_000;
const PASSES = 10;
const SCRAPES = 5;

/** Seconds after the order's begin; every order has all of them, the late ones a part. */
const ITEMS = [
  [0, '1.0.0.00'],
  [0.2, '1.1.1.00'],
  [1.5, '2.1.1.00'],
  [2, '3.0.1.00'],
  [5, '3.0.1.51'],
  [12, '3.0.1.53'],
  [20, '3.1.1.55'],
  [25, '4.2.2.13'],
  [30, '4.1.3.00'],
  [31, '5.1.3.00'],
  [33, '6.1.1.00'],
] as const;
const LATE = [1_900, '4.1.3.00'] as const;
const LATE_EVERY = 50;

async function run({ numbers: { orders, minutes }, say }: Given<'orders' | 'minutes'>): Promise<Result> {
  const store = await startSeededStore();
  try {
    const query = async <T>(sql: string): Promise<T[]> => (await store.queryAsWriter(sql)).data as T[];
    const counts = createPaymentCounts({ query, command: store.command });
    const end = Math.floor(Date.now() / MINUTE) * MINUTE;
    const passes: { processorMs: number; tookMs: number; isLong: boolean }[] = [];
    // As it comes: rows are stored, and counted once a minute.
    for (let now = end - (minutes + PASSES) * MINUTE; now <= end; now += MINUTE) {
      if (orders > 0) await traffic(store, orders, now - MINUTE, now);
      const before = cpuTimes();
      const began = performance.now();
      while (await counts.pass(now * 1000)) continue;
      passes.push({
        processorMs: cpuBetween(before, cpuTimes(), () => true),
        tookMs: Math.round(performance.now() - began),
        isLong: (now / MINUTE) % 10 === 0,
      });
      if (passes.length === minutes) say('the traffic is in the store');
    }
    const measured = passes.slice(-PASSES);
    const before = cpuTimes();
    const began = performance.now();
    for (let n = 0; n < SCRAPES; n += 1) await createTotalsReader(query)();
    const scrapeMs = (performance.now() - began) / SCRAPES;
    const scrapeCpuMs = cpuBetween(before, cpuTimes(), () => true) / SCRAPES;
    const bytes = await query<{ table: string; bytes: number; rows: number }>(
      `SELECT table, sum(data_compressed_bytes) AS bytes, sum(rows) AS rows FROM system.parts WHERE active AND startsWith(table, 'payment_') GROUP BY table ORDER BY table`,
    );
    return {
      passed: true,
      report: {
        orders,
        minutes,
        pass: medianOf(measured.filter(({ isLong }) => !isLong)),
        passWithLongLookBack: medianOf(measured.filter(({ isLong }) => isLong)),
        scrape: { processorMs: Math.round(scrapeCpuMs), tookMs: Math.round(scrapeMs) },
        bytes,
      },
    };
  } finally {
    await store.stop();
  }
}

function medianOf(some: readonly { processorMs: number; tookMs: number }[]) {
  const middle = (pick: 'processorMs' | 'tookMs'): number =>
    some.map((one) => one[pick]).toSorted((a, b) => a - b)[Math.floor(some.length / 2)] ?? Number.NaN;
  return { processorMs: middle('processorMs'), tookMs: middle('tookMs') };
}

/** Orders that begin from one instant to another, evenly; and what comes late of earlier ones. */
async function traffic(store: SeededStore, orders: number, from: number, to: number): Promise<void> {
  const count = Math.round(((to - from) / MINUTE) * orders);
  const began = `toDateTime64('${dateTime64(from)}', 6, 'UTC') + toIntervalMicrosecond(intDiv(number * ${(to - from) * 1000}, ${count}))`;
  const id = (shift: number): string =>
    `toString(UUIDNumToString(toFixedString(substring(MD5(toString(toUnixTimestamp64Micro(${began}) - ${shift})), 1, 16), 16)))`;
  for (const [position, [seconds, action]] of ITEMS.entries())
    await insert(store, count, id(0), began, seconds, action, position);
  await insert(
    store,
    Math.round(count / LATE_EVERY),
    id(1_860e6),
    began,
    LATE[0] - 1_860,
    LATE[1],
    ITEMS.length,
  );
  await store.command(
    `INSERT INTO gatewatch.order_claims_store (gateway, order_type, external_id, observed_at, kind, status, amount, currency)
SELECT 'acme-eu', 'Deposit', ${id(0)}, ${began} + toIntervalSecond(40), 'status_reply', 'Success', toDecimal128(10 + number % 90, 9), ['EUR', 'GBP', 'USD'][1 + number % 3] FROM numbers(${count})`,
  );
  for (const status of ['Processing', 'Success'])
    await store.command(
      `INSERT INTO gatewatch.callback_deliveries_store (gateway, content_hash, delivery_id, received_at, verdict, external_id, status, amount, order_type, currency)
SELECT 'acme-eu', SHA256(concat(${id(0)}, '${status}')), toString(number), ${began} + toIntervalSecond(40), 'valid', ${id(0)}, '${status}', '10.00', 'Deposit', 'EUR' FROM numbers(${count})`,
    );
}

const insert = (
  store: SeededStore,
  count: number,
  id: string,
  began: string,
  seconds: number,
  action: string,
  position: number,
): Promise<void> => {
  const { stage, result, state, reasonCode, reasonGroup, reasonDetail } = decode(action);
  const at = `${began} + toIntervalMicrosecond(${seconds * 1e6})`;
  // Known at once when they are late, and otherwise with the reply that ends the order.
  const observed = `greatest(${at}, ${began} + toIntervalSecond(40))`;
  return store.command(
    `INSERT INTO gatewatch.history_events_store (gateway, order_type, external_id, event_time, action, occurrence, code_format, stage, result, state, reason_code, reason_group, reason_detail, list_position, span_start, observed_at, source)
SELECT 'acme-eu', 'Deposit', ${id}, ${at}, '${action}', 0, 'v2', '${stage}', '${result}', '${state}', ${reasonCode}, '${reasonGroup}', '${reasonDetail}', ${position}, ${at}, ${observed}, 'bench' FROM numbers(${count})`,
  );
};

if (import.meta.main)
  process.exitCode = await runReportCommand<'orders' | 'minutes'>(
    {
      usage: USAGE,
      numbers: { orders: { default: 2_000, least: 0 }, minutes: { default: 40, least: 1 } },
      run,
    },
    process.argv.slice(2),
  );
