import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  countDue,
  createDueQueue,
  peekDue,
  popDue,
  pushDue,
  removeDue,
} from '../../../collector/orders/due-queue.ts';

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
          const taken = popDue(queue);
          const right = taken?.dueMs === earliest() && taken?.dueMs === model.get(taken?.key ?? '');
          model.delete(taken?.key ?? '');
          return right;
        };
        const perform = {
          push: (key: string, dueMs: number) => (pushDue(queue, key, dueMs), model.set(key, dueMs), true),
          remove: (key: string) => (removeDue(queue, key), model.delete(key), true),
          pop: take,
        };
        for (const { do: what, key, dueMs } of commands) {
          expect(perform[what as keyof typeof perform](key, dueMs)).toBe(true);
          expect(queue.current.size).toBe(model.size);
          expect(peekDue(queue)?.dueMs).toBe(earliest());
          expect(countDue(queue, 25)).toBe([...model.values()].filter((due) => due <= 25).length);
        }
      }),
    );
  });

  it('keeps no more than twice what is in it, however often entries are replaced by later ones', () => {
    const queue = createDueQueue();
    for (let i = 0; i < 100; i += 1) pushDue(queue, `first-${i}`, 0);
    let most = 0;
    for (let i = 0; i < 20_000; i += 1) {
      pushDue(queue, `first-${i % 100}`, 1_000_000 + i);
      most = Math.max(most, queue.heap.length);
    }
    expect(most).toBeLessThanOrEqual(2 * 100 + 64);
    expect(popDue(queue)).toEqual({ key: 'first-0', dueMs: 1_000_000 + 19_900 });
    expect(queue.current.size).toBe(99);
  });
});
