import { headlineOf, labelsText, nearest, nearness, valuesText } from '../../alerts/backtest/headline.ts';
import type { Episode, InstanceReplay, RuleReplay } from '../../alerts/backtest/replay.ts';
import type { RuleSummary } from '../../alerts/backtest/summary.ts';
import { minuteText, spanText } from '../../alerts/backtest/times.ts';

export interface TextOptions {
  /** Width of a line in characters. */
  readonly columns: number;
  readonly paint: (style: 'bold' | 'dim' | 'red' | 'yellow' | 'green', text: string) => string;
}

const BARS = [...' ▁▂▃▄▅▆▇█'];
/** Alerts listed for each label set; the plot shows the others. */
const LISTED = 12;

/**
 * A rule's replay for a terminal: per label set a sparkline of its value, when it was pending and firing,
 * each alert.
 */
export function plotText(replay: RuleReplay, summary: RuleSummary, options: TextOptions): string {
  const { paint } = options;
  const loud = replay.instances.filter(({ episodes }) => episodes.length > 0);
  const pages = `${summary.pages} ${summary.pages === 1 ? 'page' : 'pages'}, ${summary.pagesPerWeek} a week`;
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
  if (headline !== null) {
    const bars = nearest(instance, headline, instantsMs.length, width).map((stretch) => {
      if (stretch === null) return ' ';
      const near = nearness(stretch, headline);
      // Half of the height is the limit.
      const bar = BARS[Math.min(8, Math.round(near * 4))] ?? ' ';
      return near >= 1 ? paint('red', bar) : bar;
    });
    lines.push(`    ${headline.value.slice(0, 10).padEnd(11)}${bars.join('')}`);
  }
  lines.push(`    ${'alert'.padEnd(11)}${timeline(replay, instance, width, paint)}`);
  const fired = instance.episodes.filter((episode) => episode.firedAtMs !== null);
  for (const episode of fired.slice(0, LISTED))
    lines.push(`    ${alertLine(episode, instantsMs.at(-1) ?? 0)}`);
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

function alertLine({ pendingAtMs, firedAtMs, resolvedAtMs, values }: Episode, endMs: number): string {
  const fired = firedAtMs ?? pendingAtMs;
  const lasted = spanText(((resolvedAtMs ?? endMs) - fired) / 1000);
  return (
    `${minuteText(fired)}  for ${lasted}${resolvedAtMs === null ? ', still firing' : ''}` +
    (fired > pendingAtMs ? ` (pending since ${minuteText(pendingAtMs).slice(11)})` : '') +
    `  ${valuesText(values)}`
  );
}
