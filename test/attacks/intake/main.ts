import { runReportCommand } from '../../support/report-command.ts';
import { attackIntake } from './run.ts';
import { delaysOf, failuresOf } from './verdict.ts';

const USAGE = `npm run attacks:intake -- [options]

Attacks the intake of a collector with hostile messages and slow clients, while signed callbacks come in beside them: those are
answered within a second, /readyz stays true, memory stays bounded, every message gets its own answer and every row its verdict.

  --messages N    hostile messages (default 100000)
  --slow N        connections that drip (default 500)
  --at-once N     hostile messages at once (default 128)
  --rate N        signed callbacks a second (default 20)
  --seed N        replay a run's messages (default 1)
  --json FILE     write the report there, too`;

process.exitCode = await runReportCommand(
  {
    usage: USAGE,
    numbers: {
      messages: { default: 100_000, least: 0 },
      slow: { default: 500, least: 0 },
      'at-once': { default: 128, least: 0 },
      rate: { default: 20, least: 0 },
      seed: { default: 1, least: 0 },
    },
    async run({ numbers: { messages, slow, rate, seed, ...numbers }, say }) {
      const pace = { concurrency: numbers['at-once'], goodPerSecond: rate };
      const found = await attackIntake({ messages, slow, ...pace, seed, say });
      const failures = [...failuresOf(found), ...delaysOf(found)];
      return { report: { failures, ...found }, passed: failures.length === 0 };
    },
  },
  process.argv.slice(2),
);
