import { mix, readable, SURFACE } from '../model/colours.ts';
import { plainText } from '../model/units.ts';
import { h, style } from '../ui/dom.ts';
import { anchor, type Drawn, type PanelContext } from './context.ts';
import { singleValues, type SingleValue } from './single-values.ts';

/** Low and high end that all values share. */
function sharedRange(values: readonly SingleValue[]): readonly [number, number] {
  const ranges = values.map(({ field }) => field.range);
  return [Math.min(...ranges.map(([low]) => low)), Math.max(...ranges.map(([, high]) => high))];
}

const shareOf = (value: unknown, [low, high]: readonly [number, number]): number =>
  typeof value === 'number' && high > low ? Math.min(Math.max((value - low) / (high - low), 0), 1) : 0;

/** Bars side by side: a funnel, a ranking. */
export function drawBarGauge(context: PanelContext): Drawn {
  const { body, theme } = context;
  const values = singleValues(context);
  if (values.every(({ value }) => value === null || value === undefined)) return { summary: '', empty: true };
  const range = sharedRange(values);
  const first = typeof values[0]?.value === 'number' ? values[0].value : 0;
  const list = h('ul', { class: 'bars' });
  for (const { title, value, shown, links } of values) {
    const [link] = links;
    const share = `${(shareOf(value, range) * 100).toFixed(2)}%`;
    const fill = `linear-gradient(90deg, ${mix(shown.colour, SURFACE[theme], 0.45)}, ${shown.colour})`;
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
  return { summary: values.map(({ title, shown }) => `${title} ${plainText(shown)}`).join(', ') };
}
