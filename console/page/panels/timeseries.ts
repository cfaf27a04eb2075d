import type uPlot from 'uplot';
import { formatValue } from '../model/display.ts';
import { reduce } from '../model/reduce.ts';
import { plainText } from '../model/units.ts';
import { createPlot } from '../plot/plot.ts';
import { joinSeries, neighbour, toggleSeries, type Series, type SeriesSet } from '../plot/series.ts';
import { h, style } from '../ui/dom.ts';
import { hideTooltip } from '../ui/tooltip.ts';
import { optionsOf, type Drawn, type PanelContext } from './context.ts';
import { drawLegend, type LegendOptions } from './legend.ts';
import { createSeriesTooltip, type SeriesTooltip } from './series-tooltip.ts';

interface Options {
  readonly legend: LegendOptions;
}

/** Lines and bars over time. */
export function drawTimeSeries(context: PanelContext): Drawn {
  const { panel, body, theme, frames, memory } = context;
  const { legend = {} } = optionsOf<Options>(panel);
  const set = joinSeries(frames, theme);
  const { series, times } = set;
  if (!series.some(({ values }) => values.some((value) => value !== null)))
    return { summary: '', empty: true };

  const hidden = (memory.get('hidden') as ReadonlySet<string> | undefined) ?? new Set<string>();
  const shown = series.map(({ field }) => !hidden.has(field.title));
  const choose = (title: string, alone: boolean): void => {
    const titles = series.map(({ field }) => field.title);
    memory.set('hidden', toggleSeries(hidden, titles, title, alone));
    context.redraw();
  };
  const area = h('div', { class: 'plot' });
  const size = layOut(context, area, legend, seriesLegend(set, shown, legend, choose));
  const live = h('div', { class: 'visually-hidden', 'aria-live': 'polite' });
  body.append(live);
  const tooltip = createSeriesTooltip(context, set, shown);
  const pointer = createPointer(area, tooltip);
  const plot = createPlot({
    ...context,
    target: area,
    ...size,
    set,
    shown,
    onCursor: pointer.moved,
    onSelect: context.zoomTo,
  });
  pointer.listen(plot);
  readByKeys(area, plot, times, {
    read: (index) => (live.textContent = tooltip.text(index)),
    open: () => pointer.pin(plot),
  });
  const summary = summaryOf(series);
  area.setAttribute('role', 'img');
  area.setAttribute('aria-label', `${panel.title ?? 'Plot'}. ${summary} Arrow keys read values.`);
  area.setAttribute('tabindex', '0');
  return {
    summary,
    span: [times[0] ?? 0, times.at(-1) ?? 0],
    destroy() {
      if (area.matches(':hover')) hideTooltip();
      plot.destroy();
    },
  };
}

function seriesLegend(
  { series }: SeriesSet,
  shown: readonly boolean[],
  options: LegendOptions,
  choose: (title: string, alone: boolean) => void,
): HTMLElement {
  const listed = series.flatMap((one, index) =>
    one.field.config.custom?.hideFrom?.legend === true ? [] : [{ one, shown: shown[index] ?? true }],
  );
  return drawLegend(listed, options, choose);
}

/** Puts plot and legend beside or below each other. @returns the room of the plot */
function layOut(
  context: PanelContext,
  area: HTMLElement,
  { placement }: LegendOptions,
  legend: HTMLElement,
): { readonly width: number; readonly height: number } {
  const beside = placement === 'right' && context.width > 520;
  context.body.classList.toggle('legend-right', beside);
  context.body.append(area, legend);
  if (!beside) style(legend, { 'max-height': `${legendHeight(context.height)}px` });
  const { width, height } = area.getBoundingClientRect();
  return { width: Math.max(width, 60), height: Math.max(height, 60) };
}

const LEGEND_ROW = 21;
/** Up to two fifths of the panel, and whole rows: half a name is no name. */
const legendHeight = (height: number): number =>
  24 + LEGEND_ROW * Math.max(1, Math.floor((height * 0.42 - 24) / LEGEND_ROW));

/** The box of values follows the cursor; a click pins it, so that its links can be reached. */
function createPointer(area: HTMLElement, tooltip: SeriesTooltip) {
  let isPinned = false;
  const hide = (): void => {
    if (!isPinned) hideTooltip();
  };
  function pin(plot: uPlot): void {
    const { idx } = plot.cursor;
    if (idx == null || !tooltip.hasLinks) return;
    isPinned = true;
    const box = tooltip.show(idx, plot, true);
    const close = (event: Event): void => {
      if (event.type === 'pointerdown' && event.target instanceof Node && box.contains(event.target)) return;
      if (event instanceof KeyboardEvent && event.key !== 'Escape') return;
      isPinned = false;
      hideTooltip();
      document.removeEventListener('pointerdown', close);
      document.removeEventListener('keydown', close);
    };
    document.addEventListener('pointerdown', close);
    document.addEventListener('keydown', close);
    box.querySelector('a')?.focus();
  }
  return {
    pin,
    moved(index: number | null, plot: uPlot): void {
      // Panels whose crosshair only follows another's show no box.
      if (isPinned || !(area.matches(':hover') || area.contains(document.activeElement))) return;
      if (index === null) hideTooltip();
      else tooltip.show(index, plot, false);
    },
    listen(plot: uPlot): void {
      plot.over.addEventListener('pointerleave', hide);
      plot.over.addEventListener('click', () => pin(plot));
      area.addEventListener('blur', hide);
    },
  };
}

/** Arrow keys move the cursor, Enter pins the box of values. */
function readByKeys(
  area: HTMLElement,
  plot: uPlot,
  times: readonly number[],
  { read, open }: { readonly read: (index: number) => void; readonly open: () => void },
): void {
  area.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') return open();
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    event.preventDefault();
    const index = neighbour(plot.cursor.idx, event.key === 'ArrowLeft' ? -1 : 1, times.length);
    plot.setCursor({ left: plot.valToPos((times[index] ?? 0) / 1000, 'x'), top: 10 });
    read(index);
  });
}

function summaryOf(series: readonly Series[]): string {
  const some = series.slice(0, 6).map(({ field }) => {
    const text = (calc: string): string => plainText(formatValue(field, reduce(field, calc)));
    return `${field.title}: last ${text('lastNotNull')}, highest ${text('max')}`;
  });
  const rest = series.length > some.length ? ` And ${series.length - some.length} more series.` : '';
  return `${some.join('; ')}.${rest}`;
}
