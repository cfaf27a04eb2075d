import { describe, expect, it } from 'vitest';
import { lostIn, startOf, unstoredIn } from '../../../../collector/sources/kafka/topic-admin.ts';

describe('records that a group can never read', () => {
  const log = [
    { partition: 0, low: '100', high: '200', stable: '200' },
    { partition: 1, low: '0', high: '50', stable: '50' },
  ];
  const lost = (partition: number, offset: string) => lostIn('t', log, [{ partition, offset }]);

  it('are those that retention took from before its committed offset', () => {
    expect(lost(0, '90')).toEqual([{ topic: 't', partition: 0, expected: '90', actual: '100', missing: 10 }]);
    expect(lost(0, '100')).toEqual([]);
    expect(lost(0, '200')).toEqual([]);
  });

  it('are of unknown number where the topic was created anew', () => {
    expect(lost(1, '51')).toEqual([{ topic: 't', partition: 1, expected: '51', actual: '0', missing: null }]);
  });

  it('are none where nothing was committed, and in partitions that are gone', () => {
    expect(lost(0, '-1')).toEqual([]);
    expect(lost(7, '5')).toEqual([]);
  });
});

describe('where a group reads a partition on', () => {
  const range = { partition: 1, low: '10', high: '50', stable: '45' };

  it('is at its committed offset', () => {
    expect(startOf(range, [{ partition: 1, offset: '30' }], true)).toBe('30');
    expect(startOf(range, [{ partition: 1, offset: '0' }], false)).toBe('0');
  });

  it('without one is at the first record, or at the next that can be read, as it is set', () => {
    expect(startOf(range, [{ partition: 1, offset: '-1' }], true)).toBe('10');
    expect(startOf(range, [{ partition: 0, offset: '30' }], false)).toBe('45');
    expect(startOf(range, [], true)).toBe('10');
  });
});

describe('what a store lacks of what its group has committed', () => {
  const log = [{ partition: 0, low: '100', high: '200', stable: '200' }];
  const unstored = (offset: string, next: string | null, fromBeginning = true) =>
    unstoredIn(
      log,
      [{ topic: 't', partition: 0, offset }],
      next === null ? [] : [{ topic: 't', partition: 0, next }],
      fromBeginning,
    ).map(({ from, committed }) => `${from}-${committed}`);

  it('lies between the end of what is stored and the committed offset, as far as the log has it', () => {
    expect(unstored('180', '150')).toEqual(['150-180']);
    expect(unstored('180', '90')).toEqual(['100-180']);
    expect(unstored('180', '180')).toEqual([]);
    expect(unstored('180', '190')).toEqual([]);
    expect(unstored('100', '90')).toEqual([]);
  });

  it('is all that the log has where nothing is stored, unless groups begin at new records', () => {
    expect(unstored('180', null)).toEqual(['100-180']);
    expect(unstored('180', null, false)).toEqual([]);
  });

  it('is nothing where the topic was created anew', () => {
    expect(unstored('201', '150')).toEqual([]);
  });
});
