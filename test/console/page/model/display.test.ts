import { describe, expect, it } from 'vitest';
import { display } from '../../../../console/page/model/display.ts';
import { column, fieldOf, framesOf } from './sample-fields.ts';

describe('a value', () => {
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
});
