import { describe, expect, it } from 'vitest';
import { thresholdOf } from '../../../alerts/evaluate/slow-threshold.ts';

const counts = [15, 30, 60, 120].map((seconds) => ({
  label: `${seconds} s`,
  hit: '',
  slowerThanSeconds: seconds,
}));
/** Usual shares of the thresholds, lowest first; null: not known. */
const choose = (
  shares: readonly (number | null)[],
  more: { readonly wantedSeconds?: number; readonly before?: string } = {},
): string =>
  thresholdOf({
    counts,
    usualOf: (label) => {
      const share = shares[counts.findIndex((one) => one.label === label)] ?? null;
      return share === null ? null : { share, spread: 0.01 };
    },
    usuallyAtMost: 0.1,
    wantedSeconds: null,
    before: null,
    ...more,
  });

describe('the threshold that is judged', () => {
  it('is the lowest that at most one order in ten usually exceeds', () => {
    expect(choose([0.6, 0.3, 0.1, 0.02])).toBe('60 s');
    expect(choose([0.01, 0, 0, 0])).toBe('15 s');
  });

  it('is the highest where more orders exceed all of them, and where nothing is usual', () => {
    expect(choose([0.9, 0.8, 0.7, 0.6])).toBe('120 s');
    expect(choose([null, null, null, null])).toBe('120 s');
  });

  it('is what the settings say, or the next one above', () => {
    expect(choose([0.6, 0.3, 0.1, 0.02], { wantedSeconds: 30 })).toBe('30 s');
    expect(choose([0.6, 0.3, 0.1, 0.02], { wantedSeconds: 31, before: '15 s' })).toBe('60 s');
    expect(choose([null, null, null, null], { wantedSeconds: 9999 })).toBe('120 s');
  });

  it('stays where an incident is, whatever is usual in the next hour', () => {
    expect(choose([0.6, 0.3, 0.05, 0.02], { before: '30 s' })).toBe('30 s');
  });

  it('is chosen anew where the threshold of a breach is no longer there', () => {
    expect(choose([0.6, 0.3, 0.05, 0.02], { before: '45 s' })).toBe('60 s');
  });
});
