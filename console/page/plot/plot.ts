import uPlot from 'uplot';
import type { ConsoleAnnotation } from '../../../schemas/console.ts';
import { toCss, withAlpha, type Theme } from '../model/colours.ts';
import type { TimeRange } from '../model/time-range.ts';
import { textWidth } from '../ui/measure.ts';
import { STEPS_MS, timeLabels, valueIncrements, valueLabels } from './axis-text.ts';
import { stack, type Series, type SeriesSet, type Stacked } from './series.ts';

export interface PlotOptions {
  readonly target: HTMLElement;
  readonly width: number;
  readonly height: number;
  readonly set: SeriesSet;
  readonly shown: readonly boolean[];
  readonly range: TimeRange;
  readonly intervalMs: number;
  readonly theme: Theme;
  readonly annotations: readonly ConsoleAnnotation[];
  /** The cursor moved to a point in time (an index of the set's times), or away (null). */
  readonly onCursor: (index: number | null, plot: uPlot) => void;
  readonly onSelect: (from: number, to: number) => void;
}

const FONT = `11px ${getComputedStyle(document.documentElement).fontFamily}`;
const INK = {
  dark: { text: '#a2a7b3', grid: 'rgba(204, 204, 220, 0.08)', cursor: 'rgba(204, 204, 220, 0.5)' },
  light: { text: '#5a6270', grid: 'rgba(36, 41, 46, 0.09)', cursor: 'rgba(36, 41, 46, 0.5)' },
} as const;

