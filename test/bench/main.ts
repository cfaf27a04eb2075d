import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { ratioOf, reachesAim, type Bench, type BenchResult, type SkippedBench } from './result.ts';

const HELP = `npm run bench -- [NAME...] [--json]

Runs every bench under test/bench, or those whose file names are given (such as callbacks), one after the other.
Each compares our way with a straightforward one in the same run; the ratio must reach its aim.
One that needs what this machine lacks is skipped, with the reason.
Exit codes: 0 every aim reached, 1 an aim missed or a bench failed, 2 bad usage.`;

interface Outcome {
  readonly bench: string;
  readonly result: BenchResult | SkippedBench | null;
  readonly error: string;
}

process.exitCode = await main();

async function main(): Promise<number> {
  const asked = readArguments();
  if (asked === null) return 2;
  if (asked.help) {
    console.log(HELP);
    return 0;
  }
  const names = await benchNames(asked.names);
  if (names.length === 0) {
    console.error(
      `No bench ${asked.names.length > 0 ? `named ${asked.names.join(' or ')}` : 'found'} under test/bench.`,
    );
    return 2;
  }
  const outcomes: Outcome[] = [];
  for (const name of names) {
    const bench = await load(name);
    if (bench === null) continue;
    console.error(`bench ${name} ...`);
    outcomes.push(await (names.length === 1 ? outcomeOf(name, bench) : outcomeApart(name)));
    const failed = outcomes.at(-1)?.error ?? '';
    if (failed !== '') console.error(failed);
  }
  const passed =
    outcomes.length > 0 &&
    outcomes.every(({ result }) => result !== null && ('skipped' in result || reachesAim(result)));
  console.log(
    asked.json ? JSON.stringify({ passed, benches: outcomes.map(asJson) }, null, 2) : tableOf(outcomes),
  );
  if (outcomes.length === 0) console.error('None of the files exports a run function.');
  return passed ? 0 : 1;
}

function readArguments(): { names: string[]; json: boolean; help: boolean } | null {
  try {
    const options = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    return { names: positionals, json: values.json === true, help: values.help === true };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
    return null;
  }
}

/** Names of the files that may hold a bench, in alphabetical order; all of `wanted` must be among them. */
async function benchNames(wanted: readonly string[]): Promise<string[]> {
  const files = await readdir(new URL('.', import.meta.url));
  const names = files
    .filter((file) => file.endsWith('.ts') && file !== 'main.ts')
    .map((file) => file.slice(0, -3));
  if (!wanted.every((name) => names.includes(name))) return [];
  return names.filter((name) => wanted.length === 0 || wanted.includes(name)).toSorted();
}

/** A file's `run`; null for a file that helps others. */
async function load(name: string): Promise<Bench | null> {
  const module = (await import(new URL(`${name}.ts`, import.meta.url).href)) as { run?: Bench };
  return module.run ?? null;
}

/** A bench that throws has missed its aim; the others still run. */
async function outcomeOf(bench: string, run: Bench): Promise<Outcome> {
  try {
    return { bench, result: await run(), error: '' };
  } catch (error) {
    return {
      bench,
      result: null,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    };
  }
}

/**
 * Runs a bench in a process of its own: what one leaves in the heap and in the compiler would be measured in
 * the next.
 */
async function outcomeApart(bench: string): Promise<Outcome> {
  const output = await new Promise<string>((done) => {
    execFile(process.execPath, [import.meta.filename, bench, '--json'], (_missed, stdout, stderr) =>
      done(stdout === '' ? JSON.stringify({ benches: [{ error: stderr }] }) : stdout),
    );
  });
  const [{ error, ...result }] = (
    JSON.parse(output) as { benches: [(BenchResult | SkippedBench) & { error?: string }] }
  ).benches;
  return error === undefined ? { bench, result, error: '' } : { bench, result: null, error };
}

function asJson({ bench, result, error }: Outcome): object {
  if (result === null) return { bench, passed: false, error };
  if ('skipped' in result) return { bench, ...result };
  return { bench, passed: reachesAim(result), ratio: ratioOf(result), ...result };
}

function tableOf(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map(rowOf);
  const table = [['bench', 'ours', 'baseline', 'ratio', 'aim', '', ''], ...rows];
  const widths = table.reduce<number[]>(
    (most, row) => row.map((cell, column) => Math.max(most[column] ?? 0, cell.length)),
    [],
  );
  const lines = table.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return lines.map((line) => line.trimEnd()).join('\n');
}

function rowOf({ bench, result, error }: Outcome): string[] {
  if (result === null) return [bench, '-', '-', '-', '-', 'FAIL', error.split('\n')[0] ?? ''];
  if ('skipped' in result) return [bench, '-', '-', '-', '-', 'skip', result.skipped];
  return [
    result.name,
    `${round(result.ours)} ${result.unit}`,
    `${round(result.baseline)} ${result.unit}`,
    `${ratioOf(result).toFixed(ratioOf(result) < 1 ? 2 : 1)}x`,
    `${result.aim}x`,
    reachesAim(result) ? 'pass' : 'FAIL',
    result.note ?? '',
  ];
}

/** Three digits that mean something: 18.1M, 452k. */
function round(rate: number): string {
  const [scaled, suffix] = rate >= 1e6 ? [rate / 1e6, 'M'] : rate >= 1e3 ? [rate / 1e3, 'k'] : [rate, ''];
  return `${Number(scaled.toPrecision(3))}${suffix}`;
}
