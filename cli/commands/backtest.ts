import { open, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { BacktestRange, ReplayedRule } from '../../alerts/backtest/backtest.ts';
import { GatewatchError } from '../../schemas/errors.ts';
import type { Trial } from '../../alerts/backtest/overrides.ts';
import { EXIT, printJson, usageError, type CommandContext, type GlobalOptions } from '../command-context.ts';
import type { Host } from '../terminal/host.ts';
import type { TextOptions } from '../terminal/plot-text.ts';
import type { OpenedStore } from '../../store/open.ts';
import { createProgressBar, type ProgressBar, progressOn } from '../terminal/progress.ts';

interface BacktestOptions extends GlobalOptions {
  readonly from: string;
  readonly to: string;
  readonly step?: string;
  readonly set: readonly string[];
  readonly json?: true;
  readonly html?: string;
}

const HELP = `
Replays the alert rules over the past: pending, firing, kept firing, ended. What the rules saw is read from their stored
evaluations; for instants without one (no collector ran, history was backfilled), and where --set changes a limit, it is
counted anew from what was known at that instant. Both are distinguished in the output. It only reads.

RULE is a rule's name, with or without Gatewatch; without one all rules are replayed, but for the two that watch whether
rules are evaluated. --set changes a limit of a rule, for this run and all gateways; threshold stands for its first limit,
for and keepFiringFor for its times; a wrong name lists what a rule has. Slow rules are evaluated every ten minutes at most.

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
    .option('--html <file>', 'write a page with plots')
    .option('--json', 'one JSON object')
    .addHelpText('after', HELP)
    .action(async (names: readonly string[], _options: object, command: Command) => {
      await backtest(context, names, command.optsWithGlobals<BacktestOptions>());
      context.exitCode = EXIT.done;
    });
}

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

async function backtest(
  { host }: CommandContext,
  names: readonly string[],
  options: BacktestOptions,
): Promise<void> {
  const { trialsOf } = await import('../../alerts/backtest/overrides.ts');
  const range = await readRange(options);
  const trials = trialsOf(names, options.set);
  if (options.html !== undefined) await mustBeWritable(options.html);
  const { loadStoreConfig } = await import('../../collector/config/load.ts');
  const { openStore } = await import('../../store/open.ts');
  const opened = await openStore(loadStoreConfig(options.config, host.env), { progress: progressOn(host) });
  try {
    const settings = await settingsOf(host, options);
    const done = await replayAll(host, trials, { ...range, settings }, opened);
    if (options.html !== undefined) {
      const { plotHtml } = await import('../../alerts/backtest/plot-html.ts');
      await writeFile(options.html, plotHtml(done, range));
      await host.stderr.write(`wrote ${options.html}\n`);
    }
    if (options.json === true) {
      const { reportOf } = await import('../../alerts/backtest/summary.ts');
      const summaries = done.map(({ summary }) => summary);
      await printJson(host, reportOf(summaries, range));
    } else {
      const { backtestText } = await import('../terminal/plot-text.ts');
      const { stdout } = host;
      const paint: TextOptions['paint'] = (style, text) => stdout.paint(style, text);
      await stdout.write(backtestText(done, range, { columns: stdout.columns, paint }));
    }
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

async function readRange(options: BacktestOptions): Promise<BacktestRange> {
  const { durationSeconds, instant } = await import('../../alerts/backtest/times.ts');
  const now = new Date();
  const from = instant(options.from, now);
  const to = instant(options.to, now);
  const step = options.step === undefined ? null : durationSeconds(options.step);
  if (from === null) throw usageError(`--from: expected a time or a duration, received ${options.from}`);
  if (to === null) throw usageError(`--to: expected a time or a duration, received ${options.to}`);
  if (from >= to) throw usageError('--from must lie before --to');
  if (options.step !== undefined && (step === null || step === 0 || !Number.isInteger(step)))
    throw usageError(`--step: expected a duration like 5m, received ${options.step}`);
  return { fromMs: from.getTime(), toMs: to.getTime(), stepMs: step === null ? null : step * 1000 };
}

type Settings = ReadonlyMap<string, number> | undefined;

/** What the configuration sets of rules; undefined: it names no gateway, and what the store knows counts. */
async function settingsOf(host: Host, { config: path }: BacktestOptions): Promise<Settings> {
  const { loadPartialConfig } = await import('../../collector/config/load.ts');
  const { settingRows } = await import('../../alerts/settings.ts');
  const { alerts } = loadPartialConfig(path, host.env, ['alerts']);
  try {
    const { gateways } = loadPartialConfig(path, host.env, ['gateways']);
    const rows = settingRows(alerts, gateways, 0);
    return new Map(rows.map(({ gateway, rule, setting, value }) => [`${rule}|${gateway}|${setting}`, value]));
  } catch (error) {
    if (!(error instanceof GatewatchError) || error.code !== 'config_invalid') throw error;
    return undefined;
  }
}

async function replayAll(
  host: Host,
  trials: readonly Trial[],
  range: BacktestRange & { readonly settings: Settings },
  { store }: OpenedStore,
): Promise<ReplayedRule[]> {
  const { runBacktest } = await import('../../alerts/backtest/backtest.ts');
  const { minuteText } = await import('../../alerts/backtest/times.ts');
  let bar: ProgressBar | null = null;
  try {
    return await runBacktest({
      ...range,
      trials,
      // Reads only, and may still set how the result looks.
      query: (sql) => store.query(sql, {}, { readonly: '2' }),
      onProgress: (done, total, atMs) => {
        bar ??= createProgressBar(host.stderr, total);
        bar.show(done, minuteText(atMs));
      },
    });
  } finally {
    (bar as ProgressBar | null)?.clear();
  }
}
