import { Option, type Command } from 'commander';
import { REJECT_REASONS } from '../../schemas/rows.ts';
import type { LoadedConfig } from '../../schemas/config.ts';
import type { AskForReads, RedriveOptions, RedriveReport } from '../../operate/redrive/redrive.ts';
import { askCollector, collectorUrl, problemDetail } from '../collector-client.ts';
import { parseCount } from './count-option.ts';
import { EXIT, printJson, type CommandContext, type GlobalOptions } from '../command-context.ts';
import { printable, type Host } from '../host.ts';
import { createProgressBar, type ProgressBar } from '../terminal/progress-bar.ts';
import { parseDuration } from './since-option.ts';
import { progressOn } from '../terminal/progress.ts';

interface RedriveCommandOptions extends GlobalOptions {
  readonly reason?: string;
  readonly gateway?: string;
  readonly since?: number;
  readonly limit?: number;
  readonly wait: number;
  readonly dryRun?: true;
  readonly json?: true;
}

const HELP = `
Tries rejects again after their cause was mended: a gateway added to the configuration, a decoder corrected, a column
widened. Start the collector anew with what was mended first: one that still runs without it does not read the orders.
Records are read from Kafka at the coordinates of their reject, without moving any consumer group, and go through the
collector's own steps; for rejects of replies the running collector reads the order again (without one, the next run
does). What went in before is not stored twice. A reject that is set right gets 'resolved_at' in the view 'rejects';
none is removed.

Exit code 1 when a reject stays: it would be rejected again, its record is gone from Kafka, or its order was not read
without fault in time.

Examples:
  $ gatewatch redrive --dry-run
  $ gatewatch redrive --reason unknown_gateway --since 24h
  $ gatewatch sql "SELECT reason, count() FROM rejects WHERE resolved_at IS NULL GROUP BY reason"`;

export function addRedrive(program: Command, context: CommandContext): void {
  program
    .command('redrive')
    .description('try rejects again after their cause was mended')
    .addOption(
      new Option('-r, --reason <reason>', 'only rejects with this reason').choices([...REJECT_REASONS]),
    )
    .option('-g, --gateway <name>', 'only rejects of this gateway, by the name that they carry')
    .option('--since <duration>', 'only what was rejected within it, e.g. 24h', parseDuration)
    .option('--limit <count>', 'at most so many', parseCount)
    .addOption(
      new Option('--wait <duration>', 'how long orders that are read again are waited for')
        .argParser(parseDuration)
        .default(30, '30s'),
    )
    .option('--dry-run', 'read and judge, and store nothing')
    .option('--json', 'what became of them as one JSON object')
    .addHelpText('after', HELP)
    .action(async (_options: object, command: Command) => {
      context.exitCode = await redriveRejects(context.host, command.optsWithGlobals<RedriveCommandOptions>());
    });
}

async function redriveRejects(host: Host, options: RedriveCommandOptions): Promise<number> {
  const { loadConfig } = await import('../../collector/config/load.ts');
  const { openStore } = await import('../../store/open.ts');
  const { systemClock } = await import('../../schemas/system-clock.ts');
  const { createOfflinePipeline } = await import('../../operate/redrive/offline-pipeline.ts');
  const { redrive } = await import('../../operate/redrive/redrive.ts');
  const config = loadConfig(options.config, host.env);
  const opened = await openStore(config, { progress: progressOn(host) });
  const pipeline = await createOfflinePipeline({
    store: opened.store,
    gateways: config.gateways,
    clock: systemClock,
    purpose: 'redrive',
    dryRun: options.dryRun === true,
  });
  let bar: ProgressBar | undefined;
  const clearBar = (): void => bar?.clear();
  try {
    const report = await redrive({
      query: (sql, params) => opened.store.query(sql, params),
      pipeline,
      kafka: await kafkaOf(config),
      ask: await askOf(config),
      filter: {
        ...(options.reason === undefined ? {} : { reason: options.reason }),
        ...(options.gateway === undefined ? {} : { gateway: options.gateway }),
        ...(options.since === undefined
          ? {}
          : { sinceMicros: systemClock.now() - options.since * 1_000_000 }),
        ...(options.limit === undefined ? {} : { limit: options.limit }),
      },
      dryRun: options.dryRun === true,
      waitMs: options.wait * 1000,
      onProgress(done, total) {
        bar ??= createProgressBar(host.stderr, total);
        bar.show(done, `${done} of ${total} rejects`);
      },
    });
    clearBar();
    if (options.json === true) await printJson(host, report);
    else await host.stdout.write(drawReport(report, options.dryRun === true));
    return report.stored + report.readAgain === report.found ? EXIT.done : EXIT.failed;
  } finally {
    clearBar();
    await pipeline.stop();
    await opened.close();
  }
}

async function kafkaOf({ kafka, gateways }: LoadedConfig): Promise<RedriveOptions['kafka']> {
  if (kafka === undefined) return null;
  const { fetchRecords } = await import('../../collector/sources/kafka/fetch-records.ts');
  const { callbackTopicNames, gatewayOfTopic, kafkaConnection } =
    await import('../../collector/sources/kafka/options.ts');
  const names = gateways.map((gateway) => gateway.name);
  return {
    topics: {
      callbacks: callbackTopicNames(kafka),
      watch: kafka.watchTopic,
      gatewayOf: gatewayOfTopic(kafka, names),
    },
    read: (places, handle) =>
      fetchRecords({ ...kafkaConnection(kafka), groupPrefix: `${kafka.groupId}-redrive`, places, handle }),
  };
}

/** With the longest ids, more would be too much for one request. */
const AT_ONCE = 500;
/** A refusal names every order that was not taken. */
const REFUSAL_SHOWN = 300;

async function askOf(config: LoadedConfig): Promise<AskForReads> {
  const { messageOf } = await import('../../operate/redrive/orders-of.ts');
  const url = collectorUrl(config);
  return async (orders) => {
    for (let from = 0; from < orders.length; from += AT_ONCE) {
      const reply = await askCollector(url, '/orders', {
        body: orders.slice(from, from + AT_ONCE).map(messageOf),
      });
      if (reply === null) return 'nobody';
      if (reply.status >= 300) {
        const detail = printable(problemDetail(reply)).slice(0, REFUSAL_SHOWN);
        const hint =
          reply.status === 400
            ? '. Start it anew with this configuration: it then reads what went in; redrive what is left.'
            : '';
        return { refusal: `The collector at ${url} refuses to read orders now: ${detail}${hint}` };
      }
    }
    return 'asked';
  };
}

function drawReport(report: RedriveReport, dryRun: boolean): string {
  const { found, stored, readAgain, stillRejected, waiting, gone, noWay, left, refusal } = report;
  if (found === 0) return 'No open rejects.\n';
  const lines = [
    [stored, dryRun ? 'would go in now' : 'went in'],
    [readAgain, 'set right by a later reply'],
    [stillRejected, 'would be rejected again'],
    [waiting, dryRun ? 'need their order read again' : 'wait for their order to be read without fault'],
    [gone, 'gone from Kafka'],
    [noWay, 'with no way to try again'],
  ] as const;
  const shown = lines.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  const more = found - stored - readAgain - left.length;
  const rest = more > 0 ? `  and ${more} more\n` : '';
  const details = left.map((line) => `  ${printable(line)}\n`).join('') + rest;
  const heading = `${found} open ${found === 1 ? 'reject' : 'rejects'}: ${shown.join(', ')}.`;
  const refused = refusal === null ? '' : `${refusal}\n`;
  return `${heading}${dryRun ? ' Nothing was changed.' : ''}\n${details}${refused}`;
}
