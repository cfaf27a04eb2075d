import { readable } from '../model/colours.ts';
import { plainText } from '../model/units.ts';
import { h, style } from '../ui/dom.ts';
import { textWidth } from '../ui/measure.ts';
import { anchor, type Drawn, type PanelContext } from './context.ts';
import { singleValues, type SingleValue } from './single-values.ts';

/** A few numbers, as large as there is room. */
export function drawStat(context: PanelContext): Drawn {
  const { body, width, height } = context;
  const values = singleValues(context);
  if (values.every(({ value }) => value === null)) return { summary: '', empty: true };
  const across = width > height * 1.2;
  const columns = across ? Math.min(values.length, Math.max(1, Math.floor(width / 90))) : 1;
  const rows = Math.ceil(values.length / columns);
  const cell = { width: (width - 8 * (columns - 1)) / columns, height: (height - 6 * (rows - 1)) / rows };
  const size = fontSize(values, cell);
  const grid = style(h('dl', { class: 'stats' }), {
    'grid-template-columns': `repeat(${columns}, minmax(0, 1fr))`,
  });
  grid.append(...values.map((value) => drawValue(value, size, context)));
  body.append(grid);
  return { summary: values.map(({ title, shown }) => `${title} ${plainText(shown)}`).join(', ') };
}

/** The largest at which every value fits its cell. */
function fontSize(values: readonly SingleValue[], cell: { width: number; height: number }): number {
  const widest = Math.max(
    ...values.map(
      ({ shown: { text, suffix } }) => textWidth(text, '600 100px') + textWidth(suffix, '600 72px'),
    ),
  );
  const fitting = Math.min(((cell.width - 20) / Math.max(widest, 1)) * 100, (cell.height - 26) * 0.62);
  return Math.round(Math.min(Math.max(fitting, 12), 56));
}

function drawValue({ title, shown, links }: SingleValue, size: number, { theme }: PanelContext): HTMLElement {
  const [link] = links;
  const parts = [shown.text, h('span', { class: 'stat-unit' }, shown.suffix)];
  return h(
    'div',
    { class: 'stat' },
    h('dt', { class: 'stat-name' }, title),
    style(
      h('dd', { class: 'stat-value' }, link === undefined ? h('span', {}, ...parts) : anchor(link, ...parts)),
      { color: readable(shown.colour, theme, 3), 'font-size': `${size}px` },
    ),
  );
}
