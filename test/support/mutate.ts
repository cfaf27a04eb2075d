import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { GROUPS, partNamed } from './mutation-groups.ts';
import { runReportCommand } from './report-command.ts';

const USAGE = `npm run mutation -- [GROUP...] [--json FILE] [--incremental]

Changes the code of a group at one place after the other and runs its fast tests: how many of the changes do they notice?
Groups: ${Object.keys(GROUPS).join(', ')}. Default: all.
  --json FILE    writes the result; groups in the file that did not run now stay in it
  --incremental  tries only those changes again on which code or tests changed since the last such run`;

/** Percentage of the changes that the tests must notice. */
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

process.exitCode = await runReportCommand(
  {
    usage: USAGE,
    numbers: {},
    flags: ['incremental'],
    takesNames: true,
    async run({ names, flags, reportFile }) {
      const chosen = names.length === 0 ? Object.keys(GROUPS) : names;
      if (chosen.some((name) => GROUPS[name] === undefined)) return 'usage';
      const groups = groupsIn(reportFile);
      for (const name of chosen) {
        const mutants: Mutant[] = [];
        for (const index of GROUPS[name]?.keys() ?? []) {
          const some = await run(`${name}.${index}`, flags.has('incremental'));
          if (some === null) return null;
          mutants.push(...some);
        }
        groups[name] = summary(mutants);
      }
      const passed = Object.values(groups).every(({ score }) => score >= WANTED);
      return { passed, report: { wanted: WANTED, groups } };
    },
  },
  process.argv.slice(2),
);
