import { describe, expect, it } from 'vitest';
import { bendCallback } from '../../sandbox/callbacks.ts';
import { mainEndpoint } from '../../sandbox/options.ts';
import {
  callbackSchema,
  CALLBACK_TYPES,
  signatureBase,
  type FullCallback,
} from '../../schemas/gateway/callback.ts';
import { createHash } from 'node:crypto';
import { create, deposit, receiver, sandboxWithClock, status, until, type Received } from './support.ts';

/** The check of section 6.3, step by step, as a merchant would make it. */
function verifies({ body, headers }: Received, key: string): boolean {
  const { externalId, status: state, amount, orderType } = JSON.parse(body) as FullCallback;
  const hash = createHash('sha256')
    .update(`${externalId};${state};${amount};${orderType};${key}`)
    .digest('hex');
  return headers['signature'] === hash;
}
const bodies = (received: readonly Received[]) =>
  received.map(({ body }) => JSON.parse(body) as FullCallback);

const isFinal = ({ status: state }: FullCallback) => state === 'Success' || state === 'Failed';

describe('callbacks (section 6)', () => {
  it('report every order with all five types, each body complete and each signature right', async () => {
    await using merchant = await receiver();
    await using rig = await sandboxWithClock({
      seed: 'cb',
      ratePerSecond: 40,
      callbacks: { url: merchant.url },
      mix: { acquiring: 1, card: 1, p2p: 6, token: 1, payout: 1 },
    });
    const { sandbox, clock } = rig;
    sandbox.start();
    clock.advance(5000);
    sandbox.setRate(0);
    for (let i = 0; i < 60; i++) {
      clock.advance(15_000);
      await until(() => sandbox.stats().callbacksPending === 0, 'callbacks answered');
    }
    const { callbacks } = sandbox.stats();
    expect(Object.keys(callbacks.byType).sort()).toEqual([...CALLBACK_TYPES].sort());
    expect(callbacks).toMatchObject({
      queued: merchant.received.length,
      acknowledged: merchant.received.length,
      failed: 0,
    });
    for (const one of merchant.received) {
      const callback = JSON.parse(one.body) as FullCallback;
      expect(verifies(one, sandbox.callbackKey)).toBe(true);
      expect(one.headers['content-type']).toBe('application/json');
      callbackSchema.parse(callback);
      expect(callback.amount).toMatch(/^\d+\.\d\d$/);
      expect(Object.keys(callback).sort()).toEqual([
        'amount',
        'currency',
        'externalId',
        'externalParams',
        'orderType',
        'status',
      ]);
      expect(Object.keys(callback.externalParams).sort()).toEqual([
        'cardHolder',
        'cardNumber',
        'cardStorageToken',
        'cardToken',
      ]);
    }
    for (const truth of sandbox.orders()) {
      const own = bodies(merchant.received).filter(({ externalId }) => externalId === truth.externalId);
      expect(own.filter((callback) => callback.status === 'Created')).toHaveLength(1);
      const finals = own.filter((callback) => callback.status === truth.finalStatus);
      expect(finals.length).toBeGreaterThan(0);
      // The newest amount is sent, whether or not it changed on the way.
      expect(finals.map(({ amount }) => amount)).toContain(truth.finalAmount.toFixed(2));
    }
  });

  it('sign the worked example of section 6.3', () => {
    const example = {
      externalId: '7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d',
      status: 'Success',
      amount: '100.00',
      orderType: 'Deposit',
    } as const;
    const hash = createHash('sha256')
      .update(signatureBase(example, '0123456789abcdef0123456789abcdef'))
      .digest('hex');
    expect(hash).toBe('9ce5e776a8d73a461c51e31824490304ac191fc8f8743e9134253d2211e0a570');
  });

  it('go to the callbackUrl of the order when it has one', async () => {
    await using fixed = await receiver();
    await using own = await receiver();
    await using rig = await sandboxWithClock({ callbacks: { url: fixed.url } });
    await create(rig.sandbox, deposit('static'));
    await create(rig.sandbox, deposit('dynamic', { callbackUrl: `${own.url}/dynamic` }));
    rig.clock.advance(2000);
    await until(() => fixed.received.length > 0 && own.received.length > 0, 'both to get one');
    const [first, second] = rig.sandbox.orders();
    expect(new Set(bodies(fixed.received).map(({ externalId }) => externalId))).toEqual(
      new Set([first?.externalId]),
    );
    expect(new Set(bodies(own.received).map(({ externalId }) => externalId))).toEqual(
      new Set([second?.externalId]),
    );
    expect(own.received[0]?.path).toBe('/callbacks/dynamic');
  });

  it('are sent only for the types the merchant asked for, and to nobody without an address', async () => {
    await using merchant = await receiver();
    const endpoints = [{ ...mainEndpoint('t'), callbackTypes: ['Success', 'Failed'] as const }];
    await using rig = await sandboxWithClock({ endpoints, callbacks: { url: merchant.url } });
    await using silent = await sandboxWithClock();
    for (let i = 0; i < 5; i++) {
      await create(rig.sandbox, deposit(`t-${i}`));
      await create(silent.sandbox, deposit(`t-${i}`));
    }
    rig.clock.advance(800_000);
    silent.clock.advance(800_000);
    await until(() => rig.sandbox.stats().callbacksPending === 0, 'callbacks answered');
    expect(merchant.received.length).toBeGreaterThan(3);
    for (const { status: state } of bodies(merchant.received)) expect(['Success', 'Failed']).toContain(state);
    expect(silent.sandbox.stats().callbacks).toMatchObject({ queued: 0, sent: 0 });
    expect(silent.sandbox.stats().callbacks.notWanted).toBeGreaterThan(10);
  });

  it('are repeated with the same body and signature until they are answered with 2xx', async () => {
    await using merchant = await receiver([503, 302, 200]);
    await using rig = await sandboxWithClock({
      callbacks: { url: merchant.url, retryDelaysMs: [500, 2000] },
    });
    const { sandbox, clock } = rig;
    const { externalId } = sandbox.seedOrder({ status: 'Success' });
    sandbox.sendCallback(externalId);
    await until(() => sandbox.stats().callbacks.retried === 1, 'first retry planned');
    clock.advance(500);
    await until(() => sandbox.stats().callbacks.retried === 2, 'second retry planned');
    clock.advance(2000);
    await until(() => sandbox.stats().callbacks.acknowledged === 1, 'third attempt answered');
    expect(
      new Set(merchant.received.map(({ body, headers }) => body + String(headers['signature']))).size,
    ).toBe(1);
    expect(merchant.received).toHaveLength(3);
    expect(sandbox.stats().callbacks).toMatchObject({ sent: 3, acknowledged: 1, uncertain: 1 });
  });

  it('are given up after the last retry, and the oldest waiting ones when the queue is full', async () => {
    await using rig = await sandboxWithClock({
      callbacks: { url: 'http://127.0.0.1:9/nobody', retryDelaysMs: [100], maxQueued: 10 },
    });
    const { sandbox, clock } = rig;
    const { externalId } = sandbox.seedOrder({});
    sandbox.sendCallback(externalId, { times: 50 });
    // 32 in flight, 10 waiting, 8 dropped.
    expect(sandbox.stats().callbacks).toMatchObject({ queued: 50, dropped: 8 });
    await until(() => sandbox.stats().callbacks.retried === 42, 'each failed once');
    clock.advance(100);
    await until(() => sandbox.stats().callbacksPending === 0, 'given up');
    const { sent, failed, dropped, acknowledged, uncertain } = sandbox.stats().callbacks;
    expect({ acknowledged, uncertain }).toEqual({ acknowledged: 0, uncertain: sent });
    expect(failed + dropped).toBe(50);
  });

  it('count as uncertain when the gateway stops while they are under way', async () => {
    await using merchant = await receiver(['none']);
    await using rig = await sandboxWithClock({ callbacks: { url: merchant.url, retryDelaysMs: [100] } });
    const { sandbox } = rig;
    const { externalId } = sandbox.seedOrder({ status: 'Success' });
    sandbox.sendCallback(externalId, { times: 3 });
    await until(() => merchant.received.length === 3, 'all under way');
    expect(sandbox.stats().callbacks).toMatchObject({ sent: 3, acknowledged: 0, uncertain: 0 });
    await sandbox.stop();
    expect(sandbox.stats()).toMatchObject({ callbacks: { uncertain: 3, failed: 3 }, callbacksPending: 0 });
  });

  it('agree with the status that can be read when they arrive', async () => {
    await using merchant = await receiver();
    await using rig = await sandboxWithClock({ callbacks: { url: merchant.url } });
    const { sandbox, clock } = rig;
    for (let i = 0; i < 10; i++) await create(sandbox, deposit(`agree-${i}`));
    for (let i = 0; i < 80; i++) {
      const before = merchant.received.length;
      clock.advance(10_000);
      await until(() => sandbox.stats().callbacksPending === 0, 'callbacks answered');
      for (const callback of bodies(merchant.received.slice(before)).filter(isFinal)) {
        expect((await status(sandbox, callback.externalId)).json).toMatchObject({
          orderStatus: callback.status,
        });
      }
    }
  });
});

