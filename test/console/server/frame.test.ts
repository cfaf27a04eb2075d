import { describe, expect, it } from 'vitest';
import { kindOf, toFrame } from '../../../console/server/frame.ts';

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
