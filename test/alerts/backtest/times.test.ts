import { describe, expect, it } from 'vitest';
import { durationSeconds, instant, spanText } from '../../../alerts/backtest/times.ts';

const NOW = new Date('2026-03-02T12:00:00Z');

describe('times on the command line', () => {
  it.each([
    ['90s', 90],
    ['5m', 300],
    ['1h30m', 5400],
    ['2w', 1_209_600],
    ['', null],
    ['5', null],
    ['5x', null],
  ])('reads the duration %s', (text, seconds) => {
    expect(durationSeconds(text)).toBe(seconds);
  });
  it.each([
    ['now', '2026-03-02T12:00:00.000Z'],
    ['7d', '2026-02-23T12:00:00.000Z'],
    ['2026-02-01', '2026-02-01T00:00:00.000Z'],
    ['2026-02-01 10:30', '2026-02-01T10:30:00.000Z'],
    ['2026-02-01T10:30:00+02:00', '2026-02-01T08:30:00.000Z'],
  ])('reads the instant %s', (text, iso) => {
    expect(instant(text, NOW)?.toISOString()).toBe(iso);
  });
  it('takes nothing else for an instant', () => {
    for (const text of ['yesterday', '5', '2026', '2026-13-01']) expect(instant(text, NOW)).toBeNull();
  });
  it('writes spans in two units', () => {
    expect([45, 90, 3600, 7500, 90_000].map(spanText)).toEqual(['45s', '1m 30s', '1h', '2h 05m', '1d 01h']);
  });
});
