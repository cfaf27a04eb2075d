import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { aimLines, aimsOf } from './aims.ts';
import { compareSamples } from './equality.ts';
import { figuresOf } from './figures.ts';
import { asJson, type LabReport, reportFiles } from './report.ts';
import { classesFromEngine, type Run, type RunOptions } from './runs.ts';
import { scoredWeeks, SEEDS, type SeedList, WARM_UP_WEEKS, weekOfYear } from './seeds.ts';
import type { Classes } from './twins.ts';

const HELP = `npm run lab -- [--seeds reported|tuned] [--seed TEXT] [--volumes 0.2,2,20,200,2000] [--whole] [--short] [--out FOLDER] [--json]

Synthetic months of traffic of gateways that differ, with labelled incidents: what our alert rules find, how fast, and what
they page for nothing. Settings of the rules are chosen on the tuned seeds; the reported ones are for the report alone, and
are the only ones that are written to docs/evidence.

--seed: one gateway of this name instead of a list.
--whole: judge gateways as wholes only, without their slices: quicker.
--short: one gateway of the list at two volumes, written nowhere.
Exit codes: 0 every aim reached, 1 one missed, 2 bad usage.`;

const VOLUMES = [0.2, 2, 20, 200, 2000];
const SHORT_VOLUMES = [2, 20];
const THREADS = 2;
const EVIDENCE = fileURLToPath(new URL('../../docs/evidence', import.meta.url));

process.exitCode = await main();

async function main(): Promise<number> {
  const options = readArguments();
  if (options === null) return 2;
  if (options.help) {
    console.log(HELP);
    return 0;
  }
  const { seeds, list } = options;
  const classes = await step('asking the rules what they count', () => classesFromEngine());
  // What takes longest comes first.
  const wanted = options.volumes.toReversed().flatMap((ordersPerMinute) =>
    seeds.map((seed, place): RunOptions => ({
      seed,
      ordersPerMinute,
      weeks: WARM_UP_WEEKS + scoredWeeks(ordersPerMinute),
      warmUpWeeks: WARM_UP_WEEKS,
      weekOfYear: weekOfYear(place),
      wholeOnly: options.whole,
    })),
  );
  const [runs, comparisons] = await step(
    `${wanted.length} runs, and a comparison with the pass on the real engine`,
    () => Promise.all([scoreAll(wanted, classes), compareSamples(seeds[0] ?? 'lab', classes, options.short)]),
  );
  const volumes = options.volumes.map((volume) =>
    figuresOf(runs.filter(({ ordersPerMinute }) => ordersPerMinute === volume)),
  );
  const report: LabReport = { list, seeds, runs, volumes, comparisons, wholeOnly: options.whole };
  if (options.out !== null) {
    mkdirSync(options.out, { recursive: true });
    for (const [name, text] of reportFiles(report)) writeFileSync(join(options.out, name), text);
  }
  console.log(options.json ? JSON.stringify(asJson(report), null, 2) : aimLines(volumes));
  const differing = comparisons.filter(({ equal }) => !equal);
  for (const one of differing) console.error(`differs: ${JSON.stringify(one)}`);
  console.error(`${comparisons.length} numbers compared with the engine, ${differing.length} differ`);
  return aimsOf(volumes).some(({ met }) => !met) || differing.length > 0 ? 1 : 0;
}

interface Options {
  readonly list: SeedList | 'other';
  readonly seeds: readonly string[];
  readonly volumes: readonly number[];
  readonly out: string | null;
  readonly whole: boolean;
  readonly short: boolean;
  readonly json: boolean;
  readonly help: boolean;
}

function readArguments(): Options | null {
  try {
    const { values } = parseArgs({
      options: {
        seeds: { type: 'string', default: 'reported' },
        seed: { type: 'string' },
        volumes: { type: 'string' },
        out: { type: 'string' },
        whole: { type: 'boolean', default: false },
        short: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    const { seeds: list, seed, short, whole, json, help } = values;
    if (list !== 'reported' && list !== 'tuned') throw new RangeError('--seeds: reported or tuned');
    const volumes = values.volumes?.split(',').map(Number) ?? (short ? SHORT_VOLUMES : VOLUMES);
    if (volumes.some((volume) => !(volume > 0 && volume <= 2000)))
      throw new RangeError('expected volumes of up to 2000 orders a minute');
    const isReport = list === 'reported' && !short && !whole && seed === undefined;
    const out = values.out ?? (isReport && values.volumes === undefined ? EVIDENCE : null);
    const seeds = seed === undefined ? SEEDS[list].slice(0, short ? 1 : undefined) : [seed];
    return { list: seed === undefined ? list : 'other', seeds, volumes, out, whole, short, json, help };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
    return null;
  }
}

/** Scores runs in threads, each in one of them; in the order in which they were wanted. */
async function scoreAll(wanted: readonly RunOptions[], classes: Classes): Promise<Run[]> {
  const runs: Run[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: THREADS }, async () => {
      const worker = new Worker(new URL('worker.ts', import.meta.url), { workerData: classes });
      try {
        for (let index = next++; index < wanted.length; index = next++) {
          runs[index] = await answerOf(worker, wanted[index]);
          process.stderr.write('.');
        }
      } finally {
        await worker.terminate();
      }
    }),
  );
  return runs;
}

function answerOf(worker: Worker, options: RunOptions | undefined): Promise<Run> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('message', (run: Run) => {
      worker.off('error', reject);
      resolve(run);
    });
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
    worker.postMessage(options);
  });
}

async function step<T>(what: string, work: () => T | Promise<T>): Promise<T> {
  const startedAt = performance.now();
  process.stderr.write(`${what} ...`);
  const result = await work();
  process.stderr.write(` ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`);
  return result;
}
