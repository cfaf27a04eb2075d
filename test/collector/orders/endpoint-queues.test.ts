import { describe, expect, it } from 'vitest';
import {
  countDueOrders,
  createEndpointQueues,
  dequeue,
  enqueue,
  nextDue,
  oldestDueMs,
  takeFirst,
} from '../../../collector/orders/endpoint-queues.ts';

describe('the queues of a gateway', () => {
  const open = () => 0;

  it('take urgent orders before due ones, and the longest due first', () => {
    const queues = createEndpointQueues();
    enqueue(queues, 'deposit-status', 'due-early', 10, false);
    enqueue(queues, 'withdrawal-status', 'due-late', 20, false);
    enqueue(queues, 'withdrawal-status', 'urgent-late', 40, true);
    enqueue(queues, 'deposit-status-by-transaction', 'urgent-early', 30, true);
    const order: string[] = [];
    for (let next = nextDue(queues, 50, open); next.key !== null; next = nextDue(queues, 50, open)) {
      order.push(next.key);
      takeFirst(queues, next.key);
    }
    expect(order).toEqual(['urgent-early', 'urgent-late', 'due-early', 'due-late']);
    expect(nextDue(queues, 50, open)).toEqual({ key: null, waitMs: null });
    expect(oldestDueMs(queues)).toBeNull();
  });

  it('pass by a closed endpoint, and say when something may start', () => {
    const queues = createEndpointQueues();
    enqueue(queues, 'withdrawal-status', 'blocked', 0, true);
    enqueue(queues, 'deposit-status', 'later', 130, false);
    const blocked = (endpoint: string) => (endpoint === 'withdrawal-status' ? 5_000 : 0);
    expect(nextDue(queues, 100, blocked)).toEqual({ key: null, waitMs: 30 });
    expect(nextDue(queues, 130, blocked)).toMatchObject({ key: 'later' });
    expect(oldestDueMs(queues)).toBe(0);
  });

  it('hold an order once, in the queue it was put last', () => {
    const queues = createEndpointQueues();
    enqueue(queues, 'deposit-status', 'a', 10, true);
    enqueue(queues, 'deposit-status', 'a', 30, false);
    expect(nextDue(queues, 20, open)).toEqual({ key: null, waitMs: 10 });
    expect(countDueOrders(queues, 30)).toBe(1);
    dequeue(queues, 'a');
    expect(nextDue(queues, 99, open)).toEqual({ key: null, waitMs: null });
  });
});
