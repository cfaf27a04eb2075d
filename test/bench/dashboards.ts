import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { createMigrator } from '../../store/migrate.ts';
import { createStore } from '../../store/store.ts';
import { DATABASE } from '../../schemas/names.ts';
import { finishedOrders, TECHNICAL_SUCCESS_SHARE } from '../../schemas/measures.ts';
import { type TestStore, withEmbedded } from '../support/embedded.ts';
import { expandPanelSql } from '../support/macros.ts';
import { loadDashboardRows } from './dashboards-load.ts';
import type { BenchResult } from './result.ts';

/**
 * How long every panel, variable and annotation of the generated dashboards takes at the reader's door of an
 * embedded store. `node test/bench/dashboards.ts [--rows 10000000] [--days 14] [--hours 6] [--rounds 20]
 * [--failing-checks 1] [--only TEXT] [--data DIR] [--json]`.
 *
 * --only    of all questions those with this text
 * --failing-checks  of the orders whose status is checked, the share whose checks fail: 1 is far more than
 *   usual
 * --data    keeps the store in this folder and uses what an earlier run has loaded there
 */

const OUT = fileURLToPath(new URL('../../dashboards/out/grafana/dashboards/gatewatch', import.meta.url));
/** Buckets as Grafana makes them on a wide screen. */
const DATA_POINTS = 360;

interface Query {
  readonly where: string;
  readonly sql: string;
}
interface Figures {
  readonly p50: number;
  readonly p95: number;
  /**
   * Milliseconds of the engine's work for one answer, on all cores together: holds on a busy machine too.
   * Linux only.
   */
  readonly cpu: number | null;
}
/** What people ask of `orders` by hand. */
const QUESTIONS: readonly Query[] = [
  {
    where: 'orders / outcomes of a day',
    sql: 'SELECT outcome, count() FROM orders WHERE final_at >= $__toTime - INTERVAL 1 DAY GROUP BY outcome',
  },
  { where: 'orders / of all time', sql: 'SELECT outcome, count() FROM orders GROUP BY outcome' },
  {
    where: 'orders / money of a day by state',
    sql: 'SELECT money, currency, count(), sum(amount) FROM order_money WHERE since >= $__toTime - INTERVAL 1 DAY GROUP BY money, currency',
  },
  {
    where: 'orders / one by its id',
    sql: 'SELECT * FROM orders WHERE external_id IN (${order_id:singlequote})',
  },
];
/** A panel, and what it asks over items instead. */
const SHARE = 'Technical success';
const OF_ITEMS: Query = {
  where: `items / ${SHARE}`,
  sql: `SELECT ${TECHNICAL_SUCCESS_SHARE} AS technical_success, count() AS finished_orders FROM (${finishedOrders('event_time >= $__fromTime AND event_time < $__toTime')})`,
};

export interface Timing extends Figures {
  readonly where: string;
}

interface Options {
  readonly rows: number;
  /** How long the history is. */
  readonly days: number;
  readonly hours: number;
  readonly rounds: number;
  /** Of orders whose status is checked, the share 0..1 of which checks fail. */
  readonly failingChecks: number;
  readonly dataDir: string | undefined;
  readonly only: string | undefined;
}

async function measure(options: Options, progress: (text: string) => void): Promise<Timing[]> {
  const embedded = await withEmbedded(options.dataDir === undefined ? {} : { dataDir: options.dataDir });
  const writer = createClient({
    url: embedded.url,
    ...embedded.writer,
    request_timeout: 900_000,
    log: { level: ClickHouseLogLevel.ERROR },
  });
  const reader = createClient({ url: embedded.url, ...embedded.reader, database: DATABASE });
  try {
    await migrate(embedded);
    const endMs = await prepare(writer, options, progress);
    const timings: Timing[] = [];
    const range = { from: new Date(endMs - options.hours * 3_600_000), to: new Date(endMs) };
    const intervalMs = intervalFor(options.hours);
    const order = await someOrder(reader, range.to);
    const ask = (query: string) => async () => (await reader.query({ query, format: 'JSONCompact' })).text();
    for (const { where, sql } of [...QUESTIONS, ...queriesOfPanels(), OF_ITEMS].filter((query) =>
      query.where.includes(options.only ?? ''),
    )) {
      const query = expandPanelSql(sql, { ...range, intervalMs }, { order_id: [order] });
      const figures = await times(ask(query), options.rounds, () => cpuMs(embedded.store.pid));
      const timing = { where, ...figures };
      timings.push(timing);
      progress(line(timing));
    }
    return timings;
  } finally {
    await Promise.all([writer.close(), reader.close()]);
    await embedded.stop();
  }
}

/**
 * Figures of one question; the first round is left out. Infinite when the engine refuses, as it does for lack
 * of memory.
 */
async function times(
  ask: () => Promise<unknown>,
  rounds: number,
  cpu: () => number | null,
): Promise<Figures> {
  const taken: number[] = [];
  let work = 0;
  for (let round = 0; round < rounds + 1; round += 1) {
    const [start, before] = [performance.now(), cpu() ?? Number.NaN];
    const failed = await ask().then(
      () => false,
      () => true,
    );
    if (round === 0) continue;
    taken.push(failed ? Infinity : performance.now() - start);
    work += ((cpu() ?? Number.NaN) - before) / rounds;
  }
  const sorted = taken.toSorted((a, b) => a - b);
  return {
    p50: quantile(sorted, 0.5),
    p95: quantile(sorted, 0.95),
    cpu: Number.isNaN(work) ? null : work,
  };
}