describe('a callback bent by faults', () => {
  it('is not sent, not signed, signed wrongly, sent twice or later, as the faults say', () => {
    const plain = { signature: 'valid', times: 1, delayMs: 0 };
    expect(bendCallback([])).toEqual(plain);
    expect(bendCallback([{ name: 'callback_missing' }, { name: 'callback_duplicate' }])).toBeNull();
    expect(bendCallback([{ name: 'callback_wrong_signature' }])).toEqual({ ...plain, signature: 'wrong' });
    expect(
      bendCallback([{ name: 'callback_wrong_signature' }, { name: 'callback_missing_signature' }]),
    ).toEqual({ ...plain, signature: 'missing' });
    expect(bendCallback([{ name: 'callback_duplicate' }])).toEqual({ ...plain, times: 2 });
    expect(bendCallback([{ name: 'callback_delayed', delayMs: 5 }])).toEqual({ ...plain, delayMs: 5 });
    expect(bendCallback([{ name: 'callback_delayed' }])).toEqual({ ...plain, delayMs: 10_000 });
    expect(bendCallback([{ name: 'callback_other_amount' }, { name: 'callback_other_currency' }])).toEqual({
      ...plain,
      otherAmount: true,
      otherCurrency: true,
    });
    expect(bendCallback([{ name: 'callback_rewritten' }, { name: 'callback_replayed', delayMs: 9 }])).toEqual(
      { ...plain, rewritten: true, againAfterMs: 9 },
    );
  });
});
