import { mix, readable, SURFACE, toCss } from '../model/colours.ts';
import { absoluteSteps } from '../model/display.ts';
import { plainText } from '../model/units.ts';
import { h, style, svg } from '../ui/dom.ts';
import { anchor, optionsOf, type Drawn, type PanelContext } from './context.ts';
import { singleValues, type SingleValue } from './single-values.ts';

const summaryOf = (values: readonly SingleValue[]): string =>
  values.map(({ title, shown }) => `${title} ${plainText(shown)}`).join(', ');
const isEmpty = (values: readonly SingleValue[]): boolean =>
  values.every(({ value }) => value === null || value === undefined);

/** Low and high end that all values share, unless each has its own. */
function sharedRange(values: readonly SingleValue[]): readonly [number, number] {
  const ranges = values.map(({ field }) => field.range);
  return [Math.min(...ranges.map(([low]) => low)), Math.max(...ranges.map(([, high]) => high))];
}

const shareOf = (value: unknown, [low, high]: readonly [number, number]): number =>
  typeof value === 'number' && high > low ? Math.min(Math.max((value - low) / (high - low), 0), 1) : 0;

/** Bars side by side: a funnel, a ranking. */
export function drawBarGauge(context: PanelContext): Drawn {
  const { body, panel, theme } = context;
  const { displayMode = 'gradient', showUnfilled = true } = optionsOf<{
    displayMode: string;
    showUnfilled: boolean;
  }>(panel);
  const values = singleValues(context);
  if (isEmpty(values)) return { summary: '', empty: true };
  const range = sharedRange(values);
  const first = typeof values[0]?.value === 'number' ? values[0].value : 0;
  const list = h('ul', { class: showUnfilled ? 'bars unfilled' : 'bars' });
  for (const { title, value, shown, links } of values) {
    const [link] = links;
    const share = `${(shareOf(value, range) * 100).toFixed(2)}%`;
    const fill =
      displayMode === 'gradient'
        ? `linear-gradient(90deg, ${mix(shown.colour, SURFACE[theme], 0.45)}, ${shown.colour})`
        : shown.colour;
    const ofFirst =
      typeof value === 'number' && first > 0 ? `${Math.round((value / first) * 100)} % of the first` : '';
    list.append(
      h(
        'li',
        { class: 'bar', title: `${title}: ${plainText(shown)}${ofFirst === '' ? '' : `, ${ofFirst}`}` },
        h('span', { class: 'bar-name' }, title),
        h(
          'span',
          { class: 'bar-track', 'aria-hidden': 'true' },
          style(h('span', { class: 'bar-fill' }), { width: share, background: fill }),
        ),
        style(
          h(
            'span',
            { class: 'bar-value' },
            link === undefined ? plainText(shown) : anchor(link, plainText(shown)),
          ),
          {
            color: readable(shown.colour, theme),
          },
        ),
      ),
    );
  }
  body.append(list);
  return { summary: summaryOf(values) };
}

const SWEEP = 1.5 * Math.PI;
const START = -1.25 * Math.PI;

/** An arc from low to high, with the thresholds about it. */
export function drawGauge(context: PanelContext): Drawn {
  const { body, theme } = context;
  const values = singleValues(context);
  if (isEmpty(values)) return { summary: '', empty: true };
  const grid = h('div', { class: 'gauges' });
  for (const { title, value, shown, field } of values) {
    const range = field.range;
    const steps = absoluteSteps(field.config.thresholds ?? { mode: 'absolute', steps: [] }, field);
    const outer = steps.map((step, index) => {
      const from = shareOf(step.value ?? range[0], range);
      const next = steps[index + 1]?.value;
      return arc(from, next == null ? 1 : shareOf(next, range), 47, toCss(step.color, theme), 2.5);
    });
    grid.append(
      h(
        'figure',
        { class: 'gauge' },
        svg(
          'svg',
          { viewBox: '0 0 100 88', 'aria-hidden': 'true' },
          arc(0, 1, 39, mix(SURFACE[theme], toCss('text', theme), 0.12), 10),
          arc(0, shareOf(value, range), 39, shown.colour, 10),
          ...outer,
        ),
        style(h('span', { class: 'gauge-value' }, plainText(shown)), {
          color: readable(shown.colour, theme, 3),
        }),
        h('figcaption', {}, title),
      ),
    );
  }
  body.append(grid);
  return { summary: summaryOf(values) };
}

function arc(from: number, to: number, radius: number, stroke: string, width: number): SVGElement {
  const point = (share: number): string => {
    const angle = START + SWEEP * share;
    return `${(50 + radius * Math.cos(angle)).toFixed(2)},${(51 + radius * Math.sin(angle)).toFixed(2)}`;
  };
  const large = (to - from) * SWEEP > Math.PI ? 1 : 0;
  return svg('path', {
    d: `M${point(from)}A${radius},${radius} 0 ${large} 1 ${point(to)}`,
    fill: 'none',
    stroke,
    'stroke-width': width,
  });
}