/** Draws lines and bars with uPlot, the library that Grafana's own time series panel draws with. */
export function createPlot(options: PlotOptions): uPlot {
  const { set, shown, range, theme, target, width, height } = options;
  const stacked = stack(set, shown);
  const scales = scaleKeys(set);
  const plotOptions: uPlot.Options = {
    width,
    height,
    ms: 1e-3,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    padding: [8, rightAxis(set) === null ? 12 : null, 0, null],
    legend: { show: false },
    focus: { alpha: 1 },
    cursor: {
      sync: { key: 'gatewatch', setSeries: false },
      drag: { x: true, y: false, dist: 6, setScale: false },
      points: { size: 7, width: 0, fill: (_, index) => set.series[index - 1]?.colour ?? '' },
    },
    scales: {
      x: { time: true, range: () => [range.from / 1000, range.to / 1000] },
      ...Object.fromEntries(scales.map((key) => [key, { range: valueRange(set, key) }])),
    },
    axes: [xAxis(range, theme), ...scales.map((key) => yAxis(set, key, theme))],
    series: [
      {},
      ...set.series.map((one, index) => seriesOptions(one, stacked[index], shown[index] ?? true, options)),
    ],
    bands: bandsOf(set, stacked, shown),
    hooks: {
      drawClear: [(plot) => drawRegions(plot, options)],
      draw: [(plot) => (drawThresholds(plot, options), drawAnnotations(plot, options))],
      setCursor: [(plot) => options.onCursor(hovered(plot), plot)],
      setSelect: [
        (plot) => {
          const { left, width: wide } = plot.select;
          if (wide < 6) return;
          options.onSelect(plot.posToVal(left, 'x') * 1000, plot.posToVal(left + wide, 'x') * 1000);
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
    },
  };
  const data = [set.times.map((time) => time / 1000), ...stacked.map(({ upper }) => upper)];
  return new uPlot(plotOptions, data as unknown as uPlot.AlignedData, target);
}

const hovered = (plot: uPlot): number | null =>
  plot.cursor.idx === undefined || plot.cursor.idx === null || (plot.cursor.left ?? -1) < 0
    ? null
    : plot.cursor.idx;

const scaleKeys = (set: SeriesSet): string[] => {
  const keys = [...new Set(set.series.map(({ scale }) => scale))];
  // Volumes on the right lie behind what they belong to.
  return keys.length === 0 ? ['y'] : keys;
};
const rightAxis = (set: SeriesSet): Series | null => set.series.find(({ right }) => right) ?? null;

function valueRange(set: SeriesSet, key: string): uPlot.Scale.Range {
  const config = set.series.find(({ scale }) => scale === key)?.field.config;
  const volume = set.series.some(({ scale, right }) => scale === key && right);
  return (_, low, high): uPlot.Range.MinMax => {
    const [least, most] = [config?.min ?? null, config?.max ?? null];
    const top = most ?? high ?? 0;
    const bottom = least ?? low ?? 0;
    if (!Number.isFinite(top) || !Number.isFinite(bottom) || top <= bottom)
      return [bottom || 0, (bottom || 0) + 1];
    const room = (top - bottom) * (volume ? 0.25 : 0.08);
    return [least ?? (bottom >= 0 && bottom - room < 0 ? 0 : bottom - room), most ?? top + room];
  };
}

function xAxis(range: TimeRange, theme: Theme): uPlot.Axis {
  return {
    stroke: INK[theme].text,
    font: FONT,
    size: 26,
    gap: 4,
    space: 78,
    incrs: STEPS_MS.map((ms) => ms / 1000),
    grid: { stroke: INK[theme].grid, width: 1 },
    ticks: { stroke: INK[theme].grid, width: 1, size: 4 },
    values: (_, ticks) =>
      timeLabels(
        ticks.map((tick) => tick * 1000),
        range.to - range.from,
      ),
  };
}

function yAxis(set: SeriesSet, scale: string, theme: Theme): uPlot.Axis {
  const one = set.series.find((series) => series.scale === scale);
  const config = one?.field.config;
  const increments = valueIncrements(config?.unit, config?.decimals);
  return {
    scale,
    side: one?.right === true ? 1 : 3,
    stroke: INK[theme].text,
    font: FONT,
    gap: 6,
    space: 34,
    size: (_, values) =>
      Math.ceil(14 + Math.max(0, ...(values ?? []).map((text) => textWidth(text, '11px')))),
    grid: { show: one?.right !== true, stroke: INK[theme].grid, width: 1 },
    ticks: { show: false },
    values: (_, ticks) => valueLabels(ticks, config?.unit),
    ...(increments === null ? {} : { incrs: increments }),
  };
}

function seriesOptions(
  one: Series,
  stacked: Stacked | undefined,
  show: boolean,
  options: PlotOptions,
): uPlot.Series {
  const { drawStyle = 'line', lineWidth = 1, fillOpacity = 0, lineStyle } = customOf(one);
  const isBars = drawStyle === 'bars';
  const isFilled = fillOpacity !== 0 && (stacked?.lower === null || isBars);
  return {
    scale: one.scale,
    label: one.field.title,
    show,
    stroke: one.colour,
    width: lineWidth,
    ...(isFilled ? { fill: withAlpha(one.colour, fillOpacity / 100) } : {}),
    ...(lineStyle?.fill === 'dash' ? { dash: [...(lineStyle.dash ?? [10, 10])] } : {}),
    ...(isBars ? barOptions(one, stacked, options) : lineOptions(one, options)),
  };
}

const customOf = ({ field }: Series): NonNullable<Series['field']['config']['custom']> =>
  field.config.custom ?? {};

function barOptions(
  one: Series,
  stacked: Stacked | undefined,
  { width, range, intervalMs }: PlotOptions,
): Partial<uPlot.Series> {
  const { barAlignment = 0 } = customOf(one);
  const widest = Math.max((width * intervalMs) / (range.to - range.from), 2);
  const paths = uPlot.paths.bars?.({
    size: [0.8, widest, 1],
    align: barAlignment,
    ...(stacked?.lower == null ? {} : { disp: stackedBars(stacked) }),
  });
  return { points: { show: false }, ...(paths === undefined ? {} : { paths }) };
}

function lineOptions(one: Series, { set, width }: PlotOptions): Partial<uPlot.Series> {
  const { pointSize = 5, showPoints } = customOf(one);
  const dense = set.times.length > width / 24;
  return {
    points: {
      size: Math.max(pointSize, 4),
      width: 0,
      fill: one.colour,
      show: () => showPoints !== 'never' && !dense,
      // A value between two holes has no line: only a point shows it.
      filter: (plot, index, all) => (all ? null : alone(plot.data[index] ?? [])),
    },
  };
}

const alone = (values: ArrayLike<number | null | undefined>): number[] => {
  const found: number[] = [];
  for (let i = 0; i < values.length; i++)
    if (values[i] != null && values[i - 1] == null && values[i + 1] == null) found.push(i);
  return found;
};

function stackedBars({ lower, upper }: Stacked): uPlot.Series.BarsPathBuilderDisplay {
  return {
    y0: { unit: 1, values: () => [...(lower ?? [])] as number[] },
    y1: { unit: 1, values: () => [...upper] as number[] },
  };
}

/** Fills between stacked lines. */
function bandsOf(set: SeriesSet, stacked: readonly Stacked[], shown: readonly boolean[]): uPlot.Band[] {
  const bands: uPlot.Band[] = [];
  let below: number | null = null;
  set.series.forEach(({ field, colour }, index) => {
    const { drawStyle = 'line', fillOpacity = 0 } = field.config.custom ?? {};
    if (drawStyle !== 'line' || stacked[index]?.lower == null || shown[index] !== true) return;
    const fill = withAlpha(colour, fillOpacity / 100);
    if (below !== null) bands.push({ series: [index + 1, below], fill });
    below = index + 1;
  });
  return bands;
}

/** Threshold lines, once for each scale that wants them. */
function drawThresholds(plot: uPlot, { set, theme }: PlotOptions): void {
  const done = new Set<string>();
  const { ctx, bbox } = plot;
  for (const { field, scale } of set.series) {
    const { custom, thresholds } = field.config;
    if (custom?.thresholdsStyle?.mode !== 'dashed' || done.has(scale)) continue;
    done.add(scale);
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.lineWidth = 1.5 * devicePixelRatio;
    ctx.setLineDash([8 * devicePixelRatio, 6 * devicePixelRatio]);
    for (const { value, color } of thresholds?.steps ?? []) {
      if (value === null || color === 'transparent') continue;
      const y = plot.valToPos(value, scale, true);
      ctx.strokeStyle = withAlpha(toCss(color, theme), 0.85);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
    }
    ctx.restore();
  }
}

function drawRegions(plot: uPlot, { annotations, theme }: PlotOptions): void {
  const { ctx, bbox } = plot;
  for (const { time, timeEnd, colour } of annotations) {
    if (timeEnd === null) continue;
    const [from, to] = [time, timeEnd].map((ms) =>
      clamp(plot.valToPos(ms / 1000, 'x', true), bbox.left, bbox.left + bbox.width),
    );
    ctx.fillStyle = withAlpha(toCss(colour, theme), 0.12);
    ctx.fillRect(from ?? 0, bbox.top, (to ?? 0) - (from ?? 0), bbox.height);
  }
}

function drawAnnotations(plot: uPlot, { annotations, theme }: PlotOptions): void {
  const { ctx, bbox } = plot;
  const size = 5 * devicePixelRatio;
  ctx.save();
  for (const { time, timeEnd, colour } of annotations)
    for (const ms of timeEnd === null ? [time] : [time, timeEnd]) {
      const x = plot.valToPos(ms / 1000, 'x', true);
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      const ink = toCss(colour, theme);
      ctx.strokeStyle = ink;
      ctx.fillStyle = ink;
      ctx.lineWidth = devicePixelRatio;
      ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      const bottom = bbox.top + bbox.height;
      ctx.beginPath();
      ctx.moveTo(x - size, bottom + size);
      ctx.lineTo(x + size, bottom + size);
      ctx.lineTo(x, bottom);
      ctx.fill();
    }
  ctx.restore();
}

const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);
