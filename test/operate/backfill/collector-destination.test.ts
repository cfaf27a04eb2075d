import { describe, expect, it } from 'vitest';
import { advanceDelivery, startDelivery } from '../../../operate/backfill/collector-destination.ts';

const problem = { field: 'gateway', received: 'another name', expected: 'one of acme' };

describe('a chunk on its way to the collector', () => {
  it('has arrived once it is accepted', () => {
    expect(advanceDelivery(startDelivery(3), 'accepted', 0)).toEqual({
      places: [],
      refused: new Map(),
      busySinceMs: null,
    });
  });

  it('is sent again without the messages that were refused, which keep their places in the chunk', () => {
    const first = advanceDelivery(startDelivery(4), { errors: [{ index: 1, ...problem }] }, 0);
    expect(first).toMatchObject({ places: [0, 2, 3], refused: new Map([[1, problem]]) });
    const second = first && advanceDelivery(first, { errors: [{ index: 1, ...problem }] }, 0);
    expect(second?.places).toEqual([0, 3]);
    expect([...(second?.refused.keys() ?? [])]).toEqual([1, 2]);
  });

  it('knows since when the collector has been busy, until it answers', () => {
    const busy = advanceDelivery(startDelivery(2), 'busy', 1000);
    expect(busy?.busySinceMs).toBe(1000);
    const still = busy && advanceDelivery(busy, 'busy', 2000);
    expect(still?.busySinceMs).toBe(1000);
    const answered = still && advanceDelivery(still, { errors: [{ index: 0, ...problem }] }, 3000);
    expect(answered).toMatchObject({ places: [1], busySinceMs: null });
  });

  it('does not arrive at a collector that refuses it and names no message of it', () => {
    expect(advanceDelivery(startDelivery(2), { errors: [] }, 0)).toBeNull();
    expect(advanceDelivery(startDelivery(2), { errors: [{ index: 7, ...problem }] }, 0)).toBeNull();
  });
});
