import { describe, expect, it } from 'vitest';
import { display } from '../../../console/page/model/display.ts';
import { toFrames } from '../../../console/page/model/fields.ts';
import { reduce } from '../../../console/page/model/reduce.ts';
import type { Panel } from '../../../console/page/model/types.ts';
import type { ConsoleColumn } from '../../../schemas/console.ts';

const panel = (fieldConfig: Panel['fieldConfig'] = {}): Panel => ({
  id: 1,
  type: 'timeseries',
  gridPos: { x: 0, y: 0, w: 1, h: 1 },
  ...(fieldConfig === undefined ? {} : { fieldConfig }),
});
const column = (name: string, kind: ConsoleColumn['kind'], ...values: unknown[]): ConsoleColumn => ({
  name,
  kind,
  values,
});
const framesOf = (columns: ConsoleColumn[], format = 0, config?: Panel['fieldConfig']) =>
  toFrames(panel(config), [{ refId: 'A', format, columns }]);

describe('a long result', () => {
  const long = [
    column('time', 'time', 1, 1, 2, 3),
    column('group', 'text', 'TECH', 'USER', 'TECH', 'USER'),
    column('orders', 'number', 10, 1, 20, 3),
  ];

  it('becomes a series for each set of texts, with holes where it had no row', () => {
    const [frame] = framesOf(long);
    expect(frame?.fields.map(({ title, values }) => [title, values])).toEqual([
      ['time', [1, 2, 3]],
      ['orders TECH', [10, 20, null]],
      ['orders USER', [1, null, 3]],
    ]);
  });

  it('names series by all labels when there are several', () => {
    const [frame] = framesOf([...long, column('stage', 'text', 'a', 'b', 'a', 'b')]);
    expect(frame?.fields.map(({ title }) => title)).toEqual([
      'time',
      'orders {group="TECH", stage="a"}',
      'orders {group="USER", stage="b"}',
    ]);
  });

  it('stays as it is without numbers, as states do', () => {
    const [frame] = framesOf([column('time', 'time', 1, 2), column('state', 'text', 'a', 'b')]);
    expect(frame?.fields.map(({ name, values }) => [name, values])).toEqual([
      ['time', [1, 2]],
      ['state', ['a', 'b']],
    ]);
  });

  it('takes overrides by name, pattern and type, the later over the earlier', () => {
    const [frame] = framesOf(long, 0, {
      defaults: { unit: 'short', custom: { lineWidth: 2, fillOpacity: 10 } },
      overrides: [
        { matcher: { id: 'byType', options: 'number' }, properties: [{ id: 'decimals', value: 1 }] },
        {
          matcher: { id: 'byRegexp', options: '/\\bTECH\\b/' },
          properties: [
            { id: 'displayName', value: 'lost to ${__field.labels.group}' },
            { id: 'custom.fillOpacity', value: 80 },
            { id: 'custom.stacking', value: { mode: 'normal' } },
            { id: 'unit', value: null },
          ],
        },
        { matcher: { id: 'byName', options: 'orders USER' }, properties: [{ id: 'decimals', value: 3 }] },
      ],
    });
    const [, tech, user] = frame?.fields ?? [];
    expect(tech).toMatchObject({
      title: 'lost to TECH',
      config: { decimals: 1, custom: { lineWidth: 2, fillOpacity: 80, stacking: { mode: 'normal' } } },
    });
    expect(tech?.config.unit).toBeUndefined();
    expect(user).toMatchObject({ title: 'orders USER', config: { unit: 'short', decimals: 3 } });
  });

  it('tells equal names apart by numbers', () => {
    const [frame] = framesOf(long, 0, { defaults: { displayName: 'orders' } });
    expect(frame?.fields.slice(1).map(({ title }) => title)).toEqual(['orders 2', 'orders 3']);
  });
});

describe('a value', () => {
  const fieldOf = (config: NonNullable<Panel['fieldConfig']>['defaults'], ...values: unknown[]) => {
    const [frame] = framesOf([column('x', typeof values[0] === 'string' ? 'text' : 'number', ...values)], 1, {
      defaults: config ?? {},
    });
    const [field] = frame?.fields ?? [];
    if (field === undefined) throw new Error('no field');
    return field;
  };
  const limits = {
    mode: 'absolute',
    steps: [
      { value: null, color: 'green' },
      { value: 0.95, color: 'orange' },
      { value: 1, color: 'red' },
    ],
  };

  it.each([
    [0.5, '#73bf69'],
    [0.95, '#ff9830'],
    [7, '#f2495c'],
  ])('%d has the colour of the step it reaches', (value, colour) => {
    expect(
      display(fieldOf({ thresholds: limits, color: { mode: 'thresholds' } }, value), value, 'dark').colour,
    ).toBe(colour);
  });

  it('reads percentages of its range', () => {
    const thresholds = {
      mode: 'percentage',
      steps: [
        { value: null, color: 'green' },
        { value: 80, color: 'red' },
      ],
    };
    const field = fieldOf({ thresholds, color: { mode: 'thresholds' }, min: 0, max: 200 }, 150, 170);
    expect([150, 170].map((value) => display(field, value, 'light').colour)).toEqual(['#56a64b', '#e02f44']);
  });

  it('is mapped before it is formatted', () => {
    const mappings = [
      { type: 'value', options: { '11': { text: '11 TIMEOUT', color: 'red' } } },
      { type: 'range', options: { from: 50, to: null, result: { text: 'many' } } },
      { type: 'regex', options: { pattern: '/^4\\.(.*)/', result: { text: 'check $1' } } },
      { type: 'special', options: { match: 'null', result: { text: 'none' } } },
    ] as const;
    const shown = (value: unknown) => display(fieldOf({ mappings, unit: 'short' }, 1), value, 'dark').text;
    expect([11, '11', 60, '4.1.4.63', null, 12, 'constructor'].map(shown)).toEqual([
      '11 TIMEOUT',
      '11 TIMEOUT',
      'many',
      'check 1.4.63',
      'none',
      '12',
      'constructor',
    ]);
  });

  it('that is missing shows what the panel says of it', () => {
    expect(display(fieldOf({ noValue: 'no traffic' }, null), null, 'dark').text).toBe('no traffic');
  });

  it('is coloured over what all numbers of the panel reach over, unless its field stands alone', () => {
    const color = { mode: 'continuous-reds' };
    const columns = [column('a', 'number', 0, 10), column('b', 'number', 0, 100)];
    const colourOf = (fieldMinMax: boolean) => {
      const [frame] = framesOf(columns, 1, { defaults: { color, fieldMinMax } });
      const field = frame?.fields[0];
      return field === undefined ? '' : display(field, 10, 'dark').colour;
    };
    expect(colourOf(true)).toBe('#c4162a');
    expect(colourOf(false)).not.toBe('#c4162a');
  });

  it.each([
    ['lastNotNull', 3],
    ['last', null],
    ['first', 5],
    ['min', 1],
    ['max', 5],
    ['mean', 3],
    ['median', 3],
    ['sum', 9],
    ['count', 4],
    ['toString', null],
  ])('of many, by %s, is %s', (calc, expected) => {
    expect(reduce(fieldOf({}, 5, 1, 3, null), calc)).toBe(expected);
  });
});
