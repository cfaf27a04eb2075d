import type { Command } from 'commander';
import type { CommittedPort, RecordPlace } from '../../operate/audit/committed-records.ts';
import type { AuditReport } from '../../operate/audit/report.ts';
import type { OpenedStore } from '../../store/open.ts';
import { EXIT, printJson, type CommandContext, type GlobalOptions } from '../command-context.ts';
import { printable, type Host } from '../terminal/host.ts';
import { progressOn, withProgress } from '../terminal/progress.ts';
import { parseDuration } from '../options.ts';
import { drawTable } from '../terminal/table.ts';

interface AuditCommandOptions extends GlobalOptions {
  readonly since?: number;
  readonly json?: true;
}

/** One query may read a year. */
const QUERY_TIMEOUT_MS = 600_000;

const HELP = `
Asks the store whether everything that was acknowledged is there: accepted = stored + rejected, each counted once, for
Kafka records, callbacks of the intake, watch requests, replies of the gateway and the history items in them. It reads
only, and may run beside working collectors. Rows that retention has removed are not checked. With Kafka configured, records
that the consumer group has committed and the store does not know are missing, too: after an older backup was restored, the
next start of a collector reads them again.

'not acknowledged' is no fault: rows that a crash left behind before their batch was acknowledged (they are read again and
fold into one), or that are being written at this moment.

Exit code 1 when something is missing, counted twice or altered; where it is, is printed.

Examples:
  $ gatewatch audit
  $ gatewatch audit --since 24h
  $ gatewatch audit --json | jq '.identities[] | select(.difference != 0)'`;

export function addAudit(program: Command, context: CommandContext): void {
  program
    .command('audit')
    .description('check that nothing was lost and nothing counted twice')
    .option(
      '--since <duration>',
      'only what was acknowledged in this time until now, e.g. 24h (default: everything)',
      parseDuration,
    )
    .option('--json', 'the report as one JSON object')
    .addHelpText('after', HELP)
    .action(async (_options: object, command: Command) => {
      context.exitCode = await auditStore(context.host, command.optsWithGlobals<AuditCommandOptions>());
    });
}

async function auditStore(host: Host, options: AuditCommandOptions): Promise<number> {
  const { loadStoreConfig } = await import('../../collector/config/load.ts');
  const { openStore } = await import('../../store/open.ts');
  const { audit } = await import('../../operate/audit/audit.ts');
  const config = loadStoreConfig(options.config, host.env);
  const opened = await openStore(config, { requestTimeoutMs: QUERY_TIMEOUT_MS, progress: progressOn(host) });
  try {
    const now = Date.now() * 1000;
    const work = audit({
      query: opened.store.query,
      committed: await committedPort(host, options, opened),
      nowMicros: () => Date.now() * 1000,
      ...(options.since === undefined ? {} : { sinceMicros: now - options.since * 1_000_000 }),
    });
    const report = await withProgress(host, 'counting', work);
    if (options.json === true) await printJson(host, report);
    else await host.stdout.write(drawReport(host, report));
    return report.ok ? EXIT.done : EXIT.failed;
  } finally {
    await opened.close();
  }
}

/** The consumer group, where the configuration names one. */
async function committedPort(
  host: Host,
  { config: path }: AuditCommandOptions,
  { store }: OpenedStore,
): Promise<CommittedPort | null> {
  const { loadPartialConfig } = await import('../../collector/config/load.ts');
  const { kafka } = loadPartialConfig(path, host.env, ['kafka']);
  if (kafka === undefined) return null;
  const { fetchRecords } = await import('../../collector/sources/kafka/fetch-records.ts');
  const { kafkaConnection } = await import('../../collector/sources/kafka/options.ts');
  const { findUnstored } = await import('../../collector/sources/kafka/survey.ts');
  const { storedEnds } = await import('../../store/stored-offsets.ts');
  return {
    unstored: () => findUnstored(kafka, (partitions) => storedEnds(store, partitions)),
    async withRecords(places) {
      const found: RecordPlace[] = [];
      await fetchRecords({
        ...kafkaConnection(kafka),
        places,
        groupPrefix: `${kafka.groupId}-audit`,
        async handle(records) {
          for (const { topic, partition, offset, value } of records)
            if (value !== null) found.push({ topic, partition, offset: Number(offset) });
        },
      });
      return found;
    },
  };
}

const HEADERS = ['identity', 'accepted', 'stored', 'rejected', 'repeats', 'difference', 'not acknowledged'];

function drawReport({ stdout }: Host, { ok, since, identities, checks }: AuditReport): string {
  const rows = identities.map((one) => [
    one.identity,
    ...[one.accepted, one.stored, one.rejected, one.repeats].map(String),
    one.difference === 0 ? '0' : stdout.paint('red', String(one.difference)),
    String(one.unacknowledged),
  ]);
  const table = drawTable(stdout, {
    headers: HEADERS,
    rows,
    rightAligned: new Set([1, 2, 3, 4, 5, 6]),
  });
  const marks = checks.map(({ check, violations }) =>
    violations === 0
      ? `${stdout.paint('green', 'ok  ')}  ${check}`
      : `${stdout.paint('red', 'FAIL')}  ${check}: ${violations}`,
  );
  const offenders = [...identities, ...checks].flatMap((one) =>
    one.offenders.map((place) => `  ${'identity' in one ? one.identity : one.check}: ${printable(place)}`),
  );
  const from = `Since ${since.deliveries} (replies ${since.replies}, history ${since.history}).`;
  const verdict = ok
    ? stdout.paint('green', 'Nothing is missing, nothing counted twice.')
    : stdout.paint('red', 'The books do not balance:') + `\n${offenders.join('\n')}`;
  return `${table}\n${marks.join('\n')}\n\n${stdout.paint('dim', from)}\n${verdict}\n`;
}
