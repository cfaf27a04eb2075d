import { open, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { TableResult } from '../../store/store.ts';
import type { ProvisionedRule } from '../../alerts/evaluate/rule-file.ts';
import type { RuleReplay } from '../../alerts/backtest/replay.ts';
import type { RuleSummary } from '../../alerts/backtest/summary.ts';
import { EXIT, printJson, usageError, type CommandContext, type GlobalOptions } from '../command-context.ts';
import type { Host } from '../terminal/host.ts';
import type { OpenedStore } from '../../store/open.ts';
import { createProgressBar, progressOn } from '../terminal/progress.ts';

interface BacktestOptions extends GlobalOptions {
  readonly from: string;
  readonly to: string;
  readonly step?: string;
  readonly set: readonly string[];
  readonly rules?: string;
  readonly json?: true;
  readonly html?: string;
}

const HELP = `
Evaluates the generated Grafana rules over the stored history as Grafana would have: at every interval, with what was
known at that instant, pending and keep-firing times, missing series and empty results included. It only reads.

RULE is a rule's name, with or without Gatewatch; without one all rules are evaluated. --set changes what the condition
compares, for this run only; a wrong name lists what a rule has.

Examples:
  $ gatewatch backtest --from 7d
  $ gatewatch backtest TechTimeouts --from 2026-11-14 --to 2026-11-16 --html techtimeouts.html
  $ gatewatch backtest TechTimeouts --from 7d --set TechTimeouts.threshold=0.1 --set TechTimeouts.for=5m
  $ gatewatch backtest --from 90d --step 10m --json | jq '.rules[] | {rule, pagesPerWeek}'`;

export function addBacktest(program: Command, context: CommandContext): void {
  program
    .command('backtest')
    .description('when would the alert rules have fired?')
    .argument('[rule...]', 'names of rules')
    .option('--from <time>', 'ISO 8601 (UTC), or how long ago: 7d, 12h', '7d')
    .option('--to <time>', 'as --from, or now', 'now')
    .option('--step <duration>', "time between evaluations, e.g. 5m (default: each rule's own interval)")
    .option('--set <RULE.NAME=VALUE>', 'evaluate with another limit; can be repeated', collect, [])
    .option('--rules <folder>', 'folder of rule files, in the form that Grafana provisions')
    .option('--html <file>', 'write a page with plots')
    .option('--json', 'one JSON object')
    .addHelpText('after', HELP)
    .action(async (names: readonly string[], _options: object, command: Command) => {
      await backtest(context, names, command.optsWithGlobals<BacktestOptions>());
      context.exitCode = EXIT.done;
    });
}

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

interface Range {
  readonly fromMs: number;
  readonly toMs: number;
  /** Null: each rule's own interval. */
  readonly stepMs: number | null;
}

async function backtest(
  { host }: CommandContext,
  names: readonly string[],
  options: BacktestOptions,
): Promise<void> {
  const range = await readRange(options);
  const rules = await chosenRules(names, options);
  if (options.html !== undefined) await mustBeWritable(options.html);
  const { loadStoreConfig } = await import('../../collector/config/load.ts');
  const { openStore } = await import('../../store/open.ts');
  const opened = await openStore(loadStoreConfig(options.config, host.env), { progress: progressOn(host) });
  try {
    const done = await replayAll(host, rules, range, opened);
    if (options.html !== undefined) {
      const { plotHtml } = await import('../../alerts/backtest/plot-html.ts');
      await writeFile(options.html, plotHtml(done, range));
      await host.stderr.write(`wrote ${options.html}\n`);
    }
    if (options.json === true) await printJson(host, asJson(done, range));
    else await printText(host, done, range);
  } finally {
    await opened.close();
  }
}

/** Asked before the work, which may take minutes. */
async function mustBeWritable(file: string): Promise<void> {
  try {
    await (await open(file, 'a')).close();
  } catch (error) {
    throw usageError(`--html: ${file} cannot be written (${(error as NodeJS.ErrnoException).code})`);
  }
}

async function readRange(options: BacktestOptions): Promise<Range> {
  const { durationSeconds, instant } = await import('../../alerts/backtest/times.ts');
  const now = new Date();
  const from = instant(options.from, now);
  const to = instant(options.to, now);
  const step = options.step === undefined ? null : durationSeconds(options.step);
  if (from === null) throw usageError(`--from: expected a time or a duration, received ${options.from}`);
  if (to === null) throw usageError(`--to: expected a time or a duration, received ${options.to}`);
  if (from >= to) throw usageError('--from must lie before --to');
  if (options.step !== undefined && (step === null || step === 0))
    throw usageError(`--step: expected a duration like 5m, received ${options.step}`);
  return { fromMs: from.getTime(), toMs: to.getTime(), stepMs: step === null ? null : step * 1000 };
}

async function chosenRules(names: readonly string[], options: BacktestOptions): Promise<ProvisionedRule[]> {
  const { loadRules } = await import('../../alerts/evaluate/rule-file.ts');
  const { isNamed, override, parseOverride } = await import('../../alerts/backtest/overrides.ts');
  const { RULES_FOLDER } = await import('../../store/package-files.ts');
  const all = loadRules(options.rules ?? RULES_FOLDER);
  const unknown = (name: string): never => {
    throw usageError(`there is no rule ${name}; there are ${all.map((rule) => rule.title).join(', ')}`);
  };
  for (const name of names) if (!all.some((rule) => isNamed(rule, name))) unknown(name);
  const changes = options.set.map(
    (text) => parseOverride(text) ?? usageThrow(`--set: expected RULE.NAME=VALUE, received ${text}`),
  );
  for (const { rule } of changes) if (!all.some((one) => isNamed(one, rule))) unknown(rule);
  const wanted = all.filter((rule) => names.length === 0 || names.some((name) => isNamed(rule, name)));
  for (const { rule } of changes)
    if (!wanted.some((one) => isNamed(one, rule)))
      throw usageError(`--set: ${rule} is not among the rules that are evaluated`);
  return wanted.map((rule) =>
    changes
      .filter((change) => isNamed(rule, change.rule))
      .reduce((before, change) => {
        const after = override(before, change);
        return typeof after === 'string' ? usageThrow(`--set: ${after}`) : after;
      }, rule),
  );
}

function usageThrow(message: string): never {
  throw usageError(message);
}

interface Replayed {
  readonly replay: RuleReplay;
  readonly summary: RuleSummary;
}

async function replayAll(
  host: Host,
  rules: readonly ProvisionedRule[],
  range: Range,
  opened: OpenedStore,
): Promise<Replayed[]> {
  const { createRuleQueries } = await import('../../alerts/evaluate/rule-queries.ts');
  const { instantsOf, replayRule } = await import('../../alerts/backtest/replay.ts');
  const { summarize } = await import('../../alerts/backtest/summary.ts');
  const { timingOf } = await import('../../alerts/evaluate/timing.ts');
  const { createStore } = await import('../../store/store.ts');
  const reader = createStore({ url: opened.url, ...opened.reader, database: opened.database });
  // 2: reads only, and may still set how the result looks. The embedded reader can do no more anyway.
  const settings: Record<string, string> = opened.kind === 'configured' ? { readonly: '2' } : {};
  const query = async (sql: string): Promise<TableResult> =>
    JSON.parse(await reader.queryText(sql, 'JSON', {}, settings)) as TableResult;
  const source = createRuleQueries({ query });
  const plans = rules.map((rule) => ({ rule, ...range, stepMs: range.stepMs ?? timingOf(rule).intervalMs }));
  const total = plans.reduce((sum, plan) => sum + instantsOf(plan).length, 0);
  const bar = createProgressBar(host.stderr, total);
  try {
    const out: Replayed[] = [];
    let before = 0;
    for (const { rule, fromMs, toMs, stepMs } of plans) {
      const onProgress = (done: number): void => bar.show(before + done, rule.title);
      const replay = await replayRule(rule, { source, fromMs, toMs, stepMs, onProgress });
      out.push({ replay, summary: summarize(replay, stepMs) });
      before += replay.instantsMs.length;
    }
    return out;
  } finally {
    bar.clear();
    await reader.close();
  }
}

function asJson(done: readonly Replayed[], { fromMs, toMs }: Range): object {
  return {
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    rules: done.map(({ summary }) => summary),
  };
}

async function printText(host: Host, done: readonly Replayed[], { fromMs, toMs }: Range): Promise<void> {
  const { plotText } = await import('../terminal/plot-text.ts');
  const { minuteText } = await import('../../alerts/backtest/times.ts');
  const { stdout } = host;
  const pages = done.reduce((sum, { summary }) => sum + summary.pages, 0);
  await stdout.write(`${minuteText(fromMs)} to ${minuteText(toMs)} UTC\n\n`);
  for (const { replay, summary } of done)
    await stdout.write(
      `${plotText(replay, summary, { columns: stdout.columns, paint: (style, text) => stdout.paint(style, text) })}\n`,
    );
  const weeks = (toMs - fromMs) / (7 * 86_400_000);
  await stdout.write(
    `${done.length} ${done.length === 1 ? 'rule' : 'rules'}: ${pages} ${pages === 1 ? 'page' : 'pages'}, ${(pages / weeks).toFixed(1)} a week.\n`,
  );
}
