import type { Command } from 'commander';
import type { Logger } from 'pino';
import { EXIT, type CommandContext, type GlobalOptions } from '../command-context.ts';
import type { Host } from '../terminal/host.ts';
import { createLog } from '../terminal/log.ts';

/** The longest that a graceful stop may take. */
const STOP_DEADLINE_MS = 10_000;

const HELP = `
Reads order status from every configured gateway, takes callbacks from Kafka and over HTTP, and stores what follows.
Logs are JSON lines on stderr. SIGTERM or Ctrl-C stops it within ten seconds; a second one at once.
Nothing is lost either way: what was not stored is read again at the next start. SIGHUP reads secrets and certificates
again from their files, without a break; if any of the configuration is wrong, all stays as it was.

Examples:
  $ gatewatch run --config gatewatch.yaml
  $ GATEWATCH_GATEWAY_URL=https://secure.example.com GATEWATCH_GATEWAY_TOKEN_FILE=/run/secrets/token gatewatch run

Then:
  $ curl -s http://127.0.0.1:8080/readyz
  $ gatewatch watch ORDER-ID          have an order read
  $ gatewatch order ORDER-ID          see what it went through`;

export function addRun(program: Command, context: CommandContext): void {
  program
    .command('run')
    .description('collect until asked to stop')
    .option(
      '--evaluate-alerts',
      'notify the configured targets of what fires, without Grafana (alerts.evaluate)',
    )
    .addHelpText('after', HELP)
    .action(async (_options: object, command: Command) => {
      context.exitCode = await run(context, command.optsWithGlobals<RunOptions>());
    });
}

interface RunOptions extends GlobalOptions {
  readonly evaluateAlerts?: true;
}

async function run({ host }: CommandContext, options: RunOptions): Promise<number> {
  const { loadConfig } = await import('../../collector/config/load.ts');
  const load = () => {
    const loaded = loadConfig(options.config, host.env);
    if (options.evaluateAlerts !== true) return loaded;
    return { ...loaded, alerts: { ...loaded.alerts, evaluate: true } };
  };
  const config = load();
  const log = createLog(config.log.level);
  host.outliveStdout();
  host.onCrash((error) => {
    log.fatal({ err: error }, 'uncaught error; ending');
    void host.exit(EXIT.failed);
  });
  let isStarting = true;
  const stopping = stopSignal(host, log, () => isStarting);

  // A signal that comes before anything runs has nothing to renew.
  let reload = (): void => undefined;
  host.onReload(() => {
    try {
      reload();
    } catch (error) {
      log.error({ err: error }, 'the configuration was read again and is wrong; all stays as it was');
    }
  });
  log.info({ origin: config.origin, collectorId: config.collectorId }, 'starting');
  const { startCollector } = await import('../../collector/wire.ts');
  const collector = await startCollector(config, { log, env: host.env, self: host });
  isStarting = false;
  log.info({ ...collector.addresses }, 'running');
  reload = () => collector.reload(load());
  const ended = await Promise.race([
    collector.done,
    stopping.then(async (signal) => {
      await collector.stop(signal);
      return collector.done;
    }),
  ]);
  log.info({ reason: ended.reason, exitCode: ended.exitCode }, 'stopped');
  return ended.exitCode;
}

/** Resolves with the first signal; what runs is to stop then. The process ends whatever becomes of that. */
function stopSignal(host: Host, log: Logger, isStarting: () => boolean): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let signals = 0;
  host.onSignal((signal) => {
    signals += 1;
    // Nothing was taken from anybody yet, and the engine ends with this process: there is nothing to wait
    // for, least of all a data folder that another process holds.
    if (isStarting()) {
      log.info({ signal }, 'stopped while starting');
      void host.exit(EXIT.done);
      return;
    }
    if (signals > 1) {
      log.warn({ signal }, 'stopping at once');
      void host.exit(EXIT.failed);
      return;
    }
    log.info({ signal }, 'stopping; a second signal stops at once');
    setTimeout(() => {
      log.error({ deadlineMs: STOP_DEADLINE_MS }, 'not stopped in time; ending');
      void host.exit(EXIT.failed);
    }, STOP_DEADLINE_MS);
    resolve(signal);
  });
  return promise;
}
