import { describe, expect, it } from 'vitest';
import { createWatermarkTracker, notePoll, watermark } from '../../../collector/orders/watermark-tracker.ts';
import { SECOND, T0 } from '../../support/watched-order.ts';

describe('the view of a gateway', () => {
  it('is complete up to now, unless three answers in a row showed nothing', () => {
    const tracker = createWatermarkTracker();
    const now = T0 + 100 * SECOND;
    expect(watermark(tracker, now, 0)).toBe(now);
    notePoll(tracker, 'ok', T0);
    for (const at of [1, 2]) notePoll(tracker, 'unknown', T0 + at * SECOND);
    expect(watermark(tracker, now, 0)).toBe(now);
    notePoll(tracker, 'invalid_response', T0 + 3 * SECOND);
    expect(watermark(tracker, now, 0)).toBe(T0);
    notePoll(tracker, 'not_found', T0 + 50 * SECOND);
    expect(watermark(tracker, now, 0)).toBe(now);
    expect(tracker.lastReplyAt).toBe(T0 + 50 * SECOND);
  });

  it('starts with the first failure when nothing was ever seen', () => {
    const tracker = createWatermarkTracker();
    for (const at of [1, 2, 3]) notePoll(tracker, 'unauthorized', T0 + at * SECOND);
    expect(watermark(tracker, T0 + 9 * SECOND, 0)).toBe(T0 + SECOND);
    expect(tracker.lastReplyAt).toBeNull();
  });

  it('ends where the polls are behind, once that is more than five seconds', () => {
    const tracker = createWatermarkTracker();
    expect(watermark(tracker, T0, 5_000)).toBe(T0);
    expect(watermark(tracker, T0, 60_000)).toBe(T0 - 60 * SECOND);
  });
});
