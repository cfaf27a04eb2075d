import { describe, expect, it } from 'vitest';
import { type ActivityRow, usualShare, usualShareOfSlice } from '../../../alerts/count/usual.ts';

/** Four hours of each day, with 100 orders an hour unless said, and a share of them affected. */
const hours = (days: readonly number[], share: number, seen = 100): ActivityRow[] =>
  days.flatMap((day) =>
    [0, 1, 2, 3].map((place) => ({
      gateway: 'acme',
      slice: '',
      label: '',
      day,
      place,
      seen,
      hit: Math.round(share * seen),
    })),
  );
const WEEKS = [7, 14, 21, 28];
const DAYS = [1, 2, 3];

describe('the usual share', () => {
  it('is unknown of a gateway that is known since yesterday', () => {
    expect(usualShare(hours([1], 0.02))).toBeNull();
    expect(usualShare([])).toBeNull();
  });

  it('is that of the last two days while there are no other weeks', () => {
    expect(usualShare(hours([1, 2], 0.02))?.share).toBeCloseTo(0.025, 3);
  });

  it('is that of the weeks where the last days were better', () => {
    expect(usualShare([...hours(WEEKS, 0.06), ...hours(DAYS, 0.01)])?.share).toBeCloseTo(0.064, 3);
  });

  it('follows a deployment that changed it within two days', () => {
    const before = hours([...WEEKS, 3], 0.01);
    expect(usualShare([...before, ...hours([2], 0.01), ...hours([1], 0.08)])?.share).toBeCloseTo(0.015, 3);
    expect(usualShare([...before, ...hours([1, 2], 0.08)])?.share).toBeCloseTo(0.084, 3);
  });

  it('is not that of an incident: of one week, nor of four hours of yesterday', () => {
    const rows = [
      ...hours([7, 14, 28], 0.02),
      ...hours([21], 0.9),
      ...hours([2, 3], 0.02),
      ...hours([1], 0.9),
    ];
    expect(usualShare(rows)?.share).toBeCloseTo(0.025, 3);
  });

  it('of a slice with few orders an hour is that of all its hours together', () => {
    const few = hours(WEEKS, 0.25, 4);
    expect(usualShare(few)).toBeNull();
    expect(usualShareOfSlice(few)?.share).toBeCloseTo(16.5 / 65, 3);
  });
});
