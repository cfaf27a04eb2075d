import { isDeepStrictEqual } from 'node:util';
import { startOwnKafka } from '../../support/kafka-broker.ts';
import { runReportCommand } from '../../support/report-command.ts';
import { attackKafka } from './run.ts';

const USAGE = `npm run attacks:kafka -- [options]

A hostile producer on the topics of a running collector, with a broker of its own: garbage, forgeries, nesting, ten thousand
headers, odd ids, and batches of each codec that unpack to 17 MiB. Each message has to become what it deserves, signed callbacks
beside them have to land, and /readyz has to stay true.

  --messages N  hostile messages (default 100000)
  --seed N      replay a run (default 1)
  --json FILE   write the report there, too`;

process.exitCode = await runReportCommand(
  {
    usage: USAGE,
    numbers: { messages: { default: 100_000, least: 1 }, seed: { default: 1, least: 1 } },
    async run({ numbers, say }) {
      const broker = await startOwnKafka();
      try {
        const report = await attackKafka({ brokers: [broker.bootstrap], bombs: 10, ...numbers, say });
        const { expected, found, good, observed } = report;
        const passed =
          isDeepStrictEqual({ ...found }, { ...expected, valid: 0 }) &&
          good.stored === good.sent &&
          Object.keys(observed.notReady).length === 0;
        return { report: { seed: numbers.seed, ...report }, passed };
      } finally {
        await broker.stop();
      }
    },
  },
  process.argv.slice(2),
);
