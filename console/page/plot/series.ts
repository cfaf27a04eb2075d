import type { Theme } from '../model/colours.ts';
import { seriesColour } from '../model/display.ts';
import type { Field, Frame } from '../model/fields.ts';

/** One line or set of bars, over the times that all of a panel's series share. */
export interface Series {
  readonly field: Field;
  readonly frame: Frame;
  readonly colour: string;
  /** Scale of its values: series of the same unit and side share one. */
  readonly scale: string;
  readonly right: boolean;
  /** Values at the shared times. */
  readonly values: readonly (number | null)[];
  /** Row of the frame at each shared time, -1 where it has none. */
  readonly rows: readonly number[];
}

export interface SeriesSet {
  /** Epoch milliseconds, ascending. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
}

/** Series of all frames over one time axis. */
export function joinSeries(frames: readonly Frame[], theme: Theme): SeriesSet {
  const usable = frames.flatMap((frame) => {
    const time = frame.fields.find(({ kind }) => kind === 'time');
    return time === undefined ? [] : [{ frame, instants: time.values as (number | null)[] }];
  });
  const known = [...new Set(usable.flatMap(({ instants }) => instants))]
    .filter((time): time is number => time !== null)
    .toSorted((a, b) => a - b);
  const times = withGaps(known, longestStep(frames));
  const series: Series[] = [];
  for (const { frame, instants } of usable) {
    const rowAt = new Map(instants.map((time, row) => [time, row]));
    const rows = times.map((time) => rowAt.get(time) ?? -1);
    for (const field of frame.fields) {
      if (field.kind !== 'number' && field.kind !== 'boolean') continue;
      const { unit, min, max, custom } = field.config;
      const placement = custom?.axisPlacement;
      const right = placement === 'right';
      series.push({
        field,
        frame,
        colour: seriesColour(field, theme, series.length),
        scale: [unit ?? '', placement ?? 'auto', min ?? '', max ?? ''].join('|'),
        right,
        values: rows.map((row) => numberAt(field, row)),
        rows,
      });
    }
  }
  return { times, series };
}

/** The longest time between two points that a line crosses, in milliseconds. */
function longestStep(frames: readonly Frame[]): number {
  const steps = frames.flatMap(({ fields }) => fields.map(({ config }) => config.custom?.insertNulls));
  return Math.min(...steps.filter((step) => typeof step === 'number'), Infinity);
}

/** With a time that no series has wherever the next is further away. */
const withGaps = (times: readonly number[], longest: number): number[] =>
  times.flatMap((time, index) =>
    (times[index + 1] ?? time) - time > longest ? [time, time + longest] : [time],
  );

function numberAt({ values }: Field, row: number): number | null {
  const value = row === -1 ? null : values[row];
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** Where each series begins and ends once those of one group stand on each other; others begin at null. */
export interface Stacked {
  readonly lower: readonly (number | null)[] | null;
  readonly upper: readonly (number | null)[];
}

/** @param shown which series take part: hidden ones leave no gap */
export function stack({ times, series }: SeriesSet, shown: readonly boolean[]): Stacked[] {
  const sums = new Map<string, number[]>();
  return series.map((one, index) => {
    const { mode = 'none', group = 'A' } = one.field.config.custom?.stacking ?? {};
    if (mode === 'none' || shown[index] !== true) return { lower: null, upper: one.values };
    const key = stackKey(one, group);
    const sum = sums.get(key) ?? times.map(() => 0);
    const lower = [...sum];
    const upper = one.values.map((value, row) => {
      if (value === null) return null;
      sum[row] = (sum[row] ?? 0) + value;
      return sum[row];
    });
    sums.set(key, sum);
    return { lower, upper };
  });
}

const stackKey = (one: Series, group: string): string =>
  `${group}|${one.scale}|${one.field.config.custom?.drawStyle ?? 'line'}`;

/**
 * Which series are hidden after a click on one in the legend.
 * @param alone shows it alone, or all again when it was alone; otherwise the series alone is switched
 * @param hidden titles
 */
export function toggleSeries(
  hidden: ReadonlySet<string>,
  titles: readonly string[],
  title: string,
  alone: boolean,
): ReadonlySet<string> {
  if (!alone) {
    const others = [...hidden].filter((one) => one !== title);
    return new Set(hidden.has(title) ? others : [...others, title]);
  }
  const shown = titles.filter((one) => !hidden.has(one));
  const wasAlone = shown.length === 1 && shown[0] === title;
  return new Set(wasAlone ? [] : titles.filter((one) => one !== title));
}

export interface SeriesValue {
  readonly one: Series;
  readonly value: number;
}

/** The values of the shown series at one of the set's times: highest first, those of the right axis last. */
export function valuesAt({ series }: SeriesSet, shown: readonly boolean[], index: number): SeriesValue[] {
  return series
    .flatMap((one, i) => {
      const value = one.values[index] ?? null;
      return shown[i] === true && value !== null ? [{ one, value }] : [];
    })
    .toSorted((a, b) => Number(a.one.right) - Number(b.one.right) || b.value - a.value);
}

/** The time that an arrow key leads to: from nowhere to the first or the last, and never beyond them. */
export const neighbour = (index: number | null | undefined, step: -1 | 1, length: number): number =>
  Math.min(Math.max((index ?? (step === 1 ? -1 : length)) + step, 0), length - 1);
