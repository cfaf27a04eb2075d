import { describe, expect, it } from 'vitest';
import {
  describeRange,
  parseTime,
  resolveRange,
  shift,
  stamp,
  zoomOut,
} from '../../../../console/page/model/time-range.ts';

const NOW = Date.UTC(2026, 10, 21, 10, 15, 30);

describe('a time', () => {
  it.each([
    ['now', '2026-11-21 10:15:30'],
    ['now-3h', '2026-11-21 07:15:30'],
    ['now-1d/d', '2026-11-20 00:00:00'],
    ['now/w', '2026-11-16 00:00:00'],
    ['now-1h+30m', '2026-11-21 09:45:30'],
    ['2026-11-20 08:00', '2026-11-20 08:00:00'],
    ['2026-11-20T08:00:00+02:00', '2026-11-20 06:00:00'],
    ['2026-11-20', '2026-11-20 00:00:00'],
    [String(NOW), '2026-11-21 10:15:30'],
  ])('%s is %s', (text, expected) => {
    expect(stamp(parseTime(text, NOW) ?? 0)).toBe(expected);
  });

  it.each(['yesterday', 'now-3x', 'now-3h; DROP', '', '12'])('%s is none', (text) => {
    expect(parseTime(text, NOW)).toBeNull();
  });

  it('at the end of a range means the end of its day', () => {
    const today = resolveRange({ from: 'now/d', to: 'now/d' }, NOW);
    expect([today?.from, today?.to].map((ms) => stamp(ms ?? 0))).toEqual([
      '2026-11-21 00:00:00',
      '2026-11-21 23:59:59',
    ]);
    expect(resolveRange({ from: 'now', to: 'now-1h' }, NOW)).toBeNull();
  });
});

describe('a range', () => {
  it.each([
    [{ from: 'now-15m', to: 'now' }, 'Last 15 minutes'],
    [{ from: 'now-90m', to: 'now' }, 'Last 90 minutes'],
    [{ from: String(NOW), to: String(NOW + 60_000) }, '2026-11-21 10:15:30 to 10:16:30'],
    [{ from: String(NOW), to: String(NOW + 86_400_000) }, '2026-11-21 10:15:30 to 2026-11-22 10:15:30'],
  ])('is called by its name', (range, expected) => {
    expect(describeRange(range, NOW)).toBe(expected);
  });

  it('doubles by zooming out, and never reaches into the future', () => {
    const range = { from: NOW - 3_600_000, to: NOW };
    expect(zoomOut(range, NOW)).toEqual({ from: String(NOW - 7_200_000), to: String(NOW) });
    expect(shift(range, -1, NOW)).toEqual({ from: String(NOW - 5_400_000), to: String(NOW - 1_800_000) });
    expect(shift(range, 1, NOW)).toEqual({ from: String(range.from), to: String(NOW) });
  });
});
