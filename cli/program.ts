import { Command, CommanderError } from 'commander';
import { GatewatchError } from '../schemas/errors.ts';
import { VERSION } from '../store/package-files.ts';
import { EXIT, type CommandContext } from './command-context.ts';
import { addAlerts } from './commands/alerts.ts';
import { addBackfill } from './commands/backfill.ts';
import { addBacktest } from './commands/backtest.ts';
import { addAudit } from './commands/audit.ts';
import { addDecode } from './commands/decode.ts';
import { addDoctor } from './commands/doctor.ts';
import { addExplain } from './commands/explain.ts';
import { addExplainOrder } from './commands/explain-order.ts';
import { addFindings } from './commands/findings.ts';
import { addGenerate } from './commands/generate.ts';
import { printable, type Host } from './terminal/host.ts';
import { addMigrate } from './commands/migrate.ts';
import { addOrder } from './commands/order.ts';
import { addRedrive } from './commands/redrive.ts';
import { addRun } from './commands/run.ts';
import { addSql } from './commands/sql.ts';
import { addStore } from './commands/store.ts';
import { addVerify } from './commands/verify.ts';
import { addWatch } from './commands/watch.ts';

const HELP = `
Examples:
  $ gatewatch doctor --config gatewatch.yaml      check everything before the first run
  $ gatewatch run --config gatewatch.yaml         collect until asked to stop
  $ gatewatch decode 2.2.4.11 4.1.4.63            what do these history codes mean?
  $ gatewatch order 7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d
  $ gatewatch verify 7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d && echo cascade
  $ gatewatch sql "SELECT outcome, count() FROM orders GROUP BY outcome"

Exit codes:
  0  done
  1  failed: what was asked for could not be done, or a check says no
  2  wrong usage, or a configuration that is not valid
  3  not known (verify)

Environment:
  GATEWATCH_CONFIG           the configuration file, as --config
  GATEWATCH_GATEWAY_URL      for one gateway no file is needed: its address,
  GATEWATCH_GATEWAY_TOKEN    its bearer token
  GATEWATCH_CALLBACK_KEY     and the key that its callbacks are signed with
  GATEWATCH_KAFKA_BROKERS    host:port,host:port
  GATEWATCH_CLICKHOUSE_URL   a ClickHouse server; without it an embedded one is used,
  GATEWATCH_DATA_DIR         in this folder (.gatewatch)
  GATEWATCH_LOG_LEVEL        trace, debug, info, warn, error, silent
  OTEL_EXPORTER_OTLP_...     where to send traces and metrics, as OpenTelemetry defines
  NO_COLOR                   no colours
  Secrets can be given as a file: GATEWATCH_GATEWAY_TOKEN_FILE and so on.

Data goes to stdout, everything else to stderr. 'gatewatch COMMAND --help' says more about a command.`;

/** Runs one command line and gives its exit code; errors are printed. */
export async function runCli(args: readonly string[], host: Host): Promise<number> {
  const context: CommandContext = { host, exitCode: EXIT.done };
  try {
    await buildProgram(context).parseAsync([...args], { from: 'user' });
    return context.exitCode;
  } catch (error) {
    return report(error, host);
  }
}

function buildProgram(context: CommandContext): Command {
  const { host } = context;
  const program = new Command('gatewatch')
    .description(
      'Watches a payment gateway: reads order status, takes its callbacks, and keeps every step of every payment as\n' +
        'rows in ClickHouse and spans in OpenTelemetry.',
    )
    .version(VERSION, '-V, --version')
    .option('-c, --config <file>', 'configuration file (YAML)')
    .helpCommand(false)
    .showHelpAfterError('(run it with --help to see how it is used)')
    .configureHelp({ showGlobalOptions: true, helpWidth: Math.min(host.stdout.columns, 120) })
    .configureOutput({
      writeOut: (text) => void host.stdout.write(text),
      writeErr: (text) => void host.stderr.write(text),
      getOutHasColors: () => host.stdout.colour,
      getErrHasColors: () => host.stderr.colour,
    })
    .exitOverride()
    .addHelpText('after', HELP);
  for (const add of [
    addRun,
    addStore,
    addDoctor,
    addDecode,
    addOrder,
    addWatch,
    addVerify,
    addSql,
    addAlerts,
    addExplain,
    addExplainOrder,
    addFindings,
    addBacktest,
    addAudit,
    addRedrive,
    addBackfill,
    addMigrate,
    addGenerate,
  ]) {
    add(program, context);
  }
  return program;
}

async function report(error: unknown, host: Host): Promise<number> {
  // Commander has printed its own message, or the help or version that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  const { stderr, env } = host;
  const label = stderr.paint('red', 'error:');
  if (error instanceof GatewatchError || isNamedError(error)) {
    await stderr.write(`${label} ${error.message}\n`);
    return error.code === 'config_invalid' || error.code === 'usage' ? EXIT.usage : EXIT.failed;
  }
  const text = error instanceof Error ? error.message : String(error);
  await stderr.write(`${label} ${printable(text)}\n`);
  if (env['GATEWATCH_LOG_LEVEL'] === 'debug' && error instanceof Error) {
    await stderr.write(`${error.stack ?? ''}\n`);
  } else {
    await stderr.write('This should not happen. GATEWATCH_LOG_LEVEL=debug shows where it did.\n');
  }
  return EXIT.failed;
}

/** Errors of this product that say what to do carry a code, wherever they are defined. */
function isNamedError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && 'retryable' in error;
}
