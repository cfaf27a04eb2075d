import { runReportCommand } from '../../support/report-command.ts';
import { proveFindings } from './run.ts';

const USAGE = `node test/attacks/findings/main.ts [options]

Contradictions of every kind among orders whose sources agree: a sandbox gateway provokes them, a collector reads and is
called through a real broker, with faults on both ways, and what it finds is laid beside what the sandbox did. Passed: at least
99.9 % of each kind are found, and nothing else.

  --orders N  orders (default 100000)
  --each N    contradictions of each kind (default 200)
  --rate N    orders a second at most (default 50)
  --minutes N end the traffic after so many, with the orders that there are by then (default 120)
  --json FILE write the report there, too`;

process.exitCode = await runReportCommand(
  {
    usage: USAGE,
    numbers: {
      orders: { default: 100_000, least: 100 },
      each: { default: 200, least: 1 },
      rate: { default: 50, least: 1 },
      minutes: { default: 120, least: 1 },
    },
    async run({ numbers: { orders, each, rate, minutes }, say }) {
      const begun = performance.now();
      const report = await proveFindings({
        orders,
        each,
        ordersPerSecond: rate,
        minutes,
        say: (text) => say(`${Math.round((performance.now() - begun) / 1000)} s: ${text}`),
      });
      const isFound = report.kinds.every(({ provoked, share }) => provoked >= each && share >= 0.999);
      const wrong = report.wronglyFound + report.wronglyFoundAndResolved;
      return { passed: isFound && wrong === 0, report: { each, ...report } };
    },
  },
  process.argv.slice(2),
);
