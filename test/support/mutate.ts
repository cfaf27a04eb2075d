import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { GROUPS } from './mutation-groups.ts';

const USAGE = `npm run mutation -- [GROUP...] [--json FILE]

Changes the code of a group at one place after the other and runs its fast tests: how many of the changes do they notice?
Groups: ${Object.keys(GROUPS).join(', ')}. Default: all.`;

/** Of 100 changes, so many must be noticed. */
const WANTED = 95;
const REPORT = 'reports/mutation.json';

interface Mutant {
  readonly status: string;
}

/** A change that runs into a time limit is noticed, too. What is ignored has its reason beside it in the code. */
function summary(): { killed: number; survived: number; ignored: number; score: number } {
  const report = JSON.parse(readFileSync(REPORT, 'utf8')) as {
    files: Record<string, { mutants: Mutant[] }>;
  };
  const all = Object.values(report.files).flatMap(({ mutants }) => mutants);
  const count = (...statuses: string[]) => all.filter(({ status }) => statuses.includes(status)).length;
  const [killed, survived] = [count('Killed', 'Timeout'), count('Survived', 'NoCoverage')];
  const score = Math.floor((10_000 * killed) / (killed + survived)) / 100;
  return { killed, survived, ignored: count('Ignored'), score };
}

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { json: { type: 'string' }, help: { type: 'boolean', default: false } },
  });
  const names = positionals.length === 0 ? Object.keys(GROUPS) : positionals;
  if (values.help || names.some((name) => GROUPS[name] === undefined)) {
    console.error(USAGE);
    return values.help ? 0 : 2;
  }
  const groups: Record<string, ReturnType<typeof summary>> = {};
  for (const name of names) {
    const child = spawn('stryker', ['run', '--mutate', GROUPS[name]?.mutate.join(',') ?? ''], {
      env: { ...process.env, GATEWATCH_MUTATE: name },
      stdio: 'inherit',
    });
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) return 1;
    groups[name] = summary();
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
