import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { parse } from 'yaml';
import type { EvaluationPass } from '../../alerts/evaluate/evaluation.ts';
import { createPass } from '../../alerts/evaluate/pass.ts';
import { RULES } from '../../alerts/rules/all.ts';
import type { Rule } from '../../alerts/rules/rule.ts';
import { DATABASE } from '../../schemas/names.ts';
import { expandMacros } from '../../store/macros.ts';
import { createStore, type Store } from '../../store/store.ts';
import { openDatabase } from '../support/migrated-store.ts';
import { withBenchStore } from './bench-store.ts';
import { cpuBetween, cpuTimes } from './cpu.ts';
import { loadDashboardRows } from './dashboards-load.ts';
import type { BenchResult } from './result.ts';

/**
 * What it costs to evaluate the rules once a minute, slices included, with all that reads the result, beside
 * what it costs when each rule is evaluated for itself. Processor time of this process and the engine's, by
 * orders a minute; the history is as long as can be loaded in a minute or two.
 */

const OUT = fileURLToPath(new URL('../../alerts/out/provisioning/alerting', import.meta.url));
const ITEMS_PER_ORDER = 12;
/** Orders a minute, and days of history. */
const VOLUMES = [
  { aMinute: 57, days: 28 },
  { aMinute: 342, days: 2 },
  { aMinute: 2_000, days: 0.4 },
] as const;
const PASSES = 4;
const MINUTE_MS = 60_000;
/** What an evaluation must cost less than: the ratio at 342 orders a minute. */
const AIM = 3;

interface Cost {
  readonly aMinute: number;
  readonly days: number;
  /** Milliseconds of processor time a minute. */
  readonly pass: number;
  readonly grafana: number;
  readonly oneByOne: number;
}

export async function run(): Promise<BenchResult> {
  const costs: Cost[] = [];
  for (const volume of VOLUMES) costs.push(await measure(volume));
  const middle = costs[1] as Cost;
  const perSecond = (ms: number): number => 1000 / ms;
  const seconds = (ms: number): string => (ms / 1000).toFixed(2);
  return {
    name: 'evaluation of all rules, 342 orders a minute',
    unit: 'evaluations per processor second',
    ours: perSecond(middle.pass),
    baseline: perSecond(middle.oneByOne),
    aim: AIM,
    note: costs
      .map(
        ({ aMinute, days, pass, grafana, oneByOne }) =>
          `${aMinute} a minute, ${days} days: pass ${seconds(pass)} s and Grafana's reading ${seconds(grafana)} s a minute, rules one by one ${seconds(oneByOne)} s`,
      )
      .join('; '),
  };
}

async function measure({ aMinute, days }: (typeof VOLUMES)[number]): Promise<Cost> {
  const embedded = await withBenchStore();
  const log = { level: ClickHouseLogLevel.ERROR };
  const writer = createClient({ url: embedded.url, ...embedded.writer, request_timeout: 900_000, log });
  const reader = createClient({
    url: embedded.url,
    ...embedded.reader,
    database: DATABASE,
    request_timeout: 900_000,
    log,
  });
  const store = createStore({
    url: embedded.url,
    ...embedded.writer,
    database: DATABASE,
    requestTimeoutMs: 600_000,
  });
  try {
    await openDatabase(embedded, { database: DATABASE });
    const endMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
    const rows = aMinute * ITEMS_PER_ORDER * days * 1440;
    await loadDashboardRows(writer, { rows, endMs, days, areMerged: false, progress: () => undefined });
    const passOf = (rules: readonly Rule[]): EvaluationPass =>
      createPass({
        rules,
        query: (sql) => store.query(sql),
        evaluator: 'bench',
        now: () => Date.now() * 1000,
        monotonicMs: () => performance.now(),
      });
    const pass = await costOfPasses(passOf(RULES), store, endMs);
    const grafana = await costOf(() => askAll(reader, endMs));
    let oneByOne = 0;
    for (const rule of RULES) {
      const cost = await costOf(async () => void (await passOf([rule])(endMs, ['fast', 'slow'])));
      oneByOne += rule.group === 'slow' ? cost / 10 : cost;
    }
    return { aMinute, days, pass, grafana, oneByOne };
  } finally {
    await Promise.all([writer.close(), reader.close(), store.close()]);
    await embedded.stop();
  }
}

/** A minute's passes in the long run: the slow rules every tenth. */
async function costOfPasses(pass: EvaluationPass, store: Store, endMs: number): Promise<number> {
  const write = async (asOfMs: number, groups: readonly ('fast' | 'slow')[]): Promise<void> =>
    store.insert('alertEvaluations', await pass(asOfMs, groups));
  await write(endMs - PASSES * MINUTE_MS, ['fast', 'slow']);
  const fast = await costOf(async () => {
    for (let n = PASSES - 1; n >= 0; n -= 1) await write(endMs - n * MINUTE_MS, ['fast']);
  });
  const both = await costOf(async () => void (await pass(endMs, ['fast', 'slow'])));
  return fast / PASSES + Math.max(0, both - fast / PASSES) / 10;
}

async function costOf(work: () => Promise<void>): Promise<number> {
  const before = cpuTimes();
  await work();
  return cpuBetween(before, cpuTimes(), () => true);
}

interface File {
  readonly groups?: readonly {
    readonly interval: string;
    readonly rules: readonly { readonly data: readonly { readonly model: { readonly rawSql?: string } }[] }[];
  }[];
}

/** The statements that Grafana asks in a minute: those of rules that are evaluated every minute. */
const QUERIES = readdirSync(OUT)
  .map((name) => parse(readFileSync(`${OUT}/${name}`, 'utf8')) as File)
  .flatMap(({ groups = [] }) => groups)
  .filter(({ interval }) => interval === '1m')
  .flatMap(({ rules }) => rules.flatMap(({ data }) => data.flatMap(({ model }) => model.rawSql ?? [])));

async function askAll(reader: ClickHouseClient, endMs: number): Promise<void> {
  const to = new Date(endMs);
  for (const sql of QUERIES) {
    const query = expandMacros(sql, { from: new Date(endMs - 3_600_000), to, intervalMs: MINUTE_MS });
    const answer = await reader.query({ query, format: 'JSON' });
    await answer.text();
  }
}
