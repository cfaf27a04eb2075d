import { formatValue } from '../model/display.ts';
import { reduce, reducerTitle } from '../model/reduce.ts';
import { plainText } from '../model/units.ts';
import type { Series } from '../plot/series.ts';
import { h, style } from '../ui/dom.ts';

export interface LegendOptions {
  readonly placement?: string;
  readonly calcs?: readonly string[];
  /** Title of a column of figures. */
  readonly sortBy?: string;
  readonly sortDesc?: boolean;
}

/** A series that the legend lists. */
export interface LegendEntry {
  readonly one: Series;
  readonly shown: boolean;
}

/** A click shows a series alone, or all again; with Ctrl or Command it switches the series. */
type Choose = (title: string, alone: boolean) => void;

/** The legend of a plot: a table with figures. */
export function drawLegend(all: readonly LegendEntry[], options: LegendOptions, choose: Choose): HTMLElement {
  const { calcs = [] } = options;
  const entries = inOrder(all, options);
  const titles = calcs.map((calc) => h('th', { scope: 'col', class: 'number' }, reducerTitle(calc)));
  const rows = entries.map((entry) =>
    h(
      'tr',
      { class: entry.shown ? null : 'off' },
      h('th', { scope: 'row' }, nameButton(entry, choose)),
      ...calcs.map((calc) => h('td', { class: 'number' }, figureOf(entry, calc))),
    ),
  );
  return h(
    'div',
    { class: 'legend', tabindex: entries.length > 3 ? 0 : null, role: 'group', 'aria-label': 'Legend' },
    h(
      'table',
      { class: 'legend-table' },
      h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Name'), ...titles)),
      h('tbody', {}, ...rows),
    ),
  );
}

const nameButton = ({ one: { field, colour }, shown }: LegendEntry, choose: Choose): HTMLElement =>
  h(
    'button',
    {
      type: 'button',
      class: 'legend-name',
      'aria-pressed': String(shown),
      title: `${field.title}: show alone, or all; with Ctrl: switch`,
      onclick: (event: MouseEvent) => choose(field.title, !(event.ctrlKey || event.metaKey)),
    },
    style(h('span', { class: 'swatch' }), { background: colour }),
    h('span', { class: 'legend-text' }, field.title),
  );

const figureOf = ({ one: { field } }: LegendEntry, calc: string): string =>
  plainText(formatValue(field, reduce(field, calc)));

/** By a column of figures where the panel says so; series without one come last. */
function inOrder(
  entries: readonly LegendEntry[],
  { calcs = [], sortBy, sortDesc = false }: LegendOptions,
): readonly LegendEntry[] {
  const calc = calcs.find((name) => reducerTitle(name) === sortBy);
  if (calc === undefined) return entries;
  const worth = ({ one: { field } }: LegendEntry): number => {
    const value = reduce(field, calc);
    return typeof value === 'number' ? value * (sortDesc ? -1 : 1) : Infinity;
  };
  return entries.toSorted((a, b) => worth(a) - worth(b));
}
