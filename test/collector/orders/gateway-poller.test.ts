import { describe, expect, it } from 'vitest';
import { watchKey } from '../../../schemas/watch.ts';
import { turn } from '../../support/fake-clock.ts';
import { HOUR, SECOND } from '../../support/watched-order.ts';
import { createScene, wait } from './scene.ts';

const MINUTE = 60_000;

describe('a watched order', () => {
  it('is read at once, then in the rhythm of its schedule, and no more once it is settled', async () => {
    let reads = 0;
    const { clock, poller, watch, startsOf } = createScene({ final: () => (reads += 1) > 2 });
    watch('a');
    await clock.advance(30 * MINUTE);
    expect(startsOf('a')).toEqual([0, 2000, 7000, 67_000, 187_000, 637_000]);
    expect(poller.status()).toMatchObject({ watched: 0, due: 0, inFlight: 0, requests: 6 });
    expect(clock.pending()).toBe(0);
  });

  it('uses a budget that the poller reports: requests made and under way, and what is allowed of both', async () => {
    const { clock, poller, watch } = createScene({
      policy: { concurrency: 3, requestsPerSecond: 7 },
      answer: (_order, clock) => wait(clock, 500).then(() => ({})),
    });
    for (const id of ['a', 'b', 'c', 'd']) watch(id);
    await clock.advance(100);
    const limits = { concurrencyLimit: 3, requestsPerSecondLimit: 7 };
    expect(poller.status()).toMatchObject({ ...limits, requests: 3, inFlight: 3 });
    await clock.advance(1000);
    expect(poller.status()).toMatchObject({ ...limits, requests: 4, inFlight: 0 });
  });

  it('goes on after a restart at the time that was stored', async () => {
    const { clock, poller, order, startsOf } = createScene();
    poller.resume({ order: order({ orderId: 'later', nextPollAt: clock.now() + 40_000_000 }), known: '' });
    poller.resume({ order: order({ orderId: 'missed', nextPollAt: clock.now() - 40_000_000 }), known: '' });
    await clock.advance(41_000);
    expect(startsOf('later')).toEqual([40_000]);
    expect(startsOf('missed')[0]).toBe(0);
  });

  it('is watched once, however often it is named, and learns what it did not know', async () => {
    const { clock, poller, order, watch, startsOf } = createScene();
    const key = watch('a');
    poller.resume({ order: order({ orderId: 'a' }), known: '' });
    watch('a', 'watch', { channel: 'p2p', amount: '1.50', amountSource: 'watch' });
    await clock.advance(1000);
    watch('a', 'watch', { channel: 'other', currency: 'EUR', currencySource: 'watch' });
    expect(startsOf('a')).toEqual([0]);
    expect(poller.get(key)).toMatchObject({ channel: 'p2p', amount: '1.50', currency: 'EUR' });
  });

  it('keeps what it learned while a request was under way', async () => {
    const { clock, poller, watch } = createScene({
      answer: (_order, clock) => wait(clock, 500).then(() => ({})),
    });
    const key = watch('a');
    await clock.advance(100);
    watch('a', 'watch', { channel: 'p2p' });
    await clock.advance(1000);
    expect(poller.get(key)).toMatchObject({ channel: 'p2p', attempt: 1 });
  });

  it('is read again when an answer could not be stored, and nothing else waits for that', async () => {
    let broken = true;
    const scene = createScene({
      handle: async (answer, next) => {
        if (broken && answer.order.orderId === 'a') throw new Error('the store is away');
        return next;
      },
    });
    scene.watch('a');
    scene.watch('b');
    await scene.clock.advance(6000);
    broken = false;
    expect(scene.startsOf('a')).toEqual([0, 5000]);
    expect(scene.startsOf('b')).toEqual([0, 2000]);
    expect(scene.events).toHaveLength(2);
    await scene.clock.advance(5000);
    expect(scene.poller.get(watchKey(scene.order({ orderId: 'a' })))).toMatchObject({ attempt: 1 });
  });

  it('is kept, and reported, when a request itself breaks', async () => {
    let breaks = true;
    const scene = createScene({
      answer: () => {
        if (breaks) throw new TypeError('a bug');
        return {};
      },
    });
    scene.watch('a');
    await scene.clock.advance(0);
    expect(scene.events).toMatchObject([{ type: 'apply_failed' }]);
    breaks = false;
    await scene.clock.advance(5000);
    expect(scene.startsOf('a')).toEqual([0, 5000]);
    expect(scene.poller.status().inFlight).toBe(0);
  });
});

