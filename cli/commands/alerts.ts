import { type Command, Option } from 'commander';
import type { AlertLine } from '../../schemas/alert-line.ts';
import { SEVERITIES, type Severity } from '../../alerts/rules/rule.ts';
import type { TableResult } from '../../store/store.ts';
import type { RuleEvaluation } from '../../alerts/evaluate/evaluate-rule.ts';
import type { ProvisionedRule } from '../../alerts/evaluate/rule-file.ts';
import { ALERTMANAGER_FOLDER, RULES_FOLDER } from '../../store/package-files.ts';
import {
  EXIT,
  type ExitCode,
  printJson,
  usageError,
  type CommandContext,
  type GlobalOptions,
} from '../command-context.ts';
import { drawAlerts } from '../terminal/draw-alerts.ts';
import type { Host } from '../terminal/host.ts';
import type { OpenedStore } from '../../store/open.ts';
import { createProgressBar, progressOn } from '../terminal/progress.ts';

interface AlertsOptions extends GlobalOptions {
  readonly json?: true;
  readonly rules?: string;
  readonly sendTest?: true;
  readonly alertmanagerConfig?: string;
  readonly severity: Severity;
}

const HELP = `
Evaluates the generated Grafana rules now, over the stored history, without Grafana: the same SQL and the same
expressions. How long a condition must hold before Grafana fires is not taken into account.

With --send-test nothing is evaluated: one page that says that it is a test goes to the Alertmanager and the webhook of
the configuration, and their answers are printed. Whom an Alertmanager pages is its own configuration, by severity and side.
What Grafana sends is tested in Grafana, at its contact points.

With --alertmanager-config nothing is evaluated either: the generated configuration of Alertmanager goes into the folder,
with the addresses of the environment: GATEWATCH_SMTP_SMARTHOST, GATEWATCH_SMTP_FROM, GATEWATCH_ALERT_EMAILS and
GATEWATCH_ALERT_WEBHOOK_URL. Placeholders are refused.
Exit codes: 0 evaluated, or every target took the page, 1 failed, or one did not, 2 bad usage, or no target configured.

Examples:
  $ gatewatch alerts                every rule, and what it sees
  $ gatewatch alerts --json         an array with one object for each rule and label set
  $ gatewatch alerts --send-test    does a page reach the engineer on call?`;

export function addAlerts(program: Command, context: CommandContext): void {
  program
    .command('alerts')
    .description('evaluate the alert rules now')
    .option('--rules <folder>', 'folder of rule files, in the form that Grafana provisions')
    .option('--send-test', 'send one test page to what the configuration names, and evaluate nothing')
    .option('--alertmanager-config <folder>', 'write a configuration for Alertmanager, and evaluate nothing')
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
        writeAlertmanagerConfig(ALERTMANAGER_FOLDER, options.alertmanagerConfig, context.host.env);
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
}

async function alerts({ host }: CommandContext, options: AlertsOptions): Promise<void> {
  const { loadStoreConfig } = await import('../../collector/config/load.ts');
  const { openStore } = await import('../../store/open.ts');
  const { loadRules } = await import('../../alerts/evaluate/rule-file.ts');
  const rules = loadRules(options.rules ?? RULES_FOLDER);
  const opened = await openStore(loadStoreConfig(options.config, host.env), { progress: progressOn(host) });
  try {
    const lines = (await evaluateAll(host, rules, opened)).flatMap(linesOf);
    if (options.json === true) await printJson(host, lines);
    else await host.stdout.write(drawAlerts(host.stdout, lines));
  } finally {
    await opened.close();
  }
}

/**
 * One rule after the other: all at once would keep a busy store from its rows, and the last ones from their
 * deadline.
 */
async function evaluateAll(
  host: Host,
  rules: readonly ProvisionedRule[],
  { store }: OpenedStore,
): Promise<RuleEvaluation[]> {
  const { createRuleQueries } = await import('../../alerts/evaluate/rule-queries.ts');
  const query = async (sql: string) => JSON.parse(await store.queryText(sql, 'JSON')) as TableResult;
  const source = createRuleQueries({ query, texts: true });
  const instants = [new Date()];
  const bar = createProgressBar(host.stderr, rules.length);
  try {
    const evaluations: RuleEvaluation[] = [];
    for (const [done, rule] of rules.entries()) {
      bar.show(done, rule.title);
      evaluations.push(...(await source.evaluate(rule, instants)));
    }
    return evaluations;
  } finally {
    bar.clear();
  }
}

async function sendTest({ host }: CommandContext, options: AlertsOptions): Promise<ExitCode> {
  const { loadPartialConfig } = await import('../../collector/config/load.ts');
  const { sendTestPage } = await import('../../alerts/notify/test-page.ts');
  const { alerts: config } = loadPartialConfig(options.config, host.env, ['alerts']);
  if (config.alertmanager === undefined && config.webhook === undefined)
    throw usageError('nobody to tell: the configuration has neither alerts.alertmanager nor alerts.webhook');
  const answers = await sendTestPage(config, options.severity, Date.now());
  if (options.json === true) await printJson(host, answers);
  else
    for (const { target, url, error } of answers)
      await host.stdout.write(`${target} ${url}: ${error === null ? 'took the page' : `FAILED, ${error}`}\n`);
  return answers.every(({ accepted }) => accepted) ? EXIT.done : EXIT.failed;
}

function linesOf({ rule, instances }: RuleEvaluation): AlertLine[] {
  return instances.map(({ labels, values, firing }) => ({
    rule: rule.title,
    severity: rule.labels['severity'] ?? '',
    labels,
    values,
    firing,
    summary: rule.annotations['summary'] ?? '',
  }));
}
