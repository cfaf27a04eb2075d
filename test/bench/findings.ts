import type { FindingKind } from '../../schemas/findings.ts';
import { FINDING_KIND_NAMES } from '../../schemas/findings.ts';
import {
  findingsOf,
  GATEWAY,
  MINUTE,
  NOW,
  seedAll,
  sweepAll,
  type OrderFacts,
  watching,
} from '../alerts/findings/support/scene.ts';
import { type Given, type Result, runReportCommand } from '../support/report-command.ts';
import { dateTime64, type SeededStore, startSeededStore } from '../support/seed-store.ts';
import { cpuBetween, cpuTimes } from './cpu.ts';
import { contradictoryOrder, healthyOrder, LEARNT_MOVES } from './findings-orders.ts';

/**
 * Contradictions of every kind among orders whose sources agree: how many are found and open, how many are
 * found that are none, and what a minute's comparison costs at 2,000 orders a minute. Rows are put into the
 * store; times are fixed.
 */

const USAGE = `node test/bench/findings.ts [--orders 100000] [--each 200] [--json FILE]

  --orders   orders whose sources agree
  --each     contradictions of each kind`;

const AT_ONCE = 2_000;
/** Every so many orders are stored a second time, as after a crash. */
const TWICE_EVERY = 10;
const SWEEPS = 5;

type Option = 'orders' | 'each';

async function run({ numbers, say }: Given<Option>): Promise<Result> {
  const store = await startSeededStore();
  try {
    await load(store, numbers, say);
    const began = performance.now();
    const findings = findingsOf(store);
    await sweepAll(findings);
    const allMs = performance.now() - began;
    say('compared');
    const kinds = await Promise.all(FINDING_KIND_NAMES.map((kind) => scoreOf(store, kind, numbers.each)));
    const [wrong] = (
      await store.query(
        `SELECT count() AS n FROM gatewatch.findings WHERE NOT startsWith(external_id, concat(kind, '-'))`,
      )
    ).data;
    const wronglyFound = Number(wrong?.['n'] ?? 0);
    const passed = wronglyFound === 0 && kinds.every(({ share }) => share >= 0.999);
    const perMinute = await costOfMinute(store);
    return {
      passed,
      report: { ...numbers, wronglyFound, kinds, comparedAllInMs: Math.round(allMs), perMinute },
    };
  } finally {
    await store.stop();
  }
}

async function load(
  store: SeededStore,
  { orders, each }: Given<Option>['numbers'],
  say: Given<Option>['say'],
) {
  await store.seed(watching());
  await judgedTo(store, NOW - 120 * MINUTE);
  const learnt = LEARNT_MOVES.map(
    ([before, after]) =>
      `('${GATEWAY}', '${before}', '${after}', 'Deposit', 'old', toDateTime64('2026-01-01 00:00:00', 6, 'UTC'), toDateTime64('2026-01-01 00:00:00', 6, 'UTC'))`,
  );
  await store.command(
    `INSERT INTO gatewatch.code_moves_store (gateway, before, after, order_type, external_id, moved_at, known_at) SELECT * FROM values('gateway String, before String, after String, order_type String, external_id String, moved_at DateTime64(6), known_at DateTime64(6)', ${[...learnt, ...healthyMoves()].join(', ')})`,
  );
  const seeded = [
    ...FINDING_KIND_NAMES.flatMap((kind) =>
      Array.from({ length: each }, (_, n) => contradictoryOrder(kind, n, each)),
    ),
    ...Array.from({ length: orders }, (_, n) => healthyOrder(n, orders)),
  ];
  for (let from = 0; from < seeded.length; from += AT_ONCE) {
    const some = seeded.slice(from, from + AT_ONCE);
    await store.seed(seedAll(some));
    await store.seed(seedAll(some.filter((_, n) => n % TWICE_EVERY === 0)));
  }
  say(`${seeded.length} orders are in the store`);
}

/** The moves that orders without a new one have. */
function healthyMoves(): string[] {
  const moves = new Set<string>();
  const some: OrderFacts[] = [
    ...Array.from({ length: 50 }, (_, n) => healthyOrder(n, 50)),
    ...FINDING_KIND_NAMES.filter((kind) => kind !== 'FIRST_SEEN_TRANSITION').flatMap((kind) =>
      [0, 1].map((n) => contradictoryOrder(kind, n, 2)),
    ),
  ];
  for (const { items = [] } of some) {
    const codes = items.toSorted(([a], [b]) => a - b).map(([, action]) => action);
    for (const [index, code] of codes.entries()) if (index > 0) moves.add(`'${codes[index - 1]}', '${code}'`);
  }
  return [...moves].map(
    (move) =>
      `('${GATEWAY}', ${move}, 'Deposit', 'old', toDateTime64('2026-01-01 00:00:00', 6, 'UTC'), toDateTime64('2026-01-01 00:00:00', 6, 'UTC'))`,
  );
}

async function scoreOf(store: SeededStore, kind: FindingKind, each: number) {
  const [row] = (
    await store.query(
      `SELECT uniqExact(external_id) AS n FROM gatewatch.findings WHERE kind = '${kind}' AND startsWith(external_id, '${kind}-') AND resolved_at IS NULL`,
    )
  ).data;
  const found = Number(row?.['n'] ?? 0);
  return { kind, made: each, found, share: found / each };
}

const judgedTo = (store: SeededStore, at: number): Promise<void> =>
  store.command(
    `INSERT INTO gatewatch.jobs_store (job, part, done_to) SELECT 'compare sources', '${GATEWAY}', toDateTime64('${dateTime64(at)}', 6, 'UTC')`,
  );

/** Processor time of comparisons of one minute each, in the middle of the traffic. */
async function costOfMinute(store: SeededStore) {
  const at = NOW - 65 * MINUTE;
  await store.command('TRUNCATE TABLE gatewatch.jobs_store');
  for (let n = 0; n <= SWEEPS; n += 1)
    await store.seed({
      gatewayStatus: [{ gateway: GATEWAY, reportedAt: at + n * MINUTE, watermarkAt: at + n * MINUTE }],
    });
  await judgedTo(store, at - 30_000);
  const findings = findingsOf(store);
  const before = cpuTimes();
  const began = performance.now();
  for (let n = 1; n <= SWEEPS; n += 1) await findings.sweep(at + n * MINUTE);
  const took = performance.now() - began;
  return {
    processorMs: Math.round(cpuBetween(before, cpuTimes(), () => true) / SWEEPS),
    tookMs: Math.round(took / SWEEPS),
  };
}

if (import.meta.main)
  process.exitCode = await runReportCommand<Option>(
    {
      usage: USAGE,
      numbers: { orders: { default: 100_000, least: 1 }, each: { default: 200, least: 1 } },
      run,
    },
    process.argv.slice(2),
  );
