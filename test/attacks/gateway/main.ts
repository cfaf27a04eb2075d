import { runAttack } from '../support/run-attack.ts';
import { attackAsGateway } from './run.ts';

const USAGE = `npm run attacks:gateway -- [options]

A hostile gateway beside a good one: histories of a thousand weeks, bodies without end, bytes now and then, bombs, nesting, broken
protocols. The good gateway's orders have to settle as usual, signed callbacks have to be answered, and /readyz has to stay true.

  --messages N  hostile replies (default 100000)
  --seed N      replay a run (default 1)
  --json FILE   write the report there, too`;

process.exitCode = await runAttack(
  {
    usage: USAGE,
    messages: 100_000,
    async run(options) {
      const report = await attackAsGateway(options);
      const { good, callbacks, observed } = report;
      const passed =
        good.settled === good.orders &&
        good.wrongItems === 0 &&
        callbacks.answers[200] === callbacks.sent &&
        Object.keys(observed.notReady).length === 0;
      return { report, passed };
    },
  },
  process.argv.slice(2),
);
