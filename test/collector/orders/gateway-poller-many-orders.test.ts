import { describe, expect, it } from 'vitest';
import { createGatewayPoller } from '../../../collector/orders/gateway-poller.ts';
import { advance } from '../../../collector/orders/advance.ts';
import { pollConfigSchema } from '../../../schemas/config.ts';
import { watchKey } from '../../../schemas/watch.ts';
import { createFakeClock, turn } from '../../support/fake-clock.ts';
import { SECOND, watchedOrder } from '../../support/watched-order.ts';

const ORDERS = 100_000;

/** Fifteen items as the decoder keeps them. */
const known = (order: number) =>
  Array.from(
    { length: 15 },
    (_item, index) => `${1_795_256_130_000_000 + order + index}|2.1.1.00|0|${index}`,
  ).join('\n');

describe('a hundred thousand watched orders', () => {
  it('take some hundred megabytes at most, and are each polled in time within a third of the budget', async () => {
    const clock = createFakeClock();
    const policy = pollConfigSchema.parse({ requestsPerSecond: 1000, concurrency: 100 });
    const poller = createGatewayPoller({
      policy,
      clock,
      read: async () => ({
        httpStatus: 200,
        outcome: 'ok',
        errorType: '',
        body: '{}',
        bodyBytes: 2,
        retryAfterMs: null,
      }),
      onEvent: () => {},
    });
    poller.start(async ({ order, known: text, outcome, repliedAt }) => {
      const facts = { outcome, orderStatus: 'Processing', final: false, newItems: 0, retryAfterMs: null };
      return { order: advance(order, facts, policy, repliedAt, 0.5), known: text, outcome };
    });
    global.gc?.();
    const heapBefore = process.memoryUsage().heapUsed;
    for (let i = 0; i < ORDERS; i += 1) {
      const orderId = `7d9f2c1e-4b7a-4d53-9a51-${i.toString(16).padStart(12, '0')}`;
      const nextPollAt = clock.now() + ((i * 7919) % 300) * SECOND;
      poller.resume({ order: watchedOrder({ orderId, attempt: 9, nextPollAt }), known: known(i) });
    }
    global.gc?.();
    const heapMb = (process.memoryUsage().heapUsed - heapBefore) / 1e6;

    // Every order is read at least once in five minutes: a third of the budget.
    await clock.advance(300_000);
    await turn();
    expect(poller.status()).toMatchObject({ watched: ORDERS, inFlight: 0 });
    expect(
      poller.get(watchKey(watchedOrder({ orderId: '7d9f2c1e-4b7a-4d53-9a51-00000001869f' })))?.attempt,
    ).toBe(10);
    expect(heapMb).toBeLessThan(300);
    await poller.stop();
  });
});
