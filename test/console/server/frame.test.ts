import { describe, expect, it } from 'vitest';
import { kindOf, toFrame } from '../../../console/server/frame.ts';
import { intervalFor } from '../../../console/server/interval.ts';
import { problemText } from '../../../store/problem-text.ts';

describe('a frame', () => {
  it.each([
    ['UInt64', 'number'],
    ['Nullable(Float64)', 'number'],
    ['Decimal(18, 2)', 'number'],
    ['LowCardinality(Nullable(String))', 'text'],
    ["Enum8('a' = 1)", 'text'],
    ["DateTime64(6, 'UTC')", 'time'],
    ["Nullable(DateTime('UTC'))", 'time'],
    ['Bool', 'boolean'],
    ['Array(Map(String, String))', 'other'],
  ])('has %s as %s', (type, kind) => {
    expect(kindOf(type)).toBe(kind);
  });

  it('is by columns, with times in milliseconds and holes as null', () => {
    const meta = [
      { name: 'time', type: "DateTime64(6, 'UTC')" },
      { name: 'day', type: 'Date' },
      { name: 'n', type: 'Nullable(UInt64)' },
      { name: 'name', type: 'String' },
    ];
    const data = [
      { time: '2026-11-21 10:15:30.250000', day: '2026-11-21', n: '18446744073709551615', name: 'a' },
      { time: '1970-01-01 00:00:00.000000', day: null, n: null, name: '' },
    ];
    expect(toFrame('A', 0, { meta, data })).toEqual({
      refId: 'A',
      format: 0,
      columns: [
        { name: 'time', kind: 'time', values: [Date.UTC(2026, 10, 21, 10, 15, 30, 250), 0] },
        { name: 'day', kind: 'time', values: [Date.UTC(2026, 10, 21), null] },
        { name: 'n', kind: 'number', values: [2 ** 64, null] },
        { name: 'name', kind: 'text', values: ['a', ''] },
      ],
    });
  });
});

describe('the width of a bucket', () => {
  it.each([
    ['six hours in a wide panel', 6 * 3_600_000, 900, '1m', 60_000],
    ['a quarter of an hour, by the panel’s least width', 900_000, 900, '1m', 60_000],
    ['a quarter of an hour without one', 900_000, 900, undefined, 1_000],
    ['a week', 7 * 86_400_000, 600, '1m', 900_000],
    ['five years', 5 * 366 * 86_400_000, 10, '1m', 2_592_000_000],
  ])('%s', (_, rangeMs, points, least, expected) => {
    expect(intervalFor(rangeMs, points, least)).toBe(expected);
  });
});

describe('the text of a failure', () => {
  it('is one short paragraph without the statement', () => {
    const text =
      'Code: 47. DB::Exception: Unknown expression identifier `x` in scope SELECT secret FROM t. (UNKNOWN_IDENTIFIER) (version 26.7.1.1 (official build))';
    expect(problemText(new Error(text))).toBe('Code: 47. DB::Exception: Unknown expression identifier `x`');
    expect(problemText(new Error('a '.repeat(1000)))).toHaveLength(300);
  });
});
