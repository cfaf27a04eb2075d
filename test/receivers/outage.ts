import { runReportCommand } from '../support/report-command.ts';
import { runOutage } from './outage-run.ts';

const USAGE = `npm run receivers:outage -- [options]

Fills a store with spans, starts a collector whose OTLP receiver is away, kills it (SIGKILL) during the outage and while
it catches up: no span is missing, and a span that comes again has the same bytes.

  --spans N       spans (default 1000000)
  --outage N      seconds without a receiver (default 600)
  --kills N       half of them during the outage (default 8)
  --json FILE     write the report there, too`;

process.exitCode = await runReportCommand(
  {
    usage: USAGE,
    numbers: {
      spans: { default: 1_000_000, least: 1 },
      outage: { default: 600, least: 0 },
      kills: { default: 8, least: 0 },
    },
    async run({ numbers: { spans, outage, kills }, say }) {
      const report = await runOutage({ spans, outageS: outage, kills, say });
      const { missing, strange, altered } = report;
      return { report, passed: missing === 0 && strange === 0 && altered === 0 };
    },
  },
  process.argv.slice(2),
);
