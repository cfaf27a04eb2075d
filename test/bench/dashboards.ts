import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { createQuarterKeeper } from '../../alerts/evaluate/quarter-keeper.ts';
import { createMigrator } from '../../store/migrate.ts';
import { createStore } from '../../store/store.ts';
import { DATABASE, ORDER_QUARTERS } from '../../schemas/names.ts';
import { frontierSql } from '../../schemas/kept-quarters.ts';
import { ORDER_QUARTERS_KEPT, orderQuartersView, QUARTERS_DEFINITION } from '../../schemas/order-quarters.ts';
import { POLL_QUARTERS_KEPT } from '../../schemas/poll-quarters.ts';
import { type TestStore, withEmbedded } from '../support/embedded.ts';
import { expandPanelSql } from '../support/macros.ts';
import { loadDashboardRows } from './dashboards-load.ts';
import type { BenchResult } from './result.ts';

/**
 * How long every panel, variable and annotation of the generated dashboards takes at the reader's door of an
 * embedded store. `node test/bench/dashboards.ts [--rows 10000000] [--days 14] [--hours 6] [--rounds 20]
 * [--failing-checks 1] [--before] [--data DIR] [--json]`.
 *
 * --before  asks the same with nothing kept, in turns: what quarters of orders are measured against
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
export interface Timing extends Figures {
  readonly where: string;
  /** The same question with nothing kept. */
  readonly before: Figures | null;
}
const NOTHING: Figures = { p50: Number.NaN, p95: Number.NaN, cpu: null };

const QUARTERS = `${DATABASE}.${ORDER_QUARTERS}(`;
const OF_ITEMS = `${DATABASE}.order_quarters_of_items`;

interface Options {
  readonly rows: number;
  /** How long the history is. */
  readonly days: number;
  readonly hours: number;
  readonly rounds: number;
  /** Of orders whose status is checked, the share 0..1 of which checks fail. */
  readonly failingChecks: number;
  readonly before: boolean;
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
  // The reader may not ask a view of the bench's own.
  const user = options.before ? embedded.writer : embedded.reader;
  const reader = createClient({ url: embedded.url, ...user, database: DATABASE });
  try {
    await migrate(embedded);
    const endMs = await prepare(writer, options, progress);
    if (options.before) await reader.command({ query: viewOfItems() });
    const timings: Timing[] = [];
    const range = { from: new Date(endMs - options.hours * 3_600_000), to: new Date(endMs) };
    const intervalMs = intervalFor(options.hours);
    const order = await someOrder(reader, range.to);
    const ask = (query: string) => async () => (await reader.query({ query, format: 'JSONCompact' })).text();
    for (const { where, sql } of [...QUESTIONS, ...queriesOfPanels()].filter((query) =>
      query.where.includes(options.only ?? ''),
    )) {
      const query = expandPanelSql(sql, { ...range, intervalMs }, { order_id: [order] });
      const ways = [ask(query)];
      if (options.before && query.includes(QUARTERS))
        ways.push(ask(query.replaceAll(QUARTERS, `${OF_ITEMS}(`)));
      const [now, before] = await inTurns(ways, options.rounds, () => cpuMs(embedded.store.pid));
      const timing = { where, ...(now ?? NOTHING), before: before ?? null };
      timings.push(timing);
      progress(line(timing));
    }
    if (options.before) await writer.command({ query: `DROP VIEW ${OF_ITEMS}` });
    return timings;
  } finally {
    await Promise.all([writer.close(), reader.close()]);
    await embedded.stop();
  }
}

/**
 * Each way's figures, the ways asked in turns so that a busy machine slows all of them alike; the first round
 * is left out. Infinite when the engine refuses, as it does for lack of memory.
 */
