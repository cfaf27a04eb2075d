import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDueQueue } from '../../../collector/orders/due-queue.ts';
import { createLanes } from '../../../collector/orders/endpoint-queues.ts';
import { createSight } from '../../../collector/orders/watermark-tracker.ts';
import { SECOND, T0 } from '../../support/watched-order.ts';

describe('the queue of due orders', () => {
  const key = fc.constantFrom(...'abcdefgh');
  const command = fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant('push'), key, dueMs: fc.nat(50) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('remove'), key, dueMs: fc.constant(0) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('pop'), key, dueMs: fc.constant(0) }) },
  );

  it('gives the earliest of the latest pushes, whatever was pushed, replaced, removed and taken before', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 400 }), (commands) => {
        const queue = createDueQueue();
        const model = new Map<string, number>();
        const earliest = () => (model.size === 0 ? undefined : Math.min(...model.values()));
        const take = () => {
          const taken = queue.pop();
          const right = taken?.dueMs === earliest() && taken?.dueMs === model.get(taken?.key ?? '');
          model.delete(taken?.key ?? '');
          return right;
        };
        const perform = {
          push: (key: string, dueMs: number) => (queue.push(key, dueMs), model.set(key, dueMs), true),
          remove: (key: string) => (queue.remove(key), model.delete(key), true),
          pop: take,
        };
        for (const { do: what, key, dueMs } of commands) {
          expect(perform[what as keyof typeof perform](key, dueMs)).toBe(true);
          expect(queue.size).toBe(model.size);
          expect(queue.peek()?.dueMs).toBe(earliest());
          expect(queue.countDue(25)).toBe([...model.values()].filter((due) => due <= 25).length);
        }
      }),
    );
  });

  it('keeps no more than twice what is in it, however often entries are replaced by later ones', () => {
    const queue = createDueQueue();
    for (let i = 0; i < 100; i += 1) queue.push(`first-${i}`, 0);
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < 2_000_000; i += 1) queue.push(`first-${i % 100}`, 1_000_000 + i);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(50_000_000);
    expect(queue.pop()).toEqual({ key: 'first-0', dueMs: 1_000_000 + 1_999_900 });
    expect(queue.size).toBe(99);
  });
});

describe('the lanes of a gateway', () => {
  const open = () => 0;

  it('take urgent orders before due ones, and the longest due first', () => {
    const lanes = createLanes();
    lanes.push('deposit-status', 'due-early', 10, false);
    lanes.push('withdrawal-status', 'due-late', 20, false);
    lanes.push('withdrawal-status', 'urgent-late', 40, true);
    lanes.push('deposit-status-by-transaction', 'urgent-early', 30, true);
    const order: string[] = [];
    for (let next = lanes.next(50, open); next.key !== null; next = lanes.next(50, open)) {
      order.push(next.key);
      lanes.take(next.key);
    }
    expect(order).toEqual(['urgent-early', 'urgent-late', 'due-early', 'due-late']);
    expect(lanes.next(50, open)).toEqual({ key: null, waitMs: null });
    expect(lanes.oldestDueMs()).toBeNull();
  });

  it('pass by a closed endpoint, and say when something may start', () => {
    const lanes = createLanes();
    lanes.push('withdrawal-status', 'blocked', 0, true);
    lanes.push('deposit-status', 'later', 130, false);
    const blocked = (endpoint: string) => (endpoint === 'withdrawal-status' ? 5_000 : 0);
    expect(lanes.next(100, blocked)).toEqual({ key: null, waitMs: 30 });
    expect(lanes.next(130, blocked)).toMatchObject({ key: 'later' });
    expect(lanes.oldestDueMs()).toBe(0);
  });

  it('hold an order once, in the lane it was put last', () => {
    const lanes = createLanes();
    lanes.push('deposit-status', 'a', 10, true);
    lanes.push('deposit-status', 'a', 30, false);
    expect(lanes.next(20, open)).toEqual({ key: null, waitMs: 10 });
    expect(lanes.countDue(30)).toBe(1);
    lanes.remove('a');
    expect(lanes.next(99, open)).toEqual({ key: null, waitMs: null });
  });
});

describe('the view of a gateway', () => {
  it('is complete up to now, unless three answers in a row showed nothing', () => {
    const sight = createSight();
    const now = T0 + 100 * SECOND;
    expect(sight.watermark(now, 0)).toBe(now);
    sight.note('ok', T0);
    for (const at of [1, 2]) sight.note('unknown', T0 + at * SECOND);
    expect(sight.watermark(now, 0)).toBe(now);
    sight.note('invalid_response', T0 + 3 * SECOND);
    expect(sight.watermark(now, 0)).toBe(T0);
    sight.note('not_found', T0 + 50 * SECOND);
    expect(sight.watermark(now, 0)).toBe(now);
    expect(sight.lastReplyAt()).toBe(T0 + 50 * SECOND);
  });

  it('starts with the first failure when nothing was ever seen', () => {
    const sight = createSight();
    for (const at of [1, 2, 3]) sight.note('unauthorized', T0 + at * SECOND);
    expect(sight.watermark(T0 + 9 * SECOND, 0)).toBe(T0 + SECOND);
    expect(sight.lastReplyAt()).toBeNull();
  });

  it('ends where the polls are behind, once that is more than five seconds', () => {
    const sight = createSight();
    expect(sight.watermark(T0, 5_000)).toBe(T0);
    expect(sight.watermark(T0, 60_000)).toBe(T0 - 60 * SECOND);
  });
});
