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

  it('is mapped before it is formatted', () => {
    const mappings = [{ type: 'value', options: { '11': { text: '11 TIMEOUT', color: 'red' } } }] as const;
    const shown = (value: unknown) => display(fieldOf({ mappings, unit: 'short' }, 1), value, 'dark').text;
    expect([11, '11', 12, 'constructor'].map(shown)).toEqual([
      '11 TIMEOUT',
      '11 TIMEOUT',
      '12',
      'constructor',
    ]);
  });

  it('that is missing shows what the panel says of it', () => {
    expect(display(fieldOf({ noValue: 'no traffic' }, null), null, 'dark').text).toBe('no traffic');
  });

  it('is coloured over what all numbers of the panel reach over', () => {
    const columns = [column('a', 'number', 0, 50), column('b', 'number', 0, 100)];
    const [frame] = framesOf(columns, 1, { defaults: { color: { mode: 'continuous-reds' } } });
    const colourOf = (index: number, value: number): string => {
      const field = frame?.fields[index];
      return field === undefined ? '' : display(field, value, 'dark').colour;
    };
    expect(colourOf(1, 100)).toBe('#c4162a');
    expect(colourOf(0, 50)).toBe(colourOf(1, 50));
    expect(colourOf(0, 50)).not.toBe('#c4162a');
  });
});
