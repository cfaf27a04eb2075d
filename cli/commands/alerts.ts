import { type Command, Option } from 'commander';
import { SEVERITIES, type Severity } from '../../alerts/rules/rule.ts';
import type { Incident } from '../../schemas/incident.ts';
import type { TableResult } from '../../store/store.ts';
import { ALERTMANAGER_FOLDER } from '../../store/package-files.ts';
import {
  EXIT,
  type ExitCode,
  printJson,
  usageError,
  type CommandContext,
  type GlobalOptions,
} from '../command-context.ts';
import { drawSilences } from '../terminal/draw-silences.ts';
import { addSilencing } from './alerts-silence.ts';
import { parseDuration } from '../options.ts';
import { drawAge, drawAlerts } from '../terminal/draw-alerts.ts';
import { drawPast, drawRunning } from '../terminal/draw-incidents.ts';
import type { Host } from '../terminal/host.ts';
import { progressOn } from '../terminal/progress.ts';

interface AlertsOptions extends GlobalOptions {
  readonly json?: true;
  readonly at?: string;
  readonly since?: number;
  readonly sendTest?: true;
  readonly alertmanagerConfig?: string;
  readonly severity: Severity;
}

const HELP = `
Shows the incidents that run, and below that what every alert rule saw last, and the state of each alert: pending (it holds, and nobody is notified yet), firing,
ending (it no longer holds), quiet, or not judged (the gateway's history is dated where no rule looks). A collector
evaluates the rules once a minute, the slow ones every ten minutes, and writes down what they saw; this command reads that
and evaluates nothing. Times are UTC, and beside it by the clocks of alerts.timeZone (GATEWATCH_TIME_ZONE).

Alerts of one gateway are one incident: what fires while another alert of it fires, or up to ten minutes after its end,
belongs to it; a warning draws others in for two hours only. What fired first is its headline. With --since, the incidents
of that time are listed instead: how long it took to notice and to mend each, and the most orders that one alert saw at once.

With --send-test one page that says that it is a test goes to the Alertmanager and the webhook of
the configuration, and their answers are printed. Whom an Alertmanager pages is its own configuration, by severity and side.
What Grafana sends is tested in Grafana, at its contact points.

With --alertmanager-config the generated configuration of Alertmanager goes into the folder,
with the addresses of the environment: GATEWATCH_SMTP_SMARTHOST, GATEWATCH_SMTP_FROM, GATEWATCH_ALERT_EMAILS and
GATEWATCH_ALERT_WEBHOOK_URL. Placeholders are refused. Office hours are those of alerts.timeZone and alerts.holidays.
Exit codes: 0 shown, or every target took the page, 1 failed, or one did not, 2 bad usage, or no target configured.

Examples:
  $ gatewatch alerts                            what runs, every rule, and what it saw last
  $ gatewatch alerts --at "2026-11-21 03:20"    what they saw then, and how the alerts stood
  $ gatewatch alerts --since 24h                yesterday's incidents
  $ gatewatch alerts --json                     an array with one object for each rule, gateway and label
  $ gatewatch alerts acknowledge TechTimeouts --gateway acme-eu --reason "On the phone with the provider"
  $ gatewatch alerts --send-test                does a page reach the engineer on call?`;

export function addAlerts(program: Command, context: CommandContext): void {
  const command = program
    .command('alerts')
    .description('what the alert rules see')
    .option('--at <time>', 'as it was then: ISO 8601 (UTC), or how long ago, e.g. 2h (default: now)')
    .option('--since <duration>', 'the incidents of so long a time until now, e.g. 24h', parseDuration)
    .option('--send-test', 'send one test page to what the configuration names')
    .option('--alertmanager-config <folder>', 'write a configuration for Alertmanager')
    .addOption(
      new Option('--severity <severity>', 'severity of the test page')
        .choices(SEVERITIES)
        .default('critical'),
    )
    .option('--json', 'one JSON array')
    .addHelpText('after', HELP)
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<AlertsOptions>();
      if (options.alertmanagerConfig !== undefined) {
        const { writeAlertmanagerConfig } = await import('../../alerts/notify/alertmanager-config.ts');
        const { loadCalendar } = await import('../../collector/config/load.ts');
        const { env } = context.host;
        const calendar = loadCalendar(options.config, env);
        writeAlertmanagerConfig(ALERTMANAGER_FOLDER, options.alertmanagerConfig, env, calendar);
        context.exitCode = EXIT.done;
        return;
      }
      if (options.sendTest === true) {
        context.exitCode = await sendTest(context, options);
        return;
      }
      await alerts(context, options);
      context.exitCode = EXIT.done;
    });
  addSilencing(command, context);
}

