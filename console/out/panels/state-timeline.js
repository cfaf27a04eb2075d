import { textOn, mix, SURFACE } from '../model/colours.js';
import { display, isHidden,            } from '../model/display.js';

import { isoTime, formatNumber, plainText } from '../model/units.js';
import { timeLabels, timeTicks } from '../plot/axis-text.js';
import { h, style } from '../ui/dom.js';
import { hideTooltip, showTooltip } from '../ui/tooltip.js';
import { optionsOf,                               } from './context.js';

const NAME_WIDTH = 96;

/** Lanes of states over time: each lasts until the next. */
export function drawStateTimeline(context              )        {
  const { body, frames, range, theme, panel, width } = context;
  const options = optionsOf                                                                               (
    panel,
  );
  const lanes = frames.flatMap((frame) =>
    frame.fields
      .filter(({ kind, config }) => kind !== 'time' && !isHidden(config))
      .map((field) => ({
        field,
        segments: segmentsOf(context, frame, field, options.mergeValues !== false),
      })),
  );
  const all = lanes.flatMap(({ segments }) => segments);
  if (all.length === 0) return { summary: '', empty: true };

  const share = (ms        )         =>
    `${(((ms - range.from) / (range.to - range.from)) * 100).toFixed(4)}%`;
  const chart = h('div', { class: 'lanes' });
  for (const { field, segments } of lanes) {
    const lane = h('ol', { class: 'lane', 'aria-label': `${field.title}: ${segments.length} states` });
    for (const { from, to, shown } of segments) {
      const [left, right] = [Math.max(from, range.from), Math.min(to, range.to)];
      if (right < left) continue;
      const fill = mix(SURFACE[theme], shown.colour, ((field.config.custom?.fillOpacity ?? 70) / 100) * 1);
      const text = plainText(shown);
      const label = `${text}, ${plainText(formatNumber(to - from, 'ms'))} from ${isoTime(from)}`;
      const box = h('li', { class: 'segment', 'aria-label': label }, h('span', {}, text));
      style(box, {
        left: share(left),
        width: `max(2px, calc(${share(right)} - ${share(left)} - 1px))`,
        background: fill,
        color: textOn(fill),
      });
      box.addEventListener('pointermove', (event) => {
        showTooltip(event.clientX, event.clientY, [
          h('p', { class: 'tooltip-time' }, `${isoTime(from)} UTC`),
          h(
            'p',
            {},
            style(h('span', { class: 'swatch' }), { background: shown.colour }),
            `${field.title}: ${text}`,
          ),
          h('p', { class: 'quiet' }, `for ${plainText(formatNumber(to - from, 'ms'))}`),
        ]);
      });
      box.addEventListener('pointerleave', hideTooltip);
      lane.append(box);
    }
    chart.append(
      h(
        'div',
        { class: 'lane-row' },
        h('span', { class: 'lane-name', 'aria-hidden': 'true' }, field.title),
        lane,
      ),
    );
  }
  const ticks = timeTicks(range.from, range.to, Math.max(2, Math.floor((width - NAME_WIDTH) / 90)));
  const labels = timeLabels(ticks, range.to - range.from);
  const axis = h('div', { class: 'lane-axis', 'aria-hidden': 'true' });
  ticks.forEach((tick, index) =>
    axis.append(style(h('span', {}, labels[index] ?? ''), { left: share(tick) })),
  );
  chart.append(axis);
  body.append(chart);
  for (const text of chart.querySelectorAll             ('.segment span'))
    if (text.scrollWidth > (text.parentElement?.clientWidth ?? 0)) text.classList.add('visually-hidden');
  if (options.legend?.showLegend !== false) body.append(legendOf(all));
  const last = lanes.map(
    ({ field, segments }) => `${field.title}: ${segments.map(({ shown }) => shown.text).join(', then ')}`,
  );
  return {
    summary: last.join('. '),
    span: [
      Math.min(...all.map(({ from }) => from)),
      Math.max(...lanes.map(({ segments }) => segments.at(-1)?.from ?? 0)),
    ],
  };
}

function segmentsOf({ theme, range }              , frame       , field       , merge         )            {
  const times = frame.fields.find(({ kind }) => kind === 'time')?.values ?? [];
  const segments                                                               = [];
  field.values.forEach((value, row) => {
    const from = times[row];
    if (typeof from !== 'number') return;
    const before = segments.at(-1);
    if (before !== undefined) before.to = from;
    if (value === null) return;
    if (merge && before !== undefined && before.value === value) {
      before.to = Math.max(range.to, from);
      return;
    }
    segments.push({ from, to: Math.max(range.to, from), shown: display(field, value, theme), value });
  });
  // Of several states within one instant only the last lasts.
  return segments.filter(({ from, to }) => to > from);
}

function legendOf(segments                    )              {
  const entries = new Map(segments.map(({ shown }) => [plainText(shown), shown.colour]));
  return h(
    'ul',
    { class: 'legend legend-list', 'aria-hidden': 'true' },
    ...[...entries].map(([text, colour]) =>
      h('li', {}, style(h('span', { class: 'swatch' }), { background: colour }), text),
    ),
  );
}
