import type uPlot from 'uplot';
import { formatValue } from '../model/display.ts';
import { reduce } from '../model/reduce.ts';
import { isoTime, plainText } from '../model/units.ts';
import { createPlot } from '../plot/plot.ts';
import { joinSeries, type Series, type SeriesSet } from '../plot/series.ts';
import { h, style } from '../ui/dom.ts';
import { hideTooltip, showTooltip } from '../ui/tooltip.ts';
import { anchor, cellLinks, optionsOf, type Drawn, type PanelContext } from './context.ts';
import { drawLegend, type LegendOptions } from './legend.ts';

interface Options {
  readonly legend: LegendOptions;
  readonly tooltip: { readonly mode?: string; readonly sort?: string };
}

const MOST_ROWS = 14;

/** Lines, bars and points over time. */
export function drawTimeSeries(context: PanelContext): Drawn {
  const { panel, body, theme, frames, memory } = context;
  const options = optionsOf<Options>(panel);
  const set = joinSeries(frames, theme);
  const { series, times } = set;
  if (!series.some(({ values }) => values.some((value) => value !== null)))
    return { summary: '', empty: true };

  const hidden = (memory.get('hidden') as Set<string> | undefined) ?? new Set<string>();
  memory.set('hidden', hidden);
  const shown = series.map(({ field }) => !hidden.has(field.title));
  const choose = (index: number, alone: boolean): void => {
    const title = series[index]?.field.title ?? '';
    const isAlone = shown[index] === true && shown.filter(Boolean).length === 1;
    if (!alone) hidden[hidden.has(title) ? 'delete' : 'add'](title);
    else {
      hidden.clear();
      if (!isAlone) for (const { field } of series) if (field.title !== title) hidden.add(field.title);
    }
    context.redraw();
  };

  const area = h('div', { class: 'plot' });
  const inLegend = series.flatMap((one, index) =>
    one.field.config.custom?.hideFrom?.legend === true ? [] : [index],
  );
  const legend =
    options.legend?.showLegend === false
      ? null
      : drawLegend(
          inLegend.flatMap((index) => series[index] ?? []),
          inLegend.map((index) => shown[index] ?? true),
          options.legend ?? {},
          theme,
          (index, alone) => choose(inLegend[index] ?? 0, alone),
        );
  const beside = options.legend?.placement === 'right' && context.width > 520;
  body.classList.toggle('legend-right', beside);
  body.append(area, ...(legend === null ? [] : [legend]));
  if (legend !== null && !beside) style(legend, { 'max-height': `${legendHeight(context.height)}px` });
  const { width, height } = area.getBoundingClientRect();

  const live = h('div', { class: 'visually-hidden', 'aria-live': 'polite' });
  body.append(live);
  let pinned = false;
  const tooltip = createTooltip(context, set, shown, options.tooltip?.mode === 'single');
  const plot = createPlot({
    ...context,
    target: area,
    width: Math.max(width, 60),
    height: Math.max(height, 60),
    set,
    shown,
    onCursor(index, drawn) {
      // Panels whose crosshair only follows another's show no box.
      if (pinned || !(area.matches(':hover') || area.contains(document.activeElement))) return;
      if (index === null) hideTooltip();
      else tooltip.show(index, drawn, false);
    },
    onSelect: context.zoomTo,
  });
  const over = plot.over;
  over.addEventListener('pointerleave', () => !pinned && hideTooltip());
  over.addEventListener('click', () => {
    const { idx } = plot.cursor;
    if (idx == null || !tooltip.hasLinks) return;
    pinned = true;
    const box = tooltip.show(idx, plot, true);
    const close = (event: Event): void => {
      if (event.type === 'pointerdown' && event.target instanceof Node && box.contains(event.target)) return;
      if (event instanceof KeyboardEvent && event.key !== 'Escape') return;
      pinned = false;
      hideTooltip();
      document.removeEventListener('pointerdown', close);
      document.removeEventListener('keydown', close);
    };
    document.addEventListener('pointerdown', close);
    document.addEventListener('keydown', close);
    box.querySelector('a')?.focus();
  });
  const summary = summaryOf(series);
  area.setAttribute('role', 'img');
  area.setAttribute('aria-label', `${panel.title ?? 'Plot'}. ${summary} Arrow keys read values.`);
  area.setAttribute('tabindex', '0');
  area.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === 'Enter') return over.click();
    if (step === undefined) return;
    event.preventDefault();
    const index = Math.min(
      Math.max((plot.cursor.idx ?? (step === 1 ? -1 : times.length)) + step, 0),
      times.length - 1,
    );
    plot.setCursor({ left: plot.valToPos((times[index] ?? 0) / 1000, 'x'), top: 10 });
    live.textContent = tooltip.text(index);
  });
  area.addEventListener('blur', () => !pinned && hideTooltip());
  return {
    summary,
    span: [times[0] ?? 0, times.at(-1) ?? 0],
    destroy() {
      if (area.matches(':hover')) hideTooltip();
      plot.destroy();
    },
  };
}

