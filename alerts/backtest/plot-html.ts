import type { ReplayedRule } from './backtest.ts';
import { headlineOf, labelsText, nearest, numberText, valuesText } from './headline.ts';
import type { InstanceReplay, RuleReplay } from './replay.ts';
import { minuteText, spanText } from './times.ts';

const WIDTH = 960;
const HEIGHT = 96;
const BAND = 14;
const POINTS = 480;

const STYLE = `
:root { color-scheme: light dark; --ink: #1c2330; --dim: #667085; --paper: #fff; --line: #d0d5dd; --value: #2f6fdf; --firing: #d92d20; --pending: #f79009; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --dim: #98a2b3; --paper: #14181f; --line: #344054; --value: #7aa5f8; --firing: #f97066; --pending: #fdb022; } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin: 2rem 0 .2rem } p { margin: .2rem 0 } .dim { color: var(--dim) }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums } th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top }
td.n, th.n { text-align: right } svg { width: 100%; height: auto; display: block; margin: .4rem 0 }
svg text { font: 11px system-ui, sans-serif; fill: var(--dim) } figure { margin: 1rem 0 } figcaption { font-weight: 600 }
details { margin: .4rem 0 }`;

/**
 * The whole backtest as one HTML file that needs nothing from anywhere; dark or light as its reader prefers.
 */
