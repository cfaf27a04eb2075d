import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { GROUPS, partNamed } from './mutation-groups.ts';

const USAGE = `npm run mutation -- [GROUP...] [--json FILE] [--incremental]

Changes the code of a group at one place after the other and runs its fast tests: how many of the changes do they notice?
Groups: ${Object.keys(GROUPS).join(', ')}. Default: all.
  --json FILE    writes the result; groups in the file that did not run now stay in it
  --incremental  tries only those changes again on which code or tests changed since the last such run`;

/** Of 100 changes, so many must be noticed. */
const WANTED = 95;
const REPORT = 'reports/mutation.json';

interface Mutant {
  readonly status: string;
}

interface Summary {
  readonly killed: number;
  readonly survived: number;
  readonly ignored: number;
  readonly score: number;
}

/**
 * A change that runs into a time limit is noticed, too. What is ignored has its reason beside it in the code.
 */
function summary(all: readonly Mutant[]): Summary {
  const count = (...statuses: string[]) => all.filter(({ status }) => statuses.includes(status)).length;
  const [killed, survived] = [count('Killed', 'Timeout'), count('Survived', 'NoCoverage')];
  const score = Math.floor((10_000 * killed) / (killed + survived)) / 100;
  return { killed, survived, ignored: count('Ignored'), score };
}

/** The changes of one part and what came of them; null when it could not run. */
async function run(part: string, isIncremental: boolean): Promise<readonly Mutant[] | null> {
  const args = ['run', '--mutate', partNamed(part)?.mutate.join(',') ?? ''];
  if (isIncremental) args.push('--incremental', '--incrementalFile', `reports/incremental-${part}.json`);
  const env = { ...process.env, GATEWATCH_MUTATE: part };
  const [code] = (await once(spawn('stryker', args, { env, stdio: 'inherit' }), 'close')) as [number | null];
  if (code !== 0) return null;
  const report = JSON.parse(readFileSync(REPORT, 'utf8')) as {
    files: Record<string, { mutants: Mutant[] }>;
  };
  return Object.values(report.files).flatMap(({ mutants }) => mutants);
}

/** The groups of an earlier result. */
function groupsIn(file: string | undefined): Record<string, Summary> {
  if (file === undefined || !existsSync(file)) return {};
  return (JSON.parse(readFileSync(file, 'utf8')) as { groups: Record<string, Summary> }).groups;
}

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      json: { type: 'string' },
      incremental: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const names = positionals.length === 0 ? Object.keys(GROUPS) : positionals;
  if (values.help || names.some((name) => GROUPS[name] === undefined)) {
    console.error(USAGE);
    return values.help ? 0 : 2;
  }
  const groups = groupsIn(values.json);
  for (const name of names) {
    const mutants: Mutant[] = [];
    for (const index of GROUPS[name]?.keys() ?? []) {
      const some = await run(`${name}.${index}`, values.incremental);
      if (some === null) return 1;
      mutants.push(...some);
    }
    groups[name] = summary(mutants);
  }
  const verdict = Object.values(groups).every(({ score }) => score >= WANTED) ? 'passed' : 'failed';
  const text = `${JSON.stringify({ verdict, wanted: WANTED, node: process.version, groups }, null, 2)}\n`;
  process.stdout.write(text);
  if (values.json !== undefined) {
    mkdirSync(path.dirname(path.resolve(values.json)), { recursive: true });
    writeFileSync(values.json, text);
  }
  return verdict === 'passed' ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