async function inTurns(
  ways: readonly (() => Promise<unknown>)[],
  rounds: number,
  cpu: () => number | null,
): Promise<Figures[]> {
  const times: number[][] = ways.map(() => []);
  const work = ways.map(() => 0);
  for (let round = 0; round < rounds + 1; round += 1)
    for (const [way, ask] of ways.entries()) {
      const [start, before] = [performance.now(), cpu() ?? Number.NaN];
      const failed = await ask().then(
        () => false,
        () => true,
      );
      if (round === 0) continue;
      times[way]?.push(failed ? Infinity : performance.now() - start);
      work[way] = (work[way] ?? 0) + ((cpu() ?? Number.NaN) - before) / rounds;
    }
  return times.map((own, way) => {
    const sorted = own.toSorted((a, b) => a - b);
    const used = work[way] ?? Number.NaN;
    return {
      p50: quantile(sorted, 0.5),
      p95: quantile(sorted, 0.95),
      cpu: Number.isNaN(used) ? null : used,
    };
  });
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
  if (loaded > 0) {
    // Kinds of quarters that were not kept then.
    await keepAll(writer, loaded);
    return loaded;
  }
  const endMs = Math.floor(Date.now() / 60_000) * 60_000;
  const { orders, items } = await loadDashboardRows(writer, { rows, days, failingChecks, endMs, progress });
  progress(`${orders} orders, ${items} history items`);
  await keepAll(writer, endMs);
  return endMs;
}

/** The view of quarters as it is while nothing is kept, under another name. */
const viewOfItems = (): string =>
  orderQuartersView()
    .replace(`VIEW ${ORDER_QUARTERS} AS`, `VIEW ${OF_ITEMS} AS`)
    .replaceAll(`'${QUARTERS_DEFINITION}'`, `'none'`)
    .replace(/;\s*$/, '');

/** Quarters of all that is over, as a collector keeps them, a stretch a minute. */
export async function keepAll(client: ClickHouseClient, endMs: number): Promise<void> {
  const query = async <T>(sql: string): Promise<T[]> =>
    (await client.query({ query: sql, format: 'JSONEachRow' })).json<T>();
  const command = async (sql: string): Promise<void> => void (await client.command({ query: sql }));
  for (const kind of [ORDER_QUARTERS_KEPT, POLL_QUARTERS_KEPT]) {
    const keeper = createQuarterKeeper({ kind, query, command, visibleAfterSeconds: 0 });
    for (let from = 1; from > 0;) {
      await keeper.keep(endMs + 300_000);
      from = Number((await query<{ from: number }>(frontierSql(kind.definition)))[0]?.from ?? 0);
    }
  }
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

const line = ({ where, before, ...now }: Timing): string =>
  [
    ...[now, ...(before === null ? [] : [before])].map(
      ({ p50, p95, cpu }) =>
        `${[p50, p95, cpu].map((ms) => (ms === null ? '-' : ms.toFixed(0)).padStart(6)).join(' ')} `,
    ),
    where,
  ].join(' ');

/** Milliseconds of processor time that a process has used; null where `/proc` does not tell. */
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

/**
 * Shares' panels that a second of processor time answers, against the same questions while nothing is kept
 * of quarters of orders. With few items in the range both ways are quick, and what every question costs
 * besides hides the difference.
 */
export async function run(): Promise<BenchResult> {
  const options = {
    rows: 3_000_000,
    days: 2,
    hours: 24,
    rounds: 5,
    failingChecks: 1,
    dataDir: undefined,
    only: 'Technical success',
  };
  const rate = (figures: readonly Figures[]): number =>
    1000 / (figures.reduce((sum, { p50, cpu }) => sum + (cpu ?? p50), 0) / figures.length);
  const timings = await measure({ ...options, before: true }, () => undefined);
  const ours = rate(timings);
  const baseline = rate(timings.flatMap(({ before }) => before ?? []));
  return {
    name: 'dashboards: quarters of orders against their items',
    unit: 'panels/CPU-s',
    ours,
    baseline,
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
      before: { type: 'boolean', default: false },
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
      before: values.before,
      dataDir: values.data,
      only: values.only,
    },
    (text) => console.error(text),
  );
  const sorted = timings.toSorted((a, b) => b.p95 - a.p95);
  if (values.json) console.log(JSON.stringify(sorted, null, 2));
  else
    console.log(
      [
        `   p50    p95    cpu${values.before ? '  before: p50    p95    cpu' : ''}  ms`,
        ...sorted.map(line),
      ].join('\n'),
    );
  console.error(
    `slowest: ${sorted[0]?.where} (p50 ${sorted[0]?.p50.toFixed(0)} ms, p95 ${sorted[0]?.p95.toFixed(0)} ms)`,
  );
}