export function plotHtml(rules: readonly ReplayedRule[], range: { fromMs: number; toMs: number }): string {
  const title = `Backtest, ${minuteText(range.fromMs)} to ${minuteText(range.toMs)} UTC`;
  const rows = rules.map(
    ({ summary }) =>
      `<tr><td><a href="#${escape(summary.uid)}">${escape(summary.rule)}</a></td><td>${escape(summary.severity)}</td>` +
      `<td class="n">${summary.pages}</td><td class="n">${summary.pagesPerWeek}</td>` +
      `<td class="n">${spanText(summary.labelSets.reduce((sum, one) => sum + one.firingSeconds, 0))}</td></tr>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escape(title)}</title><style>${STYLE}</style></head><body>
<h1>${escape(title)}</h1>
<p class="dim">What the alert rules would have done: from their stored evaluations, and where there are none counted anew from the history.</p>
<table><thead><tr><th>Rule</th><th>Severity</th><th class="n">Pages</th><th class="n">A week</th><th class="n">Firing</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table>
${rules.map(ruleSection).join('\n')}
</body></html>
`;
}

function ruleSection({ replay, summary }: ReplayedRule): string {
  const loud = replay.instances.filter(({ episodes }) => episodes.length > 0);
  const shown = loud.length > 0 ? loud : replay.instances.slice(0, 1);
  const quiet = replay.instances.length - shown.length;
  return `<section id="${escape(summary.uid)}"><h2>${escape(summary.rule)}</h2><p>${escape(summary.summary)}</p>
<p class="dim">Evaluated every ${spanText(summary.stepSeconds)}, ${summary.evaluations} times (${summary.read} read, ${summary.recounted} recounted); for ${spanText(replay.rule.pendingSeconds)}, kept firing for ${spanText(replay.rule.keepFiringSeconds)}.
${quiet > 0 ? `${quiet} further label ${quiet === 1 ? 'set' : 'sets'} stayed quiet.` : ''}</p>
${shown.map((instance) => figure(replay, instance)).join('\n')}
${alertTable({ replay, summary })}</section>`;
}

function figure(replay: RuleReplay, instance: InstanceReplay): string {
  const { instantsMs } = replay;
  const startMs = instantsMs[0] ?? 0;
  const endMs = Math.max(instantsMs.at(-1) ?? 0, startMs + 1);
  const x = (ms: number): number => round(((Math.min(ms, endMs) - startMs) / (endMs - startMs)) * WIDTH);
  const bands = instance.episodes.flatMap(({ pendingAtMs, firedAtMs, resolvedAtMs }) => {
    const until = resolvedAtMs ?? endMs;
    const band = (from: number, to: number, colour: string): string =>
      `<rect x="${x(from)}" y="${HEIGHT + 4}" width="${Math.max(1, round(x(to) - x(from)))}" height="${BAND}" fill="var(--${colour})"/>`;
    return firedAtMs === null
      ? [band(pendingAtMs, until, 'pending')]
      : [band(pendingAtMs, firedAtMs, 'pending'), band(firedAtMs, until, 'firing')];
  });
  const fired = instance.episodes.filter((episode) => episode.firedAtMs !== null).length;
  const caption = `${labelsText(instance.labels)}: ${fired} ${fired === 1 ? 'alert' : 'alerts'}`;
  return `<figure><figcaption>${escape(caption)}</figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT + BAND + 24}" role="img" aria-label="${escape(caption)}">
<line x1="0" x2="${WIDTH}" y1="${HEIGHT}" y2="${HEIGHT}" stroke="var(--line)"/>
${curve(replay, instance)}
${bands.join('')}
${timeAxis(startMs, endMs)}
</svg></figure>`;
}

/** The value as a line, and its limit, dashed. */
function curve(replay: RuleReplay, instance: InstanceReplay): string {
  const headline = headlineOf(replay.rule);
  const count = Math.min(POINTS, replay.instantsMs.length);
  const stretches = nearest(instance.compared, headline, replay.instantsMs.length, count);
  const top =
    Math.max(1e-9, ...stretches.flatMap((one) => (one === null ? [] : [one.value, one.limit]))) * 1.05;
  const path = (of: 'value' | 'limit'): string => {
    let text = '';
    let drawing = false;
    for (const [index, stretch] of stretches.entries()) {
      if (stretch !== null) {
        const y = round(HEIGHT - (Math.max(0, stretch[of]) / top) * (HEIGHT - 14));
        text += `${drawing ? 'L' : 'M'}${round(((index + 0.5) / count) * WIDTH)} ${y}`;
      }
      drawing = stretch !== null;
    }
    return text;
  };
  return (
    `<path d="${path('value')}" fill="none" stroke="var(--value)" stroke-width="1.5"/>` +
    `<path d="${path('limit')}" fill="none" stroke="var(--firing)" stroke-dasharray="4 4"/>` +
    `<text x="0" y="10">${escape(headline.value)}; dashed: its limit</text>` +
    `<text x="${WIDTH}" y="10" text-anchor="end">up to ${numberText(top)}</text>`
  );
}

function timeAxis(startMs: number, endMs: number): string {
  return [0, 0.25, 0.5, 0.75, 1]
    .map((share) => {
      const anchor = share === 0 ? 'start' : share === 1 ? 'end' : 'middle';
      const text = minuteText(startMs + share * (endMs - startMs));
      return `<text x="${share * WIDTH}" y="${HEIGHT + BAND + 20}" text-anchor="${anchor}">${text}</text>`;
    })
    .join('');
}

function alertTable({ replay: { rule }, summary: { labelSets } }: ReplayedRule): string {
  const rows = labelSets.flatMap(({ labels, alerts }) =>
    alerts.map(
      ({ firedAt, seconds, resolvedAt, values }) =>
        `<tr><td>${minuteText(Date.parse(firedAt))}</td><td>${spanText(seconds)}${resolvedAt === null ? ', still firing' : ''}</td>` +
        `<td>${escape(labelsText(labels))}</td><td>${escape(valuesText(rule, values))}</td></tr>`,
    ),
  );
  if (rows.length === 0) return '<p>Nobody would have been paged.</p>';
  return `<details${rows.length <= 20 ? ' open' : ''}><summary>${rows.length} alerts</summary><table><thead><tr><th>Fired (UTC)</th><th>For</th><th>Labels</th><th>Values when it fired</th></tr></thead><tbody>${rows.join('\n')}</tbody></table></details>`;
}

const round = (value: number): number => Math.round(value * 100) / 100;

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
