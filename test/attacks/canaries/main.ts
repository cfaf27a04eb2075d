import { startKafka } from '../../support/kafka-broker.ts';
import { runReportCommand } from '../../support/report-command.ts';
import { runCanaries } from './run.ts';

const USAGE = `npm run attacks:canaries -- [options]

Sends card numbers in more than forty disguises, holders, tokens and keys through every path into a collector, and looks for
them in all tables, the intake's topic, logs, spans, metrics and answers.

  --events N   events in all (default 100000)
  --json FILE  write the report there, too`;

process.exitCode = await runReportCommand(
  {
    usage: USAGE,
    numbers: { events: { default: 100_000, least: 1 } },
    async run({ numbers: { events } }) {
      const { kafka, stop } = await startKafka();
      try {
        const report = await runCanaries(events, kafka.available ? kafka.brokers : []);
        return { report, passed: report.found.length === 0 };
      } finally {
        await stop();
      }
    },
  },
  process.argv.slice(2),
);
