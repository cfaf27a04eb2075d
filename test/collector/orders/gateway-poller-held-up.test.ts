import { expect, it } from 'vitest';
import { createGatewayPoller } from '../../../collector/orders/gateway-poller.ts';
import { pollConfigSchema } from '../../../schemas/config.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { watchedOrder } from '../../support/watched-order.ts';
import { mostWithin } from './scene.ts';

it('the budget holds for requests that the process was held up in starting', async () => {
  const clock = createFakeClock();
  const started: number[] = [];
  let heldUpMs = 0;
  const poller = createGatewayPoller({
    policy: pollConfigSchema.parse({ requestsPerSecond: 5, concurrency: 50 }),
    // The first start of a second takes a while to get from the decision to the wire.
    clock: { ...clock, monotonicMs: () => clock.monotonicMs() + heldUpMs },
    onEvent: () => undefined,
    async read() {
      heldUpMs += started.length % 5 === 0 ? 80 : 0;
      started.push(clock.monotonicMs() + heldUpMs);
      return await new Promise<never>(() => undefined);
    },
  });
  poller.start(() => new Promise<never>(() => undefined));
  for (let index = 0; index < 30; index += 1) {
    const order = watchedOrder({ orderId: `order-${index}`, nextPollAt: clock.now() });
    poller.track({ order, known: '' }, 'watch');
  }
  await clock.advance(10_000);
  expect(started).toHaveLength(30);
  expect(mostWithin(started, 1000)).toBe(5);
});