async function alerts({ host }: CommandContext, options: AlertsOptions): Promise<void> {
  const { loadCalendar, loadStoreConfig } = await import('../../collector/config/load.ts');
  const { openStore } = await import('../../store/open.ts');
  const { readIncidents } = await import('../../alerts/incidents/read-incidents.ts');
  const nowMs = Date.now();
  const atMs = options.at === undefined ? nowMs : await instantMs(options.at, nowMs);
  const { timeZone } = loadCalendar(options.config, host.env);
  const opened = await openStore(loadStoreConfig(options.config, host.env), { progress: progressOn(host) });
  const query = async (sql: string) => JSON.parse(await opened.store.queryText(sql, 'JSON')) as TableResult;
  const { since } = options;
  const about: About = { host, options, atMs, timeZone };
  try {
    const fromMs = atMs - (since ?? 0) * 1000;
    const incidents = await readIncidents(query, { fromMs, toMs: atMs });
    if (since !== undefined) await showPast(about, incidents);
    else await showNow(about, incidents, query);
  } finally {
    await opened.close();
  }
}

interface About {
  readonly host: Host;
  readonly options: AlertsOptions;
  readonly atMs: number;
  readonly timeZone: string;
}

async function showPast({ host, options, timeZone }: About, incidents: readonly Incident[]): Promise<void> {
  if (options.json === true) await printJson(host, incidents);
  else await host.stdout.write(drawPast(host.stdout, incidents, timeZone));
}

async function showNow(
  { host, options, atMs, timeZone }: About,
  incidents: readonly Incident[],
  query: (sql: string) => Promise<TableResult>,
): Promise<void> {
  const { readNewest, LOOK_BACK_DAYS } = await import('../../alerts/evaluate/newest.ts');
  const { readSilences } = await import('../../alerts/silences/silence-store.ts');
  const { silencesToShow } = await import('../../alerts/silences/silence.ts');
  const { withStory } = await import('../../alerts/incidents/with-story.ts');
  const newest = await readNewest(query, { atMs, timeZone });
  const lines = newest.alerts.map(({ line }) => line);
  const running = incidents.filter(({ endedAt }) => endedAt === null);
  const silences = await readSilences(query, atMs);
  const firing = running.flatMap((incident) => incident.alerts.filter(({ endedAt }) => endedAt === null));
  if (options.json === true) await printJson(host, withStory(newest.alerts, running, silences, atMs));
  else if (newest.asOf === null)
    await host.stdout.write(
      `The rules were not evaluated within the ${LOOK_BACK_DAYS} days before ${options.at ?? 'now'}. A collector does it once a minute: start one with "gatewatch run".\n`,
    );
  else
    await host.stdout.write(
      drawRunning(host.stdout, running, { nowMs: atMs, timeZone, silences }) +
        drawSilences(host.stdout, silencesToShow(silences, firing), timeZone) +
        drawAlerts(host.stdout, lines, timeZone) +
        drawAge(newest.asOf, options.at === undefined ? atMs : null, timeZone),
    );
}

async function instantMs(text: string, nowMs: number): Promise<number> {
  const { instant } = await import('../../alerts/backtest/times.ts');
  const at = instant(text, new Date(nowMs));
  if (at === null) throw usageError(`--at: expected a time or a duration, received ${text}`);
  return at.getTime();
}

async function sendTest({ host }: CommandContext, options: AlertsOptions): Promise<ExitCode> {
  const { loadPartialConfig } = await import('../../collector/config/load.ts');
  const { sendTestPage } = await import('../../alerts/notify/test-page.ts');
  const { alerts: config } = loadPartialConfig(options.config, host.env, ['alerts']);
  if (config.alertmanager === undefined && config.webhook === undefined)
    throw usageError(
      'nobody to notify: the configuration has neither alerts.alertmanager nor alerts.webhook',
    );
  const answers = await sendTestPage(config, options.severity, Date.now());
  if (options.json === true) await printJson(host, answers);
  else
    for (const { target, url, error } of answers)
      await host.stdout.write(`${target} ${url}: ${error === null ? 'took the page' : `FAILED, ${error}`}\n`);
  return answers.every(({ accepted }) => accepted) ? EXIT.done : EXIT.failed;
}
