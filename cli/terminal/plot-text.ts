import { headlineOf, labelsText, nearest, nearness, valuesText } from '../../alerts/backtest/headline.ts';
import type { ReplayedRule } from '../../alerts/backtest/backtest.ts';
import type { Episode, InstanceReplay, RuleReplay } from '../../alerts/backtest/replay.ts';
import { reportOf, type RuleSummary } from '../../alerts/backtest/summary.ts';
import type { Rule } from '../../alerts/rules/rule.ts';
import { minuteText, spanText } from '../../alerts/backtest/times.ts';

export interface TextOptions {
  /** Width of a line in characters. */
  readonly columns: number;
  readonly paint: (style: 'bold' | 'dim' | 'red' | 'yellow' | 'green', text: string) => string;
}

const BARS = [...' ▁▂▃▄▅▆▇█'];
/** Alerts listed for each label set; the plot shows the others. */
const LISTED = 12;

/** A whole backtest for a terminal. */
export function backtestText(
  rules: readonly ReplayedRule[],
  range: { readonly fromMs: number; readonly toMs: number },
  options: TextOptions,
): string {
  const { fromMs, toMs } = range;
  const summaries = rules.map(({ summary }) => summary);
  const { read, recounted } = reportOf(summaries, range);
  const pages = summaries.reduce((sum, summary) => sum + summary.pages, 0);
  const weeks = (toMs - fromMs) / (7 * 86_400_000);
  return [
    `${minuteText(fromMs)} to ${minuteText(toMs)} UTC\n`,
    ...rules.map((rule) => plotText(rule, options)),
    `${count(rules.length, 'rule')}: ${count(pages, 'page')}, ${(pages / weeks).toFixed(1)} a week.`,
    `${count(read + recounted, 'evaluation')}: ${read} read, ${recounted} recounted.`,
    ...notJudged(summaries),
    '',
  ].join('\n');
}

/** A rule that was not judged is not a quiet one. */
function notJudged(summaries: readonly RuleSummary[]): string[] {
  const named = (reason: RuleSummary['notJudged'], text: string): string[] => {
    const rules = summaries.filter((one) => one.notJudged === reason).map(({ rule }) => rule);
    return rules.length === 0 ? [] : [`Not judged, ${text}: ${rules.join(', ')}.`];
  };
  return [
    ...named('switched_off', 'as no setting switches them on'),
    ...named('no_data', 'as no gateway is known in this time'),
  ];
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;

/**
 * A rule's replay for a terminal: per label set a sparkline of its value, when it was pending and firing,
 * each alert.
 */
export function plotText({ replay, summary }: ReplayedRule, options: TextOptions): string {
  const { paint } = options;
  const loud = replay.instances.filter(({ episodes }) => episodes.length > 0);
  const pages = `${count(summary.pages, 'page')}, ${summary.pagesPerWeek} a week`;
  const lines = [
    `${paint('bold', summary.rule)} (${summary.severity})  ${paint(summary.pages > 0 ? 'red' : 'green', pages)}` +
      (summary.endedWhilePending > 0 ? `; ${summary.endedWhilePending} ended while pending` : ''),
  ];
  for (const instance of loud) lines.push(...instanceLines(replay, instance, options));
  const quiet = replay.instances.length - loud.length;
  if (quiet > 0)
    lines.push(
      paint(
        'dim',
        `  ${quiet} ${loud.length > 0 ? 'other ' : ''}label ${quiet === 1 ? 'set' : 'sets'} stayed quiet`,
      ),
    );
  if (replay.instances.length === 0) lines.push(paint('dim', '  no data: no gateway is known in this time'));
  return `${lines.join('\n')}\n`;
}

function instanceLines(
  replay: RuleReplay,
  instance: InstanceReplay,
  { columns, paint }: TextOptions,
): string[] {
  const { instantsMs } = replay;
  const width = Math.max(10, Math.min(columns - 18, 100, instantsMs.length));
  const headline = headlineOf(replay.rule);
  const lines = [`  ${labelsText(instance.labels)}`];
  const bars = nearest(instance.compared, headline, instantsMs.length, width).map((stretch) => {
    if (stretch === null) return ' ';
    const near = nearness(stretch, headline);
    // Half of the height is the limit.
    const bar = BARS[Math.min(8, Math.round(near * 4))] ?? ' ';
    return near >= 1 ? paint('red', bar) : bar;
  });
  lines.push(`    ${headline.value.padEnd(11)}${bars.join('')}`);
  lines.push(`    ${'alert'.padEnd(11)}${timeline(replay, instance, width, paint)}`);
  const fired = instance.episodes.filter((episode) => episode.firedAtMs !== null);
  for (const episode of fired.slice(0, LISTED))
    lines.push(`    ${alertLine(replay.rule, episode, instantsMs.at(-1) ?? 0)}`);
  if (fired.length > LISTED) lines.push(paint('dim', `    and ${fired.length - LISTED} more`));
  return lines;
}

function timeline(
  { instantsMs }: RuleReplay,
  instance: InstanceReplay,
  width: number,
  paint: TextOptions['paint'],
): string {
  const startMs = instantsMs[0] ?? 0;
  const endMs = instantsMs.at(-1) ?? 0;
  const stretchMs = (endMs - startMs) / width || 1;
  let line = '';
  for (let column = 0; column < width; column++) {
    const from = startMs + column * stretchMs;
    const touched = instance.episodes.filter(
      (episode) => episode.pendingAtMs < from + stretchMs && (episode.resolvedAtMs ?? endMs + 1) > from,
    );
    const firing = touched.some(({ firedAtMs }) => firedAtMs !== null && firedAtMs < from + stretchMs);
    line += firing ? paint('red', '█') : touched.length > 0 ? paint('yellow', '░') : paint('dim', '·');
  }
  return line;
}

function alertLine(
  rule: Rule,
  { pendingAtMs, firedAtMs, resolvedAtMs, values }: Episode,
  endMs: number,
): string {
  const fired = firedAtMs ?? pendingAtMs;
  const lasted = spanText(((resolvedAtMs ?? endMs) - fired) / 1000);
  return (
    `${minuteText(fired)}  for ${lasted}${resolvedAtMs === null ? ', still firing' : ''}` +
    (fired > pendingAtMs ? ` (pending since ${minuteText(pendingAtMs).slice(11)})` : '') +
    `  ${valuesText(rule, values)}`
  );
}
