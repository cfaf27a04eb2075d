import type uPlot from 'uplot';
import type { ConsoleAnnotation } from '../../../schemas/console.ts';
import { formatValue } from '../model/display.ts';
import { isoTime, plainText } from '../model/units.ts';
import { valuesAt, type SeriesSet, type SeriesValue } from '../plot/series.ts';
import { h, style } from '../ui/dom.ts';
import { showTooltip } from '../ui/tooltip.ts';
import { anchor, cellLinks, type PanelContext } from './context.ts';

/** The box of a plot's values at one time. */
export interface SeriesTooltip {
  readonly hasLinks: boolean;
  /** The same as a sentence. */
  text(index: number): string;
  show(index: number, plot: uPlot, pinned: boolean): HTMLElement;
}

const MOST_ROWS = 14;

export function createSeriesTooltip(
  context: PanelContext,
  set: SeriesSet,
  shown: readonly boolean[],
): SeriesTooltip {
  const { times, series } = set;
  return {
    hasLinks: series.some(({ field }) => (field.config.links ?? []).length > 0),
    text(index) {
      const values = valuesAt(set, shown, index).map((row) => `${row.one.field.title} ${textOf(row)}`);
      return `${isoTime(times[index] ?? 0)}: ${values.join(', ') || 'no value'}`;
    },
    show(index, plot, pinned) {
      const all = valuesAt(set, shown, index);
      const nearest = nearestTo(plot, all);
      const time = times[index] ?? 0;
      const { left, top } = plot.over.getBoundingClientRect();
      const content = [
        h('p', { class: 'tooltip-time' }, `${isoTime(time)} UTC`),
        ...valueTable(all, nearest),
        ...annotationsNear(context, time).map(noteOf),
        ...(pinned ? linkList(context, all, nearest, index) : []),
      ];
      return showTooltip(left + (plot.cursor.left ?? 0), top + (plot.cursor.top ?? 0), content, pinned);
    },
  };
}

const textOf = ({ one, value }: SeriesValue): string => plainText(formatValue(one.field, value));

function valueTable(rows: readonly SeriesValue[], nearest: SeriesValue | undefined): HTMLElement[] {
  const lines = rows.slice(0, MOST_ROWS).map((row) => {
    const swatch = style(h('span', { class: 'swatch' }), { background: row.one.colour });
    return h(
      'tr',
      { class: row.one === nearest?.one && rows.length > 1 ? 'nearest' : null },
      h('th', { scope: 'row' }, swatch, row.one.field.title),
      h('td', { class: 'number' }, textOf(row)),
    );
  });
  const table = h('table', {}, h('tbody', {}, ...lines));
  if (rows.length <= MOST_ROWS) return [table];
  return [table, h('p', { class: 'quiet' }, `and ${rows.length - MOST_ROWS} more`)];
}

/** Annotations within a hundredth of the range. */
function annotationsNear({ range, annotations }: PanelContext, at: number): ConsoleAnnotation[] {
  const near = (range.to - range.from) / 100;
  return annotations.filter(({ time, timeEnd }) => at >= time - near && at <= (timeEnd ?? time) + near);
}

const noteOf = ({ title, text, time }: ConsoleAnnotation): HTMLElement =>
  h(
    'p',
    { class: 'tooltip-note' },
    h('b', {}, title),
    ` ${isoTime(time, false)}`,
    ...(text === '' ? [] : [h('span', {}, text)]),
  );

/** The nearest series' links first, then those of others. */
function linkList(
  context: PanelContext,
  rows: readonly SeriesValue[],
  nearest: SeriesValue | undefined,
  index: number,
): HTMLElement[] {
  const ordered = rows.toSorted((a, b) => Number(b.one === nearest?.one) - Number(a.one === nearest?.one));
  const links = ordered.flatMap(({ one }) =>
    cellLinks(context, one.frame, one.field, one.rows[index] ?? -1).map((link) => ({
      link,
      name: one.field.title,
    })),
  );
  if (links.length === 0) return [];
  return [
    h(
      'ul',
      { class: 'tooltip-links' },
      ...links.slice(0, 6).map(({ link, name }) => h('li', {}, anchor(link, `${link.title}: ${name}`))),
    ),
  ];
}

function nearestTo(plot: uPlot, rows: readonly SeriesValue[]): SeriesValue | undefined {
  const y = plot.cursor.top ?? 0;
  const distance = ({ one, value }: SeriesValue): number => Math.abs(plot.valToPos(value, one.scale) - y);
  return rows.toSorted((a, b) => distance(a) - distance(b))[0];
}
