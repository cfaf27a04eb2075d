import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../schemas/system-clock.ts';
import { advance } from '../../../collector/orders/advance.ts';
import { createStatusClient } from '../../../collector/sources/gateway/status-client.ts';
import { createPoller, type Poller } from '../../../collector/orders/poller.ts';
import type { PolledReply } from '../../../collector/orders/poller-contract.ts';
import { gatewayConfigSchema } from '../../../schemas/config.ts';
import { watchKey } from '../../../schemas/watch.ts';
import { startHttpGateway, type HttpGateway } from '../../support/http-gateway.ts';
import { watchedOrder } from '../../support/watched-order.ts';

/** Two gateways over real sockets: one answers, the other never does. */
describe('the poller over several gateways', () => {
  let well: HttpGateway;
  let stuck: HttpGateway;
  let poller: Poller;
  let answers: PolledReply[];
  beforeEach(async () => {
    well = await startHttpGateway((_request, response) => response.end('{}'));
    stuck = await startHttpGateway(() => {});
    answers = [];
    const gateways = [
      { name: 'well', secureUrl: well.url },
      { name: 'stuck', secureUrl: stuck.url },
    ].map((one) =>
      gatewayConfigSchema.parse({
        ...one,
        token: 'token',
        poll: { delaysS: [0.1], maxDelayS: 0.1, deadlineMs: 1500, concurrency: 2 },
      }),
    );
    poller = createPoller({
      gateways,
      clock: systemClock,
      reader: createStatusClient,
      onEvent: () => {},
    });
    poller.start(async (answer) => {
      answers.push(answer);
      const { outcome, repliedAt, order, known } = answer;
      const facts = { outcome, orderStatus: 'Processing', final: false, newItems: 0, retryAfterMs: null };
      const [gateway] = gateways;
      if (gateway === undefined) throw new Error('no gateway');
      return { order: advance(order, facts, gateway.poll, repliedAt, 0.5), known, outcome };
    });
  });
  afterEach(async () => {
    await poller.stop();
    await Promise.all([well.stop(), stuck.stop()]);
  });

  const watch = (gateway: string, orderId: string) => {
    const now = systemClock.now();
    const order = watchedOrder({ gateway, orderId, nextPollAt: now, firstSeenAt: now });
    poller.track({ order, known: '' }, 'watch');
  };

  it('lets none hold up another: a gateway that hangs takes nothing from the others', async () => {
    for (let i = 0; i < 20; i += 1) watch('stuck', `s-${i}`);
    watch('well', 'a');
    await expect.poll(() => well.requests.length).toBeGreaterThan(4);
    expect(stuck.requests).toHaveLength(2);
    expect(answers.filter(({ order }) => order.gateway === 'stuck')).toEqual([]);
    expect(poller.status().get('stuck')).toMatchObject({ watched: 20, inFlight: 2 });
  });

  it('leaves orders of a gateway that is not configured alone', () => {
    watch('gone', 'a');
    const order = watchedOrder({ gateway: 'gone' });
    poller.resume({ order, known: '' });
    expect(poller.nudge(watchKey(order))).toBe(false);
    expect(poller.get(watchKey(order))).toBeUndefined();
    expect([...poller.status().keys()]).toEqual(['well', 'stuck']);
  });

  it('stops with the deadline at the latest, answers included', async () => {
    watch('stuck', 'a');
    await expect.poll(() => stuck.requests.length).toBe(1);
    const start = performance.now();
    await poller.stop();
    expect(performance.now() - start).toBeLessThan(3000);
    expect(answers).toMatchObject([{ outcome: 'unknown', errorType: 'timeout', httpStatus: null }]);
  });
});