const LEGEND_ROW = 21;
/** Up to two fifths of the panel, and whole rows: half a name is no name. */
const legendHeight = (height: number): number =>
  24 + LEGEND_ROW * Math.max(1, Math.floor((height * 0.42 - 24) / LEGEND_ROW));

function createTooltip(
  context: PanelContext,
  { times, series }: SeriesSet,
  shown: readonly boolean[],
  single: boolean,
) {
  const rowsAt = (index: number): { one: Series; value: number }[] =>
    series
      .flatMap((one, i) => {
        const value = one.values[index] ?? null;
        return shown[i] === true && value !== null ? [{ one, value }] : [];
      })
      .toSorted((a, b) => Number(a.one.right) - Number(b.one.right) || b.value - a.value);
  const textOf = (one: Series, value: number): string => plainText(formatValue(one.field, value));
  const notesAt = (index: number) => {
    const near = (context.range.to - context.range.from) / 100;
    const at = times[index] ?? 0;
    return context.annotations.filter(
      ({ time, timeEnd }) => at >= time - near && at <= (timeEnd ?? time) + near,
    );
  };
  return {
    hasLinks: series.some(({ field }) => (field.config.links ?? []).length > 0),
    text: (index: number): string =>
      `${isoTime(times[index] ?? 0)}: ${
        rowsAt(index)
          .map(({ one, value }) => `${one.field.title} ${textOf(one, value)}`)
          .join(', ') || 'no value'
      }`,
    show(index: number, plot: uPlot, pinned: boolean): HTMLElement {
      const all = rowsAt(index);
      const nearest = nearestTo(plot, all);
      const rows = single && nearest !== undefined ? [nearest] : all;
      const { left, top } = plot.over.getBoundingClientRect();
      const lines = rows
        .slice(0, MOST_ROWS)
        .map(({ one, value }) =>
          h(
            'tr',
            { class: one === nearest?.one && rows.length > 1 ? 'nearest' : null },
            h(
              'th',
              { scope: 'row' },
              style(h('span', { class: 'swatch' }), { background: one.colour }),
              one.field.title,
            ),
            h('td', { class: 'number' }, textOf(one, value)),
          ),
        );
      const more =
        rows.length > MOST_ROWS ? [h('p', { class: 'quiet' }, `and ${rows.length - MOST_ROWS} more`)] : [];
      const notes = notesAt(index).map(({ title, text, time }) =>
        h(
          'p',
          { class: 'tooltip-note' },
          h('b', {}, title),
          ` ${isoTime(time, false)}`,
          ...(text === '' ? [] : [h('span', {}, text)]),
        ),
      );
      const links = pinned ? linkList(context, all, nearest, index) : [];
      return showTooltip(
        left + (plot.cursor.left ?? 0),
        top + (plot.cursor.top ?? 0),
        [
          h('p', { class: 'tooltip-time' }, `${isoTime(times[index] ?? 0)} UTC`),
          h('table', {}, h('tbody', {}, ...lines)),
          ...more,
          ...notes,
          ...links,
        ],
        pinned,
      );
    },
  };
}

/** The nearest series' links first, then those of others. */
function linkList(
  context: PanelContext,
  rows: readonly { one: Series; value: number }[],
  nearest: { one: Series } | undefined,
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

function nearestTo<R extends { one: Series; value: number }>(plot: uPlot, rows: readonly R[]): R | undefined {
  const y = plot.cursor.top ?? 0;
  const distance = ({ one, value }: R): number => Math.abs(plot.valToPos(value, one.scale) - y);
  return rows.toSorted((a, b) => distance(a) - distance(b))[0];
}

function summaryOf(series: readonly Series[]): string {
  const some = series.slice(0, 6).map(({ field }) => {
    const text = (calc: string): string => plainText(formatValue(field, reduce(field, calc)));
    return `${field.title}: last ${text('lastNotNull')}, highest ${text('max')}`;
  });
  const rest = series.length > some.length ? ` And ${series.length - some.length} more series.` : '';
  return `${some.join('; ')}.${rest}`;
}
