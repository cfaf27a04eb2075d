import { describe, expect, it } from 'vitest';
import { intervalFor } from '../../../console/server/interval.ts';

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
