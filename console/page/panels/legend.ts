import type { Theme } from '../model/colours.ts';
import { formatValue } from '../model/display.ts';
import { reduce, reducerTitle } from '../model/reduce.ts';
import { plainText } from '../model/units.ts';
import type { Series } from '../plot/series.ts';
import { h, style } from '../ui/dom.ts';

export interface LegendOptions {
  readonly displayMode?: string;
  readonly placement?: string;
  readonly showLegend?: boolean;
  readonly calcs?: readonly string[];
  /** Title of a column of figures. */
  readonly sortBy?: string;
  readonly sortDesc?: boolean;
}

/**
 * The legend of a plot: as a table with figures, or as a list. A click shows a series alone, or all again;
 * with Ctrl or Command it switches the series.
 */
export function drawLegend(
  series: readonly Series[],
  shown: readonly boolean[],
  options: LegendOptions,
  _theme: Theme,
  choose: (index: number, alone: boolean) => void,
): HTMLElement {
  const calcs = options.calcs ?? [];
  const button = ({ field, colour }: Series, index: number): HTMLElement =>
    h(
      'button',
      {
        type: 'button',
        class: 'legend-name',
        'aria-pressed': String(shown[index] === true),
        title: `${field.title}: show alone, or all; with Ctrl: switch`,
        onclick: (event: MouseEvent) => choose(index, !(event.ctrlKey || event.metaKey)),
      },
      style(h('span', { class: 'swatch' }), { background: colour }),
      h('span', { class: 'legend-text' }, field.title),
    );
  const order = orderOf(series, options);
  const figure = ({ field }: Series, calc: string): string =>
    plainText(formatValue(field, reduce(field, calc)));
  if (options.displayMode !== 'table')
    return h(
      'ul',
      { class: 'legend legend-list' },
      ...series.map((one, index) =>
        h(
          'li',
          {},
          button(one, index),
          ...calcs.map((calc) =>
            h('span', { class: 'legend-calc' }, `${reducerTitle(calc)}: ${figure(one, calc)}`),
          ),
        ),
      ),
    );
  return h(
    'div',
    { class: 'legend', tabindex: series.length > 3 ? 0 : null, role: 'group', 'aria-label': 'Legend' },
    h(
      'table',
      { class: 'legend-table' },
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          h('th', { scope: 'col' }, 'Name'),
          ...calcs.map((calc) => h('th', { scope: 'col', class: 'number' }, reducerTitle(calc))),
        ),
      ),
      h(
        'tbody',
        {},
        ...order.map(([one, index]) =>
          h(
            'tr',
            { class: shown[index] === true ? null : 'off' },
            h('th', { scope: 'row' }, button(one, index)),
            ...calcs.map((calc) => h('td', { class: 'number' }, figure(one, calc))),
          ),
        ),
      ),
    ),
  );
}

/** By a column of figures where the panel says so; series without one come last. */
function orderOf(
  series: readonly Series[],
  { calcs = [], sortBy, sortDesc = false }: LegendOptions,
): [Series, number][] {
  const entries = series.map((one, index): [Series, number] => [one, index]);
  const calc = calcs.find((name) => reducerTitle(name) === sortBy);
  if (calc === undefined) return entries;
  const worth = ([{ field }]: [Series, number]): number => {
    const value = reduce(field, calc);
    return typeof value === 'number' ? value * (sortDesc ? -1 : 1) : Infinity;
  };
  return entries.toSorted((a, b) => worth(a) - worth(b));
}