/** What a collector does at its start: a store that an earlier run has loaded gets the views of today. */
async function migrate({ url, writer }: TestStore): Promise<void> {
  const store = createStore({ url, ...writer, requestTimeoutMs: 900_000 });
  await createMigrator({ store }).run();
  await store.close();
}

/** Rows, unless the folder has them. @returns the instant at which the rows end. */
async function prepare(
  writer: ClickHouseClient,
  { rows, days, failingChecks }: Options,
  progress: (text: string) => void,
): Promise<number> {
  const loaded = await numbers(
    writer,
    `SELECT toUnixTimestamp64Milli(max(reported_at)) FROM ${DATABASE}.gateway_status_store`,
  );
  if (loaded > 0) return loaded;
  const endMs = Math.floor(Date.now() / 60_000) * 60_000;
  const { orders, items } = await loadDashboardRows(writer, { rows, days, failingChecks, endMs, progress });
  progress(`${orders} orders, ${items} history items`);
  return endMs;
}

async function numbers(client: ClickHouseClient, query: string): Promise<number> {
  const rows = await (await client.query({ query, format: 'JSONCompactEachRow' })).json<[number | string]>();
  return Number(rows[0]?.[0] ?? 0);
}

async function someOrder(reader: ClickHouseClient, before: Date): Promise<string> {
  const query = `SELECT external_id FROM history_events WHERE event_time >= toDateTime(${before.getTime() / 1000 - 1200})
    AND event_time < toDateTime(${before.getTime() / 1000 - 600}) AND action = '4.1.3.00' LIMIT 1`;
  const rows = await (await reader.query({ query, format: 'JSONEachRow' })).json<{ external_id: string }>();
  return rows[0]?.external_id ?? '';
}

/** Every question of the generated dashboards, by board and title. */
export function queriesOfPanels(): Query[] {
  const found: Query[] = [];
  for (const name of readdirSync(OUT)) {
    const board = JSON.parse(readFileSync(`${OUT}/${name}`, 'utf8')) as Record<string, unknown>;
    const uid = String(board['uid']);
    collect(board['panels'], (panel) => `${uid}: ${String(panel['title'])}`);
    collect(
      (board['templating'] as Record<string, unknown>)['list'],
      (one) => `${uid}: variable ${String(one['name'])}`,
    );
    collect(
      (board['annotations'] as Record<string, unknown>)['list'],
      (one) => `${uid}: annotation ${String(one['name'])}`,
    );
  }
  return found;

  function collect(list: unknown, whereOf: (one: Record<string, unknown>) => string): void {
    for (const one of list as Record<string, unknown>[]) {
      const targets = [one['query'], one['target'], ...((one['targets'] as unknown[] | undefined) ?? [])];
      for (const target of targets)
        if (typeof target === 'object' && target !== null && 'rawSql' in target)
          found.push({ where: whereOf(one), sql: String(target.rawSql) });
    }
  }
}

const line = ({ where, p50, p95, cpu }: Timing): string =>
  `${[p50, p95, cpu].map((ms) => (ms === null ? '-' : ms.toFixed(0)).padStart(6)).join(' ')}  ${where}`;

/** Milliseconds of processor time that a process has used; null where `/proc` does not show it. */
function cpuMs(pid: number): number | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return null;
  }
}

const quantile = (sorted: readonly number[], q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
/** Milliseconds of a bucket of a panel over so many hours. */
export const intervalFor = (hours: number): number =>
  Math.max(60_000, roundUp((hours * 3_600_000) / DATA_POINTS));
/** To whole minutes. */
const roundUp = (ms: number): number => Math.ceil(ms / 60_000) * 60_000;

/** Of rows of orders, what a second of processor time answers, against the same question over their items. */
export async function run(): Promise<BenchResult> {
  const options = { rows: 3_000_000, days: 2, hours: 24, rounds: 5, failingChecks: 1, dataDir: undefined };
  const timings = await measure({ ...options, only: SHARE }, () => undefined);
  const rate = ({ p50, cpu }: Figures): number => 1000 / (cpu ?? p50);
  const ours = timings.find(({ where }) => where.endsWith(`: ${SHARE}`));
  const baseline = timings.find(({ where }) => where === OF_ITEMS.where);
  if (ours === undefined || baseline === undefined) throw new Error(`no panel "${SHARE}"`);
  return {
    name: 'dashboards: rows of orders against their items',
    unit: 'panels/CPU-s',
    ours: rate(ours),
    baseline: rate(baseline),
    aim: 3,
    note: `${options.rows} history items of 2 days, last 24 h asked for, embedded store, ${options.rounds} rounds`,
  };
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      rows: { type: 'string', default: '1000000' },
      days: { type: 'string', default: '14' },
      hours: { type: 'string', default: '6' },
      rounds: { type: 'string', default: '20' },
      'failing-checks': { type: 'string', default: '1' },
      data: { type: 'string' },
      only: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const timings = await measure(
    {
      rows: Number(values.rows),
      days: Number(values.days),
      hours: Number(values.hours),
      rounds: Number(values.rounds),
      failingChecks: Number(values['failing-checks']),
      dataDir: values.data,
      only: values.only,
    },
    (text) => console.error(text),
  );
  const sorted = timings.toSorted((a, b) => b.p95 - a.p95);
  if (values.json) console.log(JSON.stringify(sorted, null, 2));
  else console.log([`   p50    p95    cpu  ms`, ...sorted.map(line)].join('\n'));
  console.error(
    `slowest: ${sorted[0]?.where} (p50 ${sorted[0]?.p50.toFixed(0)} ms, p95 ${sorted[0]?.p95.toFixed(0)} ms)`,
  );
}
