import { Option, type Command } from 'commander';
import { REJECT_REASONS } from '../../schemas/rows.ts';
import type { LoadedConfig } from '../../schemas/config.ts';
import { collectorUrl, postWatchMessages, problemDetail } from '../../operate/collector-client.ts';
import type { RedriveReport } from '../../operate/redrive/outcomes.ts';
import type { AskForReads, ReadPlaces } from '../../operate/redrive/redrive.ts';
import { EXIT, printJson, type CommandContext, type GlobalOptions } from '../command-context.ts';
import { printable, type Host } from '../terminal/host.ts';
import { createProgressBar, progressOn, type ProgressBar } from '../terminal/progress.ts';
import { parseCount, parseDuration } from '../options.ts';

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
Processes rejects again after their cause was fixed: a gateway added to the configuration, a decoder corrected, a column
widened. Restart the collector with the fix first: one that runs without it does not read the orders. Records are read
from Kafka at the coordinates of their reject, without moving any consumer group, and go through the collector's own
steps; for rejects of replies the running collector reads the order again (without one, the next run does). What was
stored before is not stored twice. A resolved reject gets 'resolved_at' in the view 'rejects'; none is removed.

Exit code 1 when a reject stays open: it would be rejected again, its record is gone from Kafka, or its order was not read
without fault in time.

Examples:
  $ gatewatch redrive --dry-run
  $ gatewatch redrive --reason unknown_gateway --since 24h
  $ gatewatch sql "SELECT reason, count() FROM rejects WHERE resolved_at IS NULL GROUP BY reason"`;

export function addRedrive(program: Command, context: CommandContext): void {
  program
    .command('redrive')
    .description('process rejected messages again after their cause was fixed')
    .addOption(
      new Option('-r, --reason <reason>', 'only rejects with this reason').choices([...REJECT_REASONS]),
    )
    .option('-g, --gateway <name>', 'only rejects with this gateway name')
    .option('--since <duration>', 'only what was rejected in this time until now, e.g. 24h', parseDuration)
    .option('--limit <count>', 'at most this many rejects', parseCount)
    .addOption(
      new Option('--wait <duration>', 'how long to wait for orders that are read again')
        .argParser(parseDuration)
        .default(30, '30s'),
    )
    .option('--dry-run', 'read and decode, and store nothing')
    .option('--json', 'the report as one JSON object')
    .addHelpText('after', HELP)
    .action(async (_options: object, command: Command) => {
      context.exitCode = await redriveRejects(context.host, command.optsWithGlobals<RedriveCommandOptions>());
    });
}

async function redriveRejects(host: Host, options: RedriveCommandOptions): Promise<number> {
  const { loadConfig } = await import('../../collector/config/load.ts');
  const { openStore } = await import('../../store/open.ts');
  const { systemClock } = await import('../../schemas/system-clock.ts');
  const { createOfflineCollector } = await import('../../collector/offline.ts');
  const { redrive } = await import('../../operate/redrive/redrive.ts');
  const config = loadConfig(options.config, host.env);
  const opened = await openStore(config, { progress: progressOn(host) });
  const ingest = await createOfflineCollector({
    store: opened.store,
    keyFile: opened.keyFile,
    gateways: config.gateways,
    kafka: config.kafka,
    clock: systemClock,
    purpose: 'redrive',
    dryRun: options.dryRun === true,
  });
  let bar: ProgressBar | undefined;
  const clearBar = (): void => bar?.clear();
  try {
    const report = await redrive({
      query: (sql, params) => opened.store.query(sql, params),
      ingest,
      readPlaces: await readPlacesOf(config),
      ask: askOf(config),
      clock: systemClock,
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
    await ingest.stop();
    await opened.close();
  }
}

async function readPlacesOf({ kafka }: LoadedConfig): Promise<ReadPlaces | null> {
  if (kafka === undefined) return null;
  const { fetchRecords } = await import('../../collector/sources/kafka/fetch-records.ts');
  const { kafkaConnection } = await import('../../collector/sources/kafka/options.ts');
  return (places, handle) =>
    fetchRecords({ ...kafkaConnection(kafka), groupPrefix: `${kafka.groupId}-redrive`, places, handle });
}

/** A refusal names every order that was not taken. */
const REFUSAL_SHOWN = 300;

function askOf(config: LoadedConfig): AskForReads {
  const url = collectorUrl(config);
  return async (orders) => {
    const { failure } = await postWatchMessages(url, orders);
    if (failure === null) return 'asked';
    if (failure === 'no_answer') return 'no_answer';
    const detail = printable(problemDetail(failure)).slice(0, REFUSAL_SHOWN);
    const hint =
      failure.status === 400
        ? '. Restart it with this configuration: it then reads what was stored; redrive what is left.'
        : '';
    return { refusal: `The collector at ${url} refuses to read orders now: ${detail}${hint}` };
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
