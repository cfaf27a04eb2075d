import { textOn, mix, SURFACE, type Theme } from '../model/colours.ts';
import { display, type Shown } from '../model/display.ts';
import type { Field, Frame } from '../model/fields.ts';
import type { TimeRange } from '../model/time-range.ts';
import { isoTime, formatNumber, plainText } from '../model/units.ts';
import { timeLabels, timeTicks } from '../plot/axis-text.ts';
import { h, style } from '../ui/dom.ts';
import { hideTooltip, showTooltip } from '../ui/tooltip.ts';
import type { Drawn, PanelContext } from './context.ts';

interface Segment {
  readonly from: number;
  readonly to: number;
  readonly shown: Shown;
}

interface Lane {
  readonly field: Field;
  readonly segments: readonly Segment[];
}

const NAME_WIDTH = 96;

/** Lanes of states over time: each lasts until the next. */
export function drawStateTimeline(context: PanelContext): Drawn {
  const { body, range, width } = context;
  const lanes = lanesOf(context);
  const all = lanes.flatMap(({ segments }) => segments);
  if (all.length === 0) return { summary: '', empty: true };
  const chart = h(
    'div',
    { class: 'lanes' },
    ...lanes.map((lane) => drawLane(context, lane)),
    drawAxis(range, width),
  );
  body.append(chart);
  hideCutTexts(chart);
  body.append(legendOf(all));
  const summaries = lanes.map(
    ({ field, segments }) => `${field.title}: ${segments.map(({ shown }) => shown.text).join(', then ')}`,
  );
  return {
    summary: summaries.join('. '),
    span: [
      Math.min(...all.map(({ from }) => from)),
      Math.max(...lanes.map(({ segments }) => segments.at(-1)?.from ?? 0)),
    ],
  };
}

/** How far along the range a time lies. */
const percentOf = (ms: number, { from, to }: TimeRange): string =>
  `${(((ms - from) / (to - from)) * 100).toFixed(4)}%`;

function drawLane({ range, theme }: PanelContext, { field, segments }: Lane): HTMLElement {
  const boxes = segments
    .filter(({ from, to }) => Math.min(to, range.to) >= Math.max(from, range.from))
    .map((segment) => drawSegment(segment, field, range, theme));
  return h(
    'div',
    { class: 'lane-row' },
    h('span', { class: 'lane-name', 'aria-hidden': 'true' }, field.title),
    h('ol', { class: 'lane', 'aria-label': `${field.title}: ${segments.length} states` }, ...boxes),
  );
}

function drawSegment(
  { from, to, shown }: Segment,
  field: Field,
  range: TimeRange,
  theme: Theme,
): HTMLElement {
  const [left, right] = [Math.max(from, range.from), Math.min(to, range.to)].map((ms) =>
    percentOf(ms, range),
  );
  const fill = mix(SURFACE[theme], shown.colour, (field.config.custom?.fillOpacity ?? 70) / 100);
  const text = plainText(shown);
  const lasts = plainText(formatNumber(to - from, 'ms'));
  const box = h(
    'li',
    { class: 'segment', 'aria-label': `${text}, ${lasts} from ${isoTime(from)}` },
    h('span', {}, text),
  );
  box.addEventListener('pointermove', (event) => {
    const swatch = style(h('span', { class: 'swatch' }), { background: shown.colour });
    showTooltip(event.clientX, event.clientY, [
      h('p', { class: 'tooltip-time' }, `${isoTime(from)} UTC`),
      h('p', {}, swatch, `${field.title}: ${text}`),
      h('p', { class: 'quiet' }, `for ${lasts}`),
    ]);
  });
  box.addEventListener('pointerleave', hideTooltip);
  return style(box, {
    left: left ?? '',
    width: `max(2px, calc(${right} - ${left} - 1px))`,
    background: fill,
    color: textOn(fill),
  });
}

function drawAxis(range: TimeRange, width: number): HTMLElement {
  const ticks = timeTicks(range.from, range.to, Math.max(2, Math.floor((width - NAME_WIDTH) / 90)));
  const labels = timeLabels(ticks, range.to - range.from);
  const marks = ticks.map((tick, index) =>
    style(h('span', {}, labels[index] ?? ''), { left: percentOf(tick, range) }),
  );
  return h('div', { class: 'lane-axis', 'aria-hidden': 'true' }, ...marks);
}

/** A text that does not fit its box is there for screen readers only. */
function hideCutTexts(chart: HTMLElement): void {
  for (const text of chart.querySelectorAll<HTMLElement>('.segment span'))
    if (text.scrollWidth > (text.parentElement?.clientWidth ?? 0)) text.classList.add('visually-hidden');
}

const lanesOf = (context: PanelContext): Lane[] =>
  context.frames.flatMap((frame) =>
    frame.fields
      .filter(({ kind }) => kind !== 'time')
      .map((field) => ({ field, segments: segmentsOf(context, frame, field) })),
  );

function segmentsOf({ theme, range }: PanelContext, frame: Frame, field: Field): Segment[] {
  const times = frame.fields.find(({ kind }) => kind === 'time')?.values ?? [];
  const segments: { from: number; to: number; shown: Shown; value: unknown }[] = [];
  field.values.forEach((value, row) => {
    const from = times[row];
    if (typeof from !== 'number') return;
    const before = segments.at(-1);
    if (before !== undefined) before.to = from;
    if (value === null) return;
    if (before !== undefined && before.value === value) {
      before.to = Math.max(range.to, from);
      return;
    }
    segments.push({ from, to: Math.max(range.to, from), shown: display(field, value, theme), value });
  });
  // Of several states within one instant only the last lasts.
  return segments.filter(({ from, to }) => to > from);
}

function legendOf(segments: readonly Segment[]): HTMLElement {
  const entries = new Map(segments.map(({ shown }) => [plainText(shown), shown.colour]));
  return h(
    'ul',
    { class: 'legend legend-list', 'aria-hidden': 'true' },
    ...[...entries].map(([text, colour]) =>
      h('li', {}, style(h('span', { class: 'swatch' }), { background: colour }), text),
    ),
  );
}
