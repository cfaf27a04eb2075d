import type { Command } from 'commander';
import type { Evaluation } from '../../alerts/evaluate/evaluation.ts';
import type { Explanation } from '../../alerts/explain/explanation.ts';
import { noSuchRule, readRuleName } from '../../schemas/rule-name.ts';
import type { Rule } from '../../alerts/rules/rule.ts';
import {
  EXIT,
  type ExitCode,
  printJson,
  usageError,
  type CommandContext,
  type GlobalOptions,
} from '../command-context.ts';
import { progressOn } from '../terminal/progress.ts';

interface ExplainOptions extends GlobalOptions {
  readonly gateway?: string;
  readonly slice?: string;
  readonly label?: string;
  readonly at?: string;
  readonly json?: true;
}

const HELP = `
Takes the newest evaluation in which the rule saw an incident, and shows what explains it: the channels, order types,
currencies, amounts, stages and reasons that are affected more than the rest, beyond chance; at most three, or none when
nothing stands out. A stage or reason is compared with the time before, as long as the window. Below that stand what the
affected orders are worth, by currency, and the newest of them.

Exit codes: 0 shown, 1 the rule saw no incident, 2 bad usage.

Examples:
  $ gatewatch explain GatewatchApprovalDrop
  $ gatewatch explain GatewatchTechTimeouts --gateway acme-eu --label CHECK
  $ gatewatch explain GatewatchTechTimeouts --slice order_type=Withdrawal
  $ gatewatch explain GatewatchTrafficDrop --at "2026-11-21 03:20" --json`;

export function addExplain(program: Command, context: CommandContext): void {
  program
    .command('explain')
    .description('what explains an alert, and what is at risk')
    .argument('<rule>', 'name of the rule')
    .option('-g, --gateway <name>', 'name of the gateway (default: any)')
    .option('--label <label>', 'stage, reason, side or state that the page names (default: any)')
    .option('--slice <slice>', 'orders that the page names, e.g. channel=p2p (default: any)')
    .option('--at <time>', 'as it was then: ISO 8601 (UTC), or how long ago, e.g. 2h (default: now)')
    .option('--json', 'one JSON object')
    .addHelpText('after', HELP)
    .action(async (name: string, _options: object, command: Command) => {
      context.exitCode = await explain(context, name, command.optsWithGlobals<ExplainOptions>());
    });
}

async function explain({ host }: CommandContext, name: string, options: ExplainOptions): Promise<ExitCode> {
  const { RULES } = await import('../../alerts/rules/all.ts');
  const { loadCalendar, loadStoreConfig } = await import('../../collector/config/load.ts');
  const { openStore } = await import('../../store/open.ts');
  const { newestBreach } = await import('../../alerts/evaluate/evaluation-store.ts');
  const { readExplanation } = await import('../../alerts/explain/explanation.ts');
  const { drawExplanation } = await import('../terminal/draw-explanation.ts');
  const rule = RULES.find((one) => one.name === readRuleName(name));
  if (rule === undefined) throw usageError(noSuchRule(name));
  const { gateway, slice, label } = options;
  const atMs = await instantMs(options.at);
  const { timeZone } = loadCalendar(options.config, host.env);
  const opened = await openStore(loadStoreConfig(options.config, host.env), { progress: progressOn(host) });
  try {
    const query = <T>(sql: string): Promise<T[]> => opened.store.query<T>(sql);
    const evaluation = await newestBreach(query, { rule: rule.name, gateway, slice, label, atMs });
    if (evaluation === null) {
      await host.stderr.write(
        `${rule.name} saw no incident${where(options)} ${options.at === undefined ? 'so far' : `up to ${options.at}`}. "gatewatch alerts" shows what it saw last.\n`,
      );
      return EXIT.failed;
    }
    const explanation = await readExplanation(query, rule, evaluation);
    if (options.json === true) await printJson(host, asJson(rule, evaluation, explanation));
    else await host.stdout.write(drawExplanation(host.stdout, rule, evaluation, explanation, timeZone));
    return EXIT.done;
  } finally {
    await opened.close();
  }
}

async function instantMs(text: string = 'now'): Promise<number> {
  const { instant } = await import('../../alerts/backtest/times.ts');
  const at = instant(text, new Date());
  if (at === null) throw usageError(`--at: expected a time or a duration, received ${text}`);
  return at.getTime();
}

const where = ({ gateway, slice, label }: ExplainOptions): string =>
  [
    gateway === undefined ? '' : ` at ${gateway}`,
    slice === undefined ? '' : ` in ${slice}`,
    label === undefined ? '' : ` with label ${label}`,
  ].join('');

/** Instants are epoch milliseconds, as in `gatewatch alerts --json`. */
function asJson(rule: Rule, evaluation: Evaluation, explanation: Explanation | null): object {
  const { gateway, slice, label, seen, affected, expected, limit, share, number } = evaluation;
  return {
    rule: rule.name,
    gateway,
    slice,
    label,
    asOf: evaluation.as_of / 1000,
    windowFrom: evaluation.window_from / 1000,
    windowTo: evaluation.window_to / 1000,
    numbers: { seen, affected, expected, limit, share, number },
    ...(explanation ?? { slices: [], atRisk: null, example: null }),
  };
}
