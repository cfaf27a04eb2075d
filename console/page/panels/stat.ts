import { readable, SURFACE, textOn, toCss, withAlpha } from '../model/colours.ts';
import { numbersOf } from '../model/display.ts';
import { plainText } from '../model/units.ts';
import { h, style, svg } from '../ui/dom.ts';
import { textWidth } from '../ui/measure.ts';
import { anchor, optionsOf, type Drawn, type PanelContext } from './context.ts';
import { singleValues, type SingleValue } from './single-values.ts';

interface Options {
  readonly colorMode?: string;
  readonly graphMode?: string;
  readonly textMode?: string;
  readonly orientation?: string;
}

/** A few numbers, as large as there is room. */
export function drawStat(context: PanelContext): Drawn {
  const { body, width, height, panel } = context;
  const options = optionsOf<Options>(panel);
  const values = singleValues(context);
  if (values.every(({ value }) => value === null)) return { summary: '', empty: true };
  const across =
    options.orientation === 'vertical'
      ? true
      : options.orientation === 'horizontal'
        ? false
        : width > height * 1.2;
  const columns = across ? Math.min(values.length, Math.max(1, Math.floor(width / 90))) : 1;
  const rows = Math.ceil(values.length / columns);
  const cell = { width: (width - 8 * (columns - 1)) / columns, height: (height - 6 * (rows - 1)) / rows };
  const size = fontSize(values, cell);
  const grid = style(h('dl', { class: 'stats' }), {
    'grid-template-columns': `repeat(${columns}, minmax(0, 1fr))`,
  });
  grid.append(...values.map((value) => drawValue(value, options, size, values.length, context)));
  body.append(grid);
  return { summary: values.map(({ title, shown }) => `${title} ${plainText(shown)}`).join(', ') };
}

/** The largest at which every value fits its cell. */
function fontSize(values: readonly SingleValue[], cell: { width: number; height: number }): number {
  const widest = Math.max(
    ...values.map(
      ({ shown: { prefix = '', text, suffix } }) =>
        textWidth(prefix + text, '600 100px') + textWidth(suffix, '600 72px'),
    ),
  );
  const fitting = Math.min(((cell.width - 20) / Math.max(widest, 1)) * 100, (cell.height - 26) * 0.62);
  return Math.round(Math.min(Math.max(fitting, 12), 56));
}

function drawValue(
  { title, shown, links, field }: SingleValue,
  { colorMode = 'value', graphMode = 'none', textMode = 'auto' }: Options,
  size: number,
  count: number,
  { theme }: PanelContext,
): HTMLElement {
  const solid = colorMode.startsWith('background') && shown.colour.startsWith('#');
  const ink = solid
    ? textOn(shown.colour)
    : colorMode === 'none'
      ? toCss('text', theme)
      : readable(shown.colour, theme, 3);
  const [link] = links;
  const parts = [
    `${shown.prefix ?? ''}${shown.text}`,
    style(h('span', { class: 'stat-unit' }, shown.suffix), {}),
  ];
  const value = style(
    h('dd', { class: 'stat-value' }, link === undefined ? h('span', {}, ...parts) : anchor(link, ...parts)),
    {
      color: ink,
      'font-size': `${size}px`,
    },
  );
  const named = textMode !== 'value' && textMode !== 'none' && (textMode !== 'auto' || count > 1);
  const cell = h(
    'div',
    { class: 'stat' },
    h('dt', { class: named ? 'stat-name' : 'visually-hidden' }, title),
    value,
  );
  if (graphMode === 'area')
    cell.append(sparkline(numbersOf(field), shown.colour.startsWith('#') ? shown.colour : SURFACE[theme]));
  return solid ? style(cell, { background: shown.colour, color: ink }) : cell;
}

/** The course of the values, without axes. */
function sparkline(numbers: readonly number[], colour: string): SVGElement | '' {
  if (numbers.length < 2) return '';
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const points = numbers.map(
    (value, i) => `${(i / (numbers.length - 1)) * 100},${30 - ((value - low) / (high - low || 1)) * 28}`,
  );
  const line = `M${points.join('L')}`;
  return svg(
    'svg',
    { class: 'sparkline', viewBox: '0 0 100 31', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    svg('path', { d: `${line}L100,31L0,31Z`, fill: withAlpha(colour, 0.2) }),
    svg('path', { d: line, fill: 'none', stroke: colour, 'vector-effect': 'non-scaling-stroke' }),
  );
}
