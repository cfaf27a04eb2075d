import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import type { BackfillResult } from '../../operate/backfill/backfill.ts';
import { problemText, type Problem } from '../../schemas/problem.ts';
import { GatewatchError } from '../../schemas/errors.ts';
import type { DestinationOptions } from '../backfill-destination.ts';
import { EXIT, printJson, type CommandContext } from '../command-context.ts';
import { printable, type Host } from '../terminal/host.ts';
import { addOrderTypeOption, parseCount } from '../options.ts';
import { createProgressBar } from '../terminal/progress.ts';

interface BackfillCommandOptions extends DestinationOptions {
  readonly gateway?: string;
  readonly type?: string;
  readonly restart?: true;
  readonly dryRun?: true;
  readonly json?: true;
}

const HELP = `
Has the orders of a file read and followed until they settle. The file is CSV with a header (comma, semicolon or tab), or
JSON lines; '-' reads stdin. Columns: orderType, externalId or externalTransactionId, gateway, channel, amount, currency,
in any case, with or without underscores; others are ignored. What spreadsheets export is read: a first line 'sep=;', UTF-16
with its mark, amounts such as 1.234,50 and 1,234.50. Ids that a spreadsheet rounded (1.23457E+17) are refused.

Orders go to the running collector, at the pace of its polling: its budgets hold, and callbacks still come first.
When none answers, they are left on Kafka's watch topic, or else in the store, where the next 'gatewatch run' finds them.

How far it got is kept in FILE.backfill.json: run it again to go on after an interruption, or with lines that were added.
Handing an order over twice does no harm. Bad lines are reported and skipped; exit code 1 when there was one.

Examples:
  $ gatewatch backfill orders.csv --dry-run
  $ gatewatch backfill orders.csv --gateway acme-eu --type Withdrawal
  $ zcat orders.jsonl.gz | gatewatch backfill -`;

/** Bad lines that are printed one by one. */
const MAX_PRINTED = 100;

export function addBackfill(program: Command, context: CommandContext): void {
  const command = program
    .command('backfill')
    .description('read the status of all orders in a file')
    .argument('<file>', "CSV with a header or JSON lines; '-' for stdin")
    .option('-g, --gateway <name>', 'gateway of lines that name none (default: the only one)');
  addOrderTypeOption(command, 'type of lines that name none: Deposit or Withdrawal')
    .option('--max-due <count>', 'wait while more orders than this are due to be polled', parseCount, 500)
    .option('--restart', 'begin at the first line, whatever an earlier run has done')
    .option('--dry-run', 'only check the lines')
    .option('--json', 'the counts as one JSON object')
    .addHelpText('after', HELP)
    .action(async (file: string, _options: object, self: Command) => {
      context.exitCode = await run(context.host, file, self.optsWithGlobals<BackfillCommandOptions>());
    });
}

async function run(host: Host, file: string, options: BackfillCommandOptions): Promise<number> {
  const { backfill } = await import('../../operate/backfill/backfill.ts');
  const { readState, stateFileOf, writeState } = await import('../../operate/backfill/state-file.ts');
  const { chooseDestination, knownGateways } = await import('../backfill-destination.ts');
  const isFile = file !== '-';
  const totalBytes = isFile ? await sizeOf(file) : 0;
  const dryRun = options.dryRun === true;
  const keeps = isFile && !dryRun;
  const statePath = stateFileOf(file);
  const resume = keeps && options.restart !== true ? await readState(statePath) : null;
  const destination = dryRun ? null : await chooseDestination(host, options);
  const stopping = new AbortController();
  host.onSignal(() => stopping.abort());
  const bar = createProgressBar(host.stderr, totalBytes);
  let printed = 0;
  const printRefused = (line: number, problem: Problem): void => {
    printed += 1;
    bar.clear();
    if (printed <= MAX_PRINTED) void host.stderr.write(`line ${line}: ${printable(problemText(problem))}\n`);
    if (printed === MAX_PRINTED) void host.stderr.write('Further bad lines are counted only.\n');
  };
  let saidWaiting = false;
  const printWaiting = (due: number): void => {
    if (saidWaiting) return;
    saidWaiting = true;
    bar.clear();
    void host.stderr.write(
      `Waiting: ${due} orders are due to be polled; more are handed over while it is at most ${options.maxDue} (--max-due).\n`,
    );
  };
  try {
    const result = await backfill({
      open: () => (isFile ? createReadStream(file, { highWaterMark: 65_536 }) : host.stdin),
      defaults: {
        ...(options.gateway === undefined ? {} : { gateway: options.gateway }),
        ...(options.type === undefined ? {} : { orderType: options.type }),
      },
      gateways: knownGateways(host, options),
      destination,
      resume,
      ...(keeps ? { keep: (state) => writeState(statePath, state) } : {}),
      onRefused: printRefused,
      onWaiting: printWaiting,
      // How much stdin holds is not known.
      onProgress: (bytes, lines) => void (isFile && bar.show(bytes, `${lines} lines`)),
      signal: stopping.signal,
    });
    bar.clear();
    const summary = { ...result, by: destination?.name ?? null };
    if (options.json === true) await printJson(host, summary);
    else await host.stdout.write(textOf(result, destination?.name ?? null));
    return result.complete && result.refused === 0 ? EXIT.done : EXIT.failed;
  } finally {
    bar.clear();
    await destination?.close();
  }
}

async function sizeOf(file: string): Promise<number> {
  try {
    const found = await stat(file);
    if (found.isFile()) return found.size;
  } catch (error) {
    const { code = 'error' } = error as NodeJS.ErrnoException;
    throw new GatewatchError(`${file}: cannot be read (${code})`, { code: 'usage', cause: error });
  }
  throw new GatewatchError(`${file}: is not a file; '-' reads stdin`, { code: 'usage' });
}

function textOf(result: BackfillResult, by: string | null): string {
  const { lines, taken, refused, skipped, complete, changed } = result;
  const bad = refused === 0 ? '' : ` ${refused} bad ${refused === 1 ? 'line' : 'lines'}.`;
  const notes = [
    changed ? 'The file was changed since the last run: all of it was read again.' : '',
    skipped > 0
      ? `${skipped} of ${lines} lines were done by an earlier run (--restart begins at the first line).`
      : '',
    by === null
      ? `${taken} good ${taken === 1 ? 'order' : 'orders'}.${bad} Nothing was handed over.`
      : `${taken} ${taken === 1 ? 'order' : 'orders'} taken by ${by}.${bad}`,
    complete ? '' : 'Interrupted: run it again to go on.',
  ];
  return `${notes.filter((note) => note !== '').join('\n')}\n`;
}
