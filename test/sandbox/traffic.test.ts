import { describe, expect, it } from 'vitest';
import { watchMessageSchema } from '../../schemas/watch.ts';
import type { OrderTruth } from '../../sandbox/truth.ts';
import { create, deposit, receiver, sandboxWithClock, START_MS, status, until } from './support.ts';

const MINUTE = 60_000;

const run = async (seed: string): Promise<OrderTruth[]> => {
  await using rig = await sandboxWithClock({ seed, ratePerSecond: 10 });
  rig.sandbox.start();
  rig.clock.advance(30_000);
  return rig.sandbox.orders();
};

const timedOut = (order: OrderTruth) => order.items.some(({ action }) => action === '2.2.4.11');

describe("the sandbox's own traffic", () => {
  it('is the same on two runs with one seed: ids, amounts, histories and delays', async () => {
    const [first, second, other] = [await run('1'), await run('1'), await run('2')];
    expect(first.length).toBeGreaterThan(240);
    expect(first).toEqual(second);
    expect(first.map(({ externalId }) => externalId)).not.toEqual(other.map(({ externalId }) => externalId));
    expect(new Set(first.map(({ channel }) => channel))).toEqual(
      new Set(['acquiring', 'card', 'p2p', 'token', 'payout']),
    );
  });

  it('keeps to its rate, which can be changed and stopped', async () => {
    await using rig = await sandboxWithClock({ ratePerSecond: 20 });
    const { sandbox, clock } = rig;
    clock.advance(10_000);
    expect(sandbox.orders()).toHaveLength(0);
    sandbox.start();
    clock.advance(20_000);
    const first = sandbox.stats().orders.created;
    expect(Math.abs(first - 400)).toBeLessThan(60);
    sandbox.setRate(2);
    clock.advance(20_000);
    const second = sandbox.stats().orders.created;
    expect(Math.abs(second - first - 40)).toBeLessThan(20);
    sandbox.setRate(0);
    clock.advance(MINUTE);
    expect(sandbox.stats().orders.created).toBe(second);
  });

  it('becomes thinner while an incident takes traffic away, and recovers', async () => {
    await using rig = await sandboxWithClock({ ratePerSecond: 20 });
    const { sandbox, clock } = rig;
    sandbox.start();
    sandbox.incidents.start({ name: 'traffic_drop', share: 0.8, forSeconds: 30 });
    clock.advance(30_000);
    const during = sandbox.stats().orders.created;
    expect(during).toBeGreaterThan(70);
    expect(during).toBeLessThan(180);
    clock.advance(30_000);
    expect(sandbox.stats().orders.created - during).toBeGreaterThan(500);
  });

  it('shows an incident in the histories of the orders created while it lasts', async () => {
    const incidents = [{ name: 'tech_timeout', share: 0.7, forSeconds: 20 }] as const;
    await using rig = await sandboxWithClock({ ratePerSecond: 20, incidents });
    rig.sandbox.start();
    rig.clock.advance(40_000);
    const during = rig.sandbox.orders().filter(({ createdAtMs }) => createdAtMs < START_MS + 20_000);
    const after = rig.sandbox.orders().filter(({ createdAtMs }) => createdAtMs >= START_MS + 20_000);
    expect(during.filter(timedOut).length / during.length).toBeGreaterThan(0.6);
    expect(after.filter(timedOut).length / after.length).toBeLessThan(0.05);
  });

  it('names every order to the watch address, as a merchant would', async () => {
    await using collector = await receiver();
    await using rig = await sandboxWithClock({
      ratePerSecond: 10,
      watchUrl: collector.url,
      gatewayName: 'demo',
    });
    const { sandbox, clock } = rig;
    sandbox.start();
    clock.advance(5000);
    await create(sandbox, deposit('by-post'));
    const { watch, orders } = sandbox.stats();
    expect(watch.queued).toBe(orders.created);
    await until(() => sandbox.stats().watch.acknowledged === orders.created, 'all to be named');
    const messages = collector.received.map(({ body }) => watchMessageSchema.parse(JSON.parse(body)));
    expect(messages.map(({ externalId }) => externalId).sort()).toEqual(
      sandbox
        .orders()
        .map(({ externalId }) => externalId)
        .sort(),
    );
    for (const message of messages) {
      expect(message.gateway).toBe('demo');
      const truth = sandbox.orders().find(({ externalId }) => externalId === message.externalId);
      expect(message).toMatchObject({
        channel: truth?.channel,
        currency: truth?.currency,
        orderType: truth?.orderType,
      });
    }
  });
});

it('drops settled orders after the retention, keeps unfinished ones longer, and goes on counting their items', async () => {
  await using rig = await sandboxWithClock({ ratePerSecond: 20, retentionMs: 15 * MINUTE });
  const { sandbox, clock } = rig;
  sandbox.start();
  clock.advance(MINUTE);
  sandbox.setRate(0);
  const all = sandbox.orders();
  const items = all.reduce((sum, order) => sum + order.items.length, 0);
  clock.advance(27 * MINUTE);
  expect(sandbox.stats().itemsVisible).toBe(items);
  clock.advance(10 * MINUTE);
  const left = sandbox.orders();
  expect(left.length).toBeGreaterThan(0);
  expect(left.every(({ outcome }) => outcome === 'pending')).toBe(true);
  expect(sandbox.stats()).toMatchObject({ itemsVisible: items, ordersInMemory: left.length });
  const gone = all.find(({ orderType, outcome }) => orderType === 'Deposit' && outcome === 'succeeded');
  expect((await status(sandbox, gone?.externalId ?? '')).status).toBe(404);
  clock.advance(60 * MINUTE);
  expect(sandbox.orders()).toEqual([]);
  expect(sandbox.stats().orders).toMatchObject({ created: all.length, dropped: all.length });
});
