import { runReportCommand } from '../../support/report-command.ts';
import { attackBeside, type BesideReport } from './beside.ts';
import { attackEachWall, isClean } from './walls.ts';

const BESIDE = { rate: 20, bombs: 6, connections: 300 };

const USAGE = `npm run attacks:reader -- [options]

Attacks the reader of an embedded store, password and all, while strace watches the engine's process: no file outside of its
folder is opened, no connection made, no process started. First with all walls, then without the sandbox, without the gate, and
with neither: then the engine's own rights alone keep a reader to the views, and files are not safe.

  --statements N  statements of all four runs: the hand-made ones and mutations of them (default 200000)
  --at-once N     requests at once (default 4)
  --beside S      then, for S seconds in peace and S under attack: what becomes of signed callbacks and of /readyz
                  while bombs fall on the reader's door (default 60, 0: not)
  --seed N        replay a run's mutations (default 1)
  --json FILE     write the report there, too`;

process.exitCode = await runReportCommand(
  {
    usage: USAGE,
    numbers: {
      statements: { default: 200_000, least: 0 },
      'at-once': { default: 4, least: 0 },
      beside: { default: 60, least: 0 },
      seed: { default: 1, least: 0 },
    },
    async run({ numbers: { statements, seed, beside: seconds, ...numbers }, say }) {
      const runs = await attackEachWall(statements, { concurrency: numbers['at-once'], seed, say });
      const beside = seconds === 0 ? null : await attackBeside({ seconds, ...BESIDE, say });
      const isHarmless = beside === null || (beside.lost === 0 && isUnharmed(beside.attacked));
      return { report: { runs, beside }, passed: runs.every(isClean) && isHarmless };
    },
  },
  process.argv.slice(2),
);

/**
 * Every signed callback was answered, 99 of 100 within a second, and the collector was ready all the time.
 */
function isUnharmed({ callbacks, observed }: BesideReport['attacked']): boolean {
  const { answers, sent, latencyMs } = callbacks;
  return answers[200] === sent && latencyMs.p99 <= 1_000 && Object.keys(observed.notReady).length === 0;
}
