import { expect, it } from 'vitest';
import { durationMs, readDurationMs } from '../../schemas/duration.ts';

it.each([
  ['', 0],
  ['0', 0],
  ['250ms', 250],
  ['90s', 90_000],
  ['1h30m', 5_400_000],
  ['1w', 604_800_000],
])('reads "%s" as %d milliseconds', (text, ms) => {
  expect(readDurationMs(text)).toBe(ms);
});

it('refuses what is no duration', () => {
  expect(readDurationMs('5 minutes')).toBeNull();
  expect(() => durationMs('5 minutes')).toThrow('"5 minutes" is no duration, as 90s, 5m or 1h are');
});
