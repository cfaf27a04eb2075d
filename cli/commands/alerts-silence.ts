import type { Command } from 'commander';
import type { Silence } from '../../schemas/silence.ts';
import type { Store, TableResult } from '../../store/store.ts';
import { EXIT, printJson, usageError, type CommandContext, type GlobalOptions } from '../command-context.ts';
import type { Host } from '../terminal/host.ts';
import { progressOn } from '../terminal/progress.ts';

interface SilenceOptions extends GlobalOptions {
  readonly gateway?: string;
  readonly slice?: string;
  readonly label?: string;
  readonly for?: string;
  readonly reason: string;
  readonly by?: string;
  readonly json?: true;
}

const SILENCE_HELP = `
Holds back every notification of matching alerts, by the collector's webhook and Alertmanager, until the end. The alerts
stay where they are shown, with reason and end. What still fires at the end is notified then; the end of an alert is sent to
whoever was sent its beginning. Alerts that put security or money at risk can be silenced for 24h at most, others for 30d.

Alertmanager gets the silence within a minute. Grafana does not: the command prints the address where it is silenced there.
Exit codes: 0 done, 1 failed, 2 bad usage.

Examples:
  $ gatewatch alerts silence TechTimeouts --gateway acme-eu --for 2h --reason "The provider works on it"
  $ gatewatch alerts silence TechTimeouts --gateway acme-eu --slice channel=p2p --for 1d --reason "p2p is off"
  $ gatewatch alerts silence all --gateway acme-eu --for 90m --reason "Maintenance until noon"`;

const ACKNOWLEDGE_HELP = `
Says that somebody is at it: matching alerts that fire now are not repeated until they end. Whatever else changes is
notified, and an alert that fires again is another one. Alertmanager and Grafana know no acknowledgements: the command prints
how to silence the alert there.
Exit codes: 0 done, 1 failed, 2 bad usage.

Examples:
  $ gatewatch alerts acknowledge TechTimeouts --gateway acme-eu --reason "On the phone with the provider"`;

/** `silence`, `acknowledge` and `unsilence`. */
export function addSilencing(alerts: Command, context: CommandContext): void {
  const matching = (command: Command): Command =>
    command
      .argument('<rule>', 'name of the rule, or all')
      .option('-g, --gateway <name>', 'name of the gateway (default: any)')
      .option('--slice <slice>', 'orders that the page names, e.g. channel=p2p (default: any)')
      .option('--label <label>', 'stage, reason, side or state that the page names (default: any)')
      .requiredOption('--reason <text>', 'why: one line, shown beside the alert')
      .option('--by <name>', 'who says so (default: the name you are logged in with)');
  matching(alerts.command('silence').description('hold notifications back until a time'))
    .requiredOption('--for <duration>', 'for how long, e.g. 90m or 2h')
    .addHelpText('after', SILENCE_HELP)
    .action(async (rule: string, _options: object, command: Command) => {
      await add(context.host, 'silenced', rule, command.optsWithGlobals<SilenceOptions>());
      context.exitCode = EXIT.done;
    });
  matching(alerts.command('acknowledge').description('do not repeat alerts that fire now'))
    .addHelpText('after', ACKNOWLEDGE_HELP)
    .action(async (rule: string, _options: object, command: Command) => {
      await add(context.host, 'acknowledged', rule, command.optsWithGlobals<SilenceOptions>());
      context.exitCode = EXIT.done;
    });
  alerts
    .command('unsilence')
    .description('take a silence or acknowledgement back')
    .argument('<id>', 'its id, as "gatewatch alerts" shows it')
    .action(async (id: string, _options: object, command: Command) => {
      await end(context, id, command.optsWithGlobals<SilenceOptions>());
    });
}

async function add(host: Host, kind: Silence['kind'], rule: string, options: SilenceOptions): Promise<void> {
  const { addSilence, knownGateways } = await import('../../alerts/silences/silence-store.ts');
  const { checkSilenceRequest } = await import('../../alerts/silences/request.ts');
  const { noSuchRule } = await import('../../schemas/rule-name.ts');
  const { problemText } = await import('../../schemas/problem.ts');
  const { json: _json, config: _config, by = host.env['USER'] ?? '', ...given } = options;
  const { gateway, slice, label, for: duration, reason } = given;
  const named = { gateway, slice, label, for: duration };
  const input = { kind, rule, reason, by, ...defined(named) };
  await withStore(host, options, async ({ query, store }) => {
    const checked = checkSilenceRequest(input, await knownGateways(query));
    if (!checked.ok) {
      const { problem } = checked;
      throw usageError(problem.field === 'rule' ? noSuchRule(rule) : `--${problemText(problem)}`);
    }
    const silence = await addSilence(store, checked.request, Date.now());
    if (options.json === true) return printJson(host, silence);
    const { silencedText } = await import('../terminal/draw-silences.ts');
    await host.stdout.write(`${silencedText(silence)}\n`);
    await host.stderr.write(await elsewhere(host, options, silence));
  });
}

async function end(context: CommandContext, id: string, options: SilenceOptions): Promise<void> {
  const { endSilence } = await import('../../alerts/silences/silence-store.ts');
  const { host } = context;
  await withStore(host, options, async ({ query, store }) => {
    const ended = await endSilence(query, store, id, Date.now());
    if (ended === null)
      throw usageError(
        `the id: expected one of a silence or acknowledgement that holds, received ${id.slice(0, 40)}. "gatewatch alerts" lists them`,
      );
    if (options.json === true) await printJson(host, ended);
    else await host.stdout.write(`${ended.kind} ${ended.id} is taken back.\n`);
    context.exitCode = EXIT.done;
  });
}

interface OpenStore {
  readonly query: (sql: string) => Promise<TableResult>;
  readonly store: Store;
}

async function withStore(
  host: Host,
  options: GlobalOptions,
  work: (opened: OpenStore) => Promise<void>,
): Promise<void> {
  const { loadStoreConfig } = await import('../../collector/config/load.ts');
  const { openStore } = await import('../../store/open.ts');
  const opened = await openStore(loadStoreConfig(options.config, host.env), { progress: progressOn(host) });
  const { store } = opened;
  try {
    await work({
      store,
      query: async (sql) => JSON.parse(await store.queryText(sql, 'JSON')) as TableResult,
    });
  } finally {
    await opened.close();
  }
}

/** How to silence by hand where others notify. */
async function elsewhere(host: Host, options: GlobalOptions, silence: Silence): Promise<string> {
  const { loadPartialConfig } = await import('../../collector/config/load.ts');
  const { amtoolCommand } = await import('../../alerts/notify/alertmanager-silences.ts');
  const { grafanaSilenceUrl } = await import('../../alerts/silences/grafana-link.ts');
  let alerts;
  try {
    ({ alerts } = loadPartialConfig(options.config, host.env, ['alerts']));
  } catch {
    // Secrets of the collector that this command has no need of.
    return '';
  }
  if (!alerts.evaluate)
    return `Where Grafana notifies, silence it there as well: it is not passed on.\n  ${grafanaSilenceUrl(silence, alerts.externalUrl)}\n`;
  if (alerts.alertmanager === undefined) return '';
  return silence.kind === 'silenced'
    ? 'Alertmanager gets the silence within a minute.\n'
    : `Alertmanager knows no acknowledgements. To silence it there:\n  ${amtoolCommand(silence, alerts.alertmanager.url)}\n`;
}

const defined = (values: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
