import { describe, expect, it } from 'vitest';
import type { Field, Frame } from '../../../../console/page/model/fields.ts';
import type { CustomConfig } from '../../../../console/page/model/types.ts';
import {
  joinSeries,
  neighbour,
  stack,
  toggleSeries,
  valuesAt,
} from '../../../../console/page/plot/series.ts';

const field = (title: string, values: readonly (number | null)[], custom: CustomConfig = {}): Field => ({
  name: title,
  title,
  kind: 'number',
  labels: {},
  values,
  config: { custom },
  refId: 'A',
  range: [0, 100],
});
const frame = (times: readonly number[], ...fields: Field[]): Frame => ({
  fields: [{ ...field('time', times), kind: 'time' }, ...fields],
  length: times.length,
});

describe('series of several frames', () => {
  it('share all times, in their order; where a frame has no row, a series has no value', () => {
    const set = joinSeries([frame([30, 10], field('a', [3, 1])), frame([20], field('b', [2]))], 'dark');
    expect(set.times).toEqual([10, 20, 30]);
    expect(set.series.map(({ values, rows }) => ({ values, rows }))).toEqual([
      { values: [1, null, 3], rows: [1, -1, 0] },
      { values: [null, 2, null], rows: [-1, 0, -1] },
    ]);
  });

  it('have no value between two points that are further apart than a line crosses', () => {
    const shares = field('share', [0.9, 0.8, 0.7], { insertNulls: 10 });
    const set = joinSeries([frame([10, 20, 31], shares)], 'dark');
    expect(set.times).toEqual([10, 20, 30, 31]);
    expect(set.series[0]?.values).toEqual([0.9, 0.8, null, 0.7]);
  });

  it('leave out fields that are no numbers', () => {
    const text: Field = { ...field('t', []), kind: 'text', values: ['x'] };
    const set = joinSeries([frame([1], text, field('a', [1]))], 'dark');
    expect(set.series.map((one) => one.field.title)).toEqual(['a']);
  });
});

describe('stacked series', () => {
  const stacking = { stacking: { mode: 'normal', group: 'A' } };

  it('stand on each other, hidden ones left out', () => {
    const fields = ['a', 'b', 'c'].map((title, index) => field(title, [index + 1, 10], stacking));
    const set = joinSeries([frame([1, 2], ...fields)], 'dark');
    expect(stack(set, [true, true, true])).toEqual([
      { lower: [0, 0], upper: [1, 10] },
      { lower: [1, 10], upper: [3, 20] },
      { lower: [3, 20], upper: [6, 30] },
    ]);
    expect(stack(set, [true, false, true])[2]).toEqual({ lower: [1, 10], upper: [4, 20] });
  });
});

describe('a click in the legend', () => {
  const titles = ['a', 'b', 'c'];
  const hide = (...hidden: string[]): ReadonlySet<string> => new Set(hidden);

  it('shows a series alone, and all again when it was alone', () => {
    expect(toggleSeries(hide(), titles, 'b', true)).toEqual(hide('a', 'c'));
    expect(toggleSeries(hide('b'), titles, 'b', true)).toEqual(hide('a', 'c'));
    expect(toggleSeries(hide('a', 'c'), titles, 'b', true)).toEqual(hide());
  });

  it('with Ctrl switches one series', () => {
    expect(toggleSeries(hide(), titles, 'b', false)).toEqual(hide('b'));
    expect(toggleSeries(hide('a', 'b'), titles, 'b', false)).toEqual(hide('a'));
  });
});

describe('reading values', () => {
  it('gives those of one time, highest first, those of the right axis last, hidden ones not at all', () => {
    const right = { axisPlacement: 'right' };
    const fields = [
      field('low', [1]),
      field('volume', [900], right),
      field('high', [5]),
      field('hidden', [7]),
    ];
    const set = joinSeries([frame([1], ...fields, field('none', [null]))], 'dark');
    const shown = [true, true, true, false, true];
    expect(valuesAt(set, shown, 0).map(({ one, value }) => [one.field.title, value])).toEqual([
      ['high', 5],
      ['low', 1],
      ['volume', 900],
    ]);
  });

  it('goes from nowhere to the first or last time, and never beyond them', () => {
    expect([neighbour(null, 1, 5), neighbour(undefined, -1, 5)]).toEqual([0, 4]);
    expect([neighbour(0, -1, 5), neighbour(4, 1, 5), neighbour(2, 1, 5)]).toEqual([0, 4, 3]);
  });
});
