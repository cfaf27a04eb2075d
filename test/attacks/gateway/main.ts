import { runReportCommand } from '../../support/report-command.ts';
import { attackAsGateway } from './run.ts';

const USAGE = `npm run attacks:gateway -- [options]

A hostile gateway beside a good one: histories of a thousand weeks, bodies without end, bytes now and then, bombs, nesting, broken
protocols. The good gateway's orders have to settle as usual, signed callbacks have to be answered, and /readyz has to stay true.

  --messages N  hostile replies (default 100000)
  --seed N      replay a run (default 1)
  --json FILE   write the report there, too`;

process.exitCode = await runReportCommand(
  {
    usage: USAGE,
    numbers: { messages: { default: 100_000, least: 1 }, seed: { default: 1, least: 1 } },
    async run({ numbers, say }) {
      const report = await attackAsGateway({ ...numbers, say });
      const { good, callbacks, observed } = report;
      const passed =
        good.settled === good.orders &&
        good.wrongItems === 0 &&
        callbacks.answers[200] === callbacks.sent &&
        callbacks.answers[503] === undefined &&
        callbacks.lost === 0 &&
        Object.keys(observed.notReady).length === 0;
      return { report: { seed: numbers.seed, ...report }, passed };
    },
  },
  process.argv.slice(2),
);
