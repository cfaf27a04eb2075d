import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startSeededStore } from '../support/seed-store.ts';
import { compareWithEngine, type Comparison } from './equality.ts';
import { aimsOf, figuresOf, type VolumeFigures } from './figures.ts';
import type { Incident } from './incidents.ts';
import { classesFromEngine, scoreVolume } from './months.ts';
import { aimLines, asJson, type LabReport, reportFiles } from './report.ts';
import { type Months, simulate } from './simulate.ts';
import { type Classes, createTwins } from './twins.ts';

const HELP = `npm run lab -- [--short] [--seed TEXT] [--volumes 0.2,2,20,200,2000] [--weeks 52] [--out FOLDER] [--json]

Synthetic months of traffic with labelled incidents: what our alert rules find, how fast, and what they page for nothing,
beside the rules that people copy. Writes table, plots and JSON to docs/evidence.

--short: a quarter of a year at two volumes, in less than a minute, written nowhere.
Exit codes: 0 every aim reached (with --short: those that few months can show), 1 one missed, 2 bad usage.`;

const FULL = { volumes: [0.2, 2, 20, 200, 2000], weeks: 52 };
const SHORT = { volumes: [2, 20], weeks: 14 };
/**
 * Volumes whose orders are few enough to be laid down as rows; of the fewest a whole day, for the rules that
 * look so far.
 */
const COMPARED = [
  { ordersPerMinute: 2, windowMinutes: 26 * 60 },
  { ordersPerMinute: 20, windowMinutes: 405 },
];
const EVIDENCE = fileURLToPath(new URL('../../docs/evidence', import.meta.url));

process.exitCode = await main();

async function main(): Promise<number> {
  const options = readArguments();
  if (options === null) return 2;
  if (options.help) {
    console.log(HELP);
    return 0;
  }
  const classes = await step('asking the rules what they count', () => classesFromEngine());
  const volumes: VolumeFigures[] = [];
  for (const ordersPerMinute of options.volumes)
    volumes.push(
      await step(`${options.weeks} weeks at ${ordersPerMinute} orders a minute`, () =>
        figuresOf(scoreVolume({ ...options, ordersPerMinute }, classes)),
      ),
    );
  const comparisons = await step('comparing with the pass on the real engine', () =>
    compared(options, classes),
  );
  const report: LabReport = { seed: options.seed, volumes, comparisons };
  if (options.out !== null) {
    mkdirSync(options.out, { recursive: true });
    for (const [name, text] of reportFiles(report)) writeFileSync(join(options.out, name), text);
  }
  console.log(options.json ? JSON.stringify(asJson(report), null, 2) : aimLines(volumes));
  const differing = comparisons.filter(({ equal }) => !equal);
  for (const one of differing) console.error(`differs: ${JSON.stringify(one)}`);
  console.error(`${comparisons.length} numbers compared with the engine, ${differing.length} differ`);
  const failed = options.short ? volumes.some(plainlyBad) : aimsOf(volumes).some(({ met }) => !met);
  return failed || differing.length > 0 ? 1 : 0;
}

interface Options {
  readonly seed: string;
  readonly volumes: readonly number[];
  readonly weeks: number;
  readonly out: string | null;
  readonly short: boolean;
  readonly json: boolean;
  readonly help: boolean;
}

function readArguments(): Options | null {
  try {
    const { values } = parseArgs({
      options: {
        seed: { type: 'string', default: 'lab' },
        volumes: { type: 'string' },
        weeks: { type: 'string' },
        out: { type: 'string' },
        short: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    const usual = values.short ? SHORT : FULL;
    const volumes = values.volumes?.split(',').map(Number) ?? usual.volumes;
    const weeks = Number(values.weeks ?? usual.weeks);
    if (!(weeks >= 12 && weeks <= 104) || volumes.some((volume) => !(volume > 0 && volume <= 2000)))
      throw new RangeError('expected 12 to 104 weeks, and volumes of up to 2000');
    const out = values.out ?? (values.short ? null : EVIDENCE);
    return {
      seed: values.seed,
      volumes,
      weeks,
      out,
      short: values.short,
      json: values.json,
      help: values.help,
    };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
    return null;
  }
}

/**
 * A few weeks show no rate of rare pages: what must not be is a severe incident missed, or pages by the
 * dozen.
 */
function plainlyBad({ sets: { ours } }: VolumeFigures): boolean {
  const { severe } = ours.forms;
  const late = (ours.severeTimeOverAllowed ?? 9) > 1;
  return severe.detected < severe.incidents || late || ours.falsePagesPerMonth.critical > 3;
}

async function compared(options: Options, classes: Classes): Promise<Comparison[]> {
  const out: Comparison[] = [];
  for (const { ordersPerMinute, windowMinutes } of options.short ? COMPARED.slice(0, 1) : COMPARED) {
    const months = simulate({
      seed: options.seed,
      ordersPerMinute,
      weeks: options.short ? options.weeks : 26,
    });
    const twins = createTwins(months, classes);
    const store = await startSeededStore();
    try {
      const instants = options.short ? sampled(months).slice(0, 2) : sampled(months);
      out.push(...(await compareWithEngine({ store, months, twins, instants, windowMinutes })));
    } finally {
      await store.stop();
    }
  }
  return out;
}

/** Minutes in the midst of incidents of each kind of effect, just after one, and quiet ones. */
function sampled(months: Months): number[] {
  const some = (effect: Incident['kind']['effect']['type'], after: number): number[] =>
    months.incidents
      .filter(({ kind }) => kind.effect.type === effect)
      .slice(1, 2)
      .map(({ start }) => start + after);
  const ended = months.incidents.slice(2, 3).map(({ end }) => end + 4);
  const quiet = [months.from + 4321, months.minutes - 1234];
  return [
    ...some('share', 17),
    ...quiet,
    ...some('drop', 12),
    ...some('blind', 9),
    ...some('silent', 7),
    ...ended,
  ];
}

async function step<T>(what: string, work: () => T | Promise<T>): Promise<T> {
  const startedAt = performance.now();
  process.stderr.write(`${what} ...`);
  const result = await work();
  process.stderr.write(` ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`);
  return result;
}
