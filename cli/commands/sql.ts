import type { Command } from 'commander';
import { EXIT, usageError, type CommandContext, type GlobalOptions } from '../command-context.ts';
import { forSpreadsheets } from '../terminal/csv-cells.ts';
import type { Host } from '../terminal/host.ts';
import { progressOn, withProgress } from '../terminal/progress.ts';

interface SqlOptions extends GlobalOptions {
  readonly format?: string;
  readonly json?: true;
  readonly write?: true;
}

const HELP = `
Runs one statement on the configured ClickHouse, or on the embedded store: the running one when there is one. It can
only read, unless --write is given. The views are history_events, orders, callbacks, polls, rejects, collector_status,
gateway_status and annotations.

On a terminal the result is a table, else tab-separated text; --format takes any format of ClickHouse. CSV is made for
spreadsheets: NULL is empty, and a text that would run as a formula has an apostrophe before it.

Examples:
  $ gatewatch sql "SELECT outcome, count() FROM orders GROUP BY outcome ORDER BY 2 DESC"
  $ gatewatch sql "SELECT * FROM callbacks WHERE verdict = 'mismatch'" --json | jq .
  $ gatewatch sql "SELECT * FROM history_events" --format Parquet > history.parquet
  $ gatewatch sql - < report.sql`;

export function addSql(program: Command, context: CommandContext): void {
  program
    .command('sql')
    .description('run a statement on the store')
    .argument('<statement>', "the statement, or '-' to read it from stdin")
    .option('-f, --format <name>', 'format of the result, e.g. CSVWithNames, Vertical, Parquet')
    .option('--json', 'one JSON object a line (JSONEachRow)')
    .option('--write', 'use the account that may write')
    .addHelpText('after', HELP)
    .action(async (statement: string, _options: object, command: Command) => {
      await sql(context, statement, command.optsWithGlobals<SqlOptions>());
      context.exitCode = EXIT.done;
    });
}

async function sql({ host }: CommandContext, argument: string, options: SqlOptions): Promise<void> {
  if (options.json === true && options.format !== undefined) {
    throw usageError('--json and --format exclude each other');
  }
  if (options.format !== undefined && !/^\w+$/.test(options.format)) {
    throw usageError(`--format: expected the name of a format, received ${JSON.stringify(options.format)}`);
  }
  const statement = argument === '-' ? await readAll(host.stdin) : argument;
  if (statement.trim() === '') throw usageError('the statement is empty');
  const { loadStoreConfig } = await import('../../collector/config/load.ts');
  const { openStore } = await import('../../store/open.ts');
  const { sendSql } = await import('../../store/sql-request.ts');
  const config = loadStoreConfig(options.config, host.env);
  const format = options.format ?? defaultFormat(host, options);
  const opened = await openStore(config, { progress: progressOn(host) });
  try {
    const sent = sendSql({
      url: opened.url,
      database: opened.database,
      login: options.write === true ? opened.writer : opened.reader,
      statement,
      format,
      settings: {
        output_format_pretty_color: host.stdout.colour ? '1' : '0',
        // 2: reads only, and may still set how the result looks. The embedded reader can do no more anyway.
        ...(opened.kind === 'configured' && options.write !== true ? { readonly: '2' } : {}),
      },
    });
    const chunks = /^csv/i.test(format) ? forSpreadsheets(sent) : sent;
    const first = await withProgress(host, 'waiting for the store', chunks.next());
    if (first.done !== true) await host.stdout.write(first.value);
    for await (const chunk of chunks) await host.stdout.write(chunk);
  } finally {
    await opened.close();
  }
}

function defaultFormat(host: Host, options: SqlOptions): string {
  if (options.json === true) return 'JSONEachRow';
  return host.stdout.isTty ? 'PrettyCompact' : 'TSV';
}

async function readAll(input: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of input) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