describe('an order that is watched by both of its ids', () => {
  const merging = (order: { idKind: string }) => order.idKind === 'transaction-id';
  const asService = { idKind: 'external-id', orderId: 'service-1', externalId: 'service-1' } as const;

  it('goes on under the service id after the first reply', async () => {
    const scene = createScene({
      handle: async (answer, next) =>
        merging(answer.order) ? { ...next, order: { ...next.order, ...asService } } : next,
    });
    scene.watch('merchant-1', 'watch', { idKind: 'transaction-id' });
    await scene.clock.advance(2500);
    expect(scene.started.map(({ orderId }) => orderId)).toEqual(['merchant-1', 'service-1']);
    expect(scene.poller.status().watched).toBe(1);
    expect(scene.handled[1]).toMatchObject({ endpoint: 'deposit-status', order: { attempt: 1 } });
  });

  it.each([
    ['the service id answers first', 100, 700],
    ['the merchant id answers first', 700, 100],
  ])('is one order when both requests are under way and %s', async (_case, serviceMs, merchantMs) => {
    const scene = createScene({
      answer: (order, clock) => wait(clock, merging(order) ? merchantMs : serviceMs).then(() => ({})),
      handle: async (answer, next) =>
        merging(answer.order)
          ? { ...next, order: { ...next.order, ...asService, externalTransactionId: 'merchant-1' } }
          : next,
    });
    scene.watch('merchant-1', 'watch', { idKind: 'transaction-id' });
    const key = scene.watch('service-1');
    await scene.clock.advance(3500);
    expect(scene.startsOf('merchant-1')).toEqual([0]);
    expect(scene.startsOf('service-1')).toEqual([0, serviceMs + 2000]);
    expect(scene.poller.status()).toMatchObject({ watched: 1, inFlight: 0 });
    expect(scene.poller.get(key)).toMatchObject({ externalTransactionId: 'merchant-1', attempt: 2 });
  });
});

describe('stopping', () => {
  it('starts nothing more, and waits for requests under way until their answers are stored', async () => {
    let stored = 0;
    const scene = createScene({
      policy: { concurrency: 2 },
      answer: (_order, clock) => wait(clock, 300).then(() => ({})),
      handle: async (_answer, next) => {
        await wait(scene.clock, 200);
        stored += 1;
        return next;
      },
    });
    for (let i = 0; i < 10; i += 1) scene.watch(`o-${i}`);
    await scene.clock.advance(100);
    let stopped = false;
    void scene.poller.stop().then(() => (stopped = true));
    scene.watch('late', 'callback');
    await scene.clock.advance(250);
    expect(stopped).toBe(false);
    await scene.clock.advance(10 * MINUTE);
    await turn();
    expect({ stopped, stored }).toEqual({ stopped: true, stored: 2 });
    expect(scene.started).toHaveLength(2);
    expect(scene.clock.pending()).toBe(0);
  });
});

describe('an order whose re-read is overdue when the process comes back', () => {
  it.each([
    ['the first time', 1],
    // One re-read was made between the two times, 60 seconds after the final status that had been moved.
    ['the second time', 2],
  ])(
    'is read at once, and goes on as though no time had passed since it was read last: %s',
    async (_, reread) => {
      const { clock, poller, order, startsOf } = createScene({ final: () => true });
      const now = clock.now();
      // It was to be read 180 seconds after the final status; that was an hour ago.
      const stored = {
        orderId: 'a',
        phase: 'rereading',
        reread,
        nextPollAt: now - HOUR,
        finalAt: now - HOUR - 180 * SECOND,
      };
      poller.resume({ order: order({ ...stored, phase: 'rereading' }), known: '' });
      await clock.advance(20 * MINUTE);
      expect(startsOf('a')).toEqual([0, 120_000, 570_000]);
    },
  );
});
