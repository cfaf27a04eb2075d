import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { FAULT_NAMES } from '../../../sandbox/faults.ts';
import { isLoopback } from '../../../sandbox/auth.ts';
import { INCIDENT_NAMES } from '../../../sandbox/scenarios.ts';
import type { OrderTruth } from '../../../sandbox/truth.ts';
import type { FullStatusReply } from '../../../schemas/gateway/status-reply.ts';
import { call, create, deposit, receiver, sandboxWithClock, START_MS, status, until } from '../support.ts';

describe('the admin API', () => {
  it('explains itself: every endpoint, fault and incident', async () => {
    await using rig = await sandboxWithClock();
    const guide = (await call('GET', rig.sandbox.adminUrl)).json as Record<string, object>;
    expect(Object.keys(guide['faults'] ?? {})).toEqual(FAULT_NAMES);
    expect(Object.keys(guide['incidents'] ?? {})).toEqual(INCIDENT_NAMES);
    expect(Object.keys(guide['endpoints'] ?? {}).length).toBeGreaterThan(10);
  });

  it('switches faults and incidents on and off', async () => {
    await using rig = await sandboxWithClock();
    const { adminUrl } = rig.sandbox;
    for (const [kind, body] of [
      ['faults', { name: 'http_503', probability: 0.5, forSeconds: 60, endpoint: 'status' }],
      ['incidents', { name: 'authz', share: 0.4, forSeconds: 60, channel: 'p2p' }],
    ] as const) {
      const added = await call('POST', `${adminUrl}/${kind}`, { body });
      expect(added.status).toBe(201);
      expect(added.json).toMatchObject({ ...body, untilMs: START_MS + 60_000 });
      const { id } = added.json as { id: string };
      expect((await call('GET', `${adminUrl}/${kind}`)).json).toMatchObject({ [kind]: [{ id }] });
      expect((await call('DELETE', `${adminUrl}/${kind}/${id}`)).status).toBe(204);
      expect((await call('DELETE', `${adminUrl}/${kind}/${id}`)).status).toBe(404);
      expect((await call('GET', `${adminUrl}/${kind}`)).json).toEqual({ [kind]: [] });
    }
  });

  it('refuses what it does not understand and says which field is wrong', async () => {
    await using rig = await sandboxWithClock();
    const { adminUrl } = rig.sandbox;
    for (const [path, body, field] of [
      ['faults', { name: 'nonsense' }, 'name'],
      ['faults', { name: 'slow', probability: '1' }, 'probability'],
      ['faults', { name: 'slow', propability: 1 }, 'additional properties'],
      ['incidents', { name: 'authz' }, 'share'],
      ['rate', { ratePerSecond: -1 }, 'ratePerSecond'],
      ['orders', { items: [{ offsetMs: 1 }] }, 'action'],
      ['withdrawals', { amount: 0 }, 'amount'],
    ] as const) {
      const answer = await call('POST', `${adminUrl}/${path}`, { body });
      expect([path, answer.status]).toEqual([path, 400]);
      expect(answer.text).toContain(field);
    }
    expect((await call('POST', `${adminUrl}/faults`, { raw: '{nope' })).status).toBe(400);
    for (const query of ['since=yesterday-ish', 'limit=0', 'limit=x']) {
      expect((await call('GET', `${adminUrl}/orders?${query}`)).status).toBe(400);
    }
  });

  it('seeds an order with a given history, changes it, and sends its callback', async () => {
    await using merchant = await receiver();
    await using rig = await sandboxWithClock();
    const { sandbox, clock } = rig;
    const seeded = await call('POST', `${sandbox.adminUrl}/orders`, {
      body: {
        externalId: 'order-7',
        externalTransactionId: 'mine-7',
        amount: 12.3,
        currency: 'USD',
        callbackUrl: merchant.url,
        items: [
          { action: '1.0.0.00', offsetMs: -3000 },
          { action: '4.1.3.00', time: '2026-11-21T10:15:29.123456' },
          { action: 'no code at all', time: 'no time at all' },
          { action: '6.1.1.00', offsetMs: 4000 },
        ],
      },
    });
    expect(seeded.status).toBe(201);
    expect(
      (await call('POST', `${sandbox.adminUrl}/orders`, { body: { externalId: 'order-7' } })).status,
    ).toBe(409);
    const read = async () => (await status(sandbox, 'order-7')).json as FullStatusReply;
    expect(await read()).toMatchObject({ orderStatus: 'Processing', amount: 12.3, currency: 'USD' });
    expect((await read()).orderHistory).toEqual([
      { time: '2026-11-21T10:15:27.250Z', action: '1.0.0.00' },
      { time: '2026-11-21T10:15:29.123456', action: '4.1.3.00' },
      { time: 'no time at all', action: 'no code at all' },
    ]);
    const admin = `${sandbox.adminUrl}/orders/order-7`;
    await call('PUT', `${admin}/status`, { body: { status: 'Success', amount: 12 } });
    await call('POST', `${admin}/items`, {
      body: { action: '3.0.1.52', time: '2026-11-21T10:15:28Z', visibleAfterMs: 1000 },
    });
    expect(await read()).toMatchObject({ orderStatus: 'Success', amount: 12 });
    expect((await read()).orderHistory).toHaveLength(3);
    clock.advance(1000);
    expect((await read()).orderHistory.map(({ action }) => action)).toEqual([
      '1.0.0.00',
      '3.0.1.52',
      '4.1.3.00',
      'no code at all',
    ]);
    clock.advance(3000);
    expect((await read()).orderHistory.at(-1)).toEqual({
      time: '2026-11-21T10:15:34.250Z',
      action: '6.1.1.00',
    });

    expect(
      (await call('POST', `${admin}/callbacks`, { body: { signature: 'wrong', times: 2 } })).status,
    ).toBe(202);
    await until(() => merchant.received.length === 2, 'two callbacks');
    expect(JSON.parse(merchant.received[0]?.body ?? '')).toMatchObject({
      externalId: 'order-7',
      status: 'Success',
      amount: '12.00',
    });
    expect((await call('POST', `${sandbox.adminUrl}/orders/nobody/callbacks`, { body: {} })).status).toBe(
      404,
    );
  });

  it('makes payouts, which live and can be read', async () => {
    await using rig = await sandboxWithClock();
    const { sandbox, clock } = rig;
    const made = await call('POST', `${sandbox.adminUrl}/withdrawals`, {
      body: { amount: 70, externalTransactionId: 'out-1' },
    });
    expect(made.status).toBe(201);
    const again = await call('POST', `${sandbox.adminUrl}/withdrawals`, {
      body: { externalTransactionId: 'out-1' },
    });
    expect(again.status).toBe(409);
    clock.advance(600_000);
    const url = `${sandbox.secureUrl}/api/v1/integration/withdrawal-order/out-1/status-by-external-transaction-id`;
    const reply = (await call('GET', url, { token: sandbox.token })).json as FullStatusReply;
    expect(reply).toMatchObject({
      orderType: 'Withdrawal',
      amount: 70,
      orderStatus: (made.json as OrderTruth).finalStatus,
    });
    expect(reply.orderHistory.length).toBeGreaterThan(2);
  });

  it('lists what it knows in pages, by number or by time', async () => {
    await using rig = await sandboxWithClock();
    const { sandbox, clock } = rig;
    for (let i = 0; i < 3; i++) await create(sandbox, deposit(`l-${i}`));
    clock.advance(5000);
    await create(sandbox, deposit('l-3'));
    const page = async (query: string) =>
      (await call('GET', `${sandbox.adminUrl}/orders?${query}`)).json as {
        orders: OrderTruth[];
        next: number | null;
      };
    const first = await page('limit=3');
    expect(first.orders.map(({ externalTransactionId }) => externalTransactionId)).toEqual([
      'l-0',
      'l-1',
      'l-2',
    ]);
    const second = await page(`limit=3&since=${first.next}`);
    expect(second.orders.map(({ externalTransactionId }) => externalTransactionId)).toEqual(['l-3']);
    expect(second.next).toBeNull();
    const later = await page(`since=${encodeURIComponent(new Date(START_MS + 1).toISOString())}`);
    expect(later.orders).toEqual(second.orders);
    const one = await call('GET', `${sandbox.adminUrl}/orders/${second.orders[0]?.externalId}`);
    expect(one.json).toEqual(second.orders[0]);
  });

  it('counts orders, requests and callbacks', async () => {
    await using rig = await sandboxWithClock();
    const { sandbox } = rig;
    await create(sandbox, deposit('s'));
    await create(sandbox, deposit('s'));
    await status(sandbox, 'nobody');
    await call('POST', `${sandbox.adminUrl}/rate`, { body: { ratePerSecond: 3 } });
    const stats = (await call('GET', `${sandbox.adminUrl}/stats`)).json;
    expect(stats).toMatchObject({
      orders: { created: 1 },
      createRequests: { 200: 1, 400: 1 },
      statusRequests: { 404: 1 },
      ratePerSecond: 3,
      ordersInMemory: 1,
      itemsVisible: 1,
    });
  });

  it('refuses pages of other sites and names that only resolve here', async () => {
    await using rig = await sandboxWithClock();
    await using open = await sandboxWithClock({ adminRemote: true });
    const headers = { origin: 'https://evil.example' };
    expect((await call('GET', `${rig.sandbox.adminUrl}/stats`, { headers })).status).toBe(403);
    expect((await call('GET', `${open.sandbox.adminUrl}/stats`, { headers })).status).toBe(200);
    const asked = await new Promise((resolve) => {
      request(`${rig.sandbox.adminUrl}/stats`, { headers: { host: 'evil.example' } }, (reply) => {
        reply.resume();
        resolve(reply.statusCode);
      }).end();
    });
    expect(asked).toBe(403);
    expect(['127.0.0.1', '127.8.8.8', '::1', '10.0.0.1', '172.17.0.1'].map(isLoopback)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
  });
});
