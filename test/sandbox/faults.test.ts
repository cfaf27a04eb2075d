import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { FaultName } from '../../sandbox/faults.ts';
import type { Sandbox } from '../../sandbox/server.ts';
import type { FullStatusReply, HistoryItem } from '../../schemas/gateway/status-reply.ts';
import { call, create, deposit, PATH, receiver, sandboxWithClock, status, until } from './support.ts';

const ITEMS = ['1.0.0.00', '1.1.1.00', '2.1.1.00', '4.2.2.13'].map((action, i) => ({
  action,
  offsetMs: i * 10 - 1000,
}));
const seed = (sandbox: Sandbox) => sandbox.seedOrder({ items: ITEMS }).externalId;

/** How a request went that got no whole reply. */
async function failure(request: Promise<unknown>): Promise<string> {
  try {
    await request;
    return 'answered';
  } catch (error) {
    const { cause, name } = error as Error;
    return String((cause as { code?: string } | undefined)?.code ?? name);
  }
}

describe('faults of requests', () => {
  const STATUSES: Partial<Record<FaultName, number>> = {
    http_401: 401,
    http_403: 403,
    http_403_ip: 403,
    http_423: 423,
    http_429: 429,
    http_499: 499,
    http_500: 500,
    http_503: 503,
  };

  it('answer with their HTTP status on both kinds of endpoints, and stop when they are removed', async () => {
    await using rig = await sandboxWithClock();
    const { sandbox } = rig;
    const id = seed(sandbox);
    for (const [name, expected] of Object.entries(STATUSES)) {
      const fault = sandbox.faults.add({ name: name as FaultName });
      const reply = await status(sandbox, id);
      expect([name, reply.status]).toEqual([name, expected]);
      expect(reply.headers.get('retry-after')).toBe(expected === 429 ? '2' : null);
      expect((await create(sandbox, deposit(`c-${name}`))).status).toBe(expected);
      sandbox.faults.remove(fault.id);
      expect((await status(sandbox, id)).status).toBe(200);
    }
    expect(sandbox.stats().statusRequests).toMatchObject({
      401: 1,
      403: 2,
      423: 1,
      429: 1,
      499: 1,
      500: 1,
      503: 1,
      200: 8,
    });
  });

  it('ask for a pause with 429, and with 503 where a test says so', async () => {
    await using rig = await sandboxWithClock();
    const id = seed(rig.sandbox);
    for (const name of ['http_429', 'http_503', 'http_500'] as const) {
      const fault = rig.sandbox.faults.add({ name, retryAfterSeconds: 90 });
      const { headers } = await status(rig.sandbox, id);
      expect([name, headers.get('retry-after')]).toEqual([name, name === 'http_500' ? null : '90']);
      rig.sandbox.faults.remove(fault.id);
    }
  });

  it('send informational answers before the reply, which stays what it is', async () => {
    await using rig = await sandboxWithClock();
    const id = seed(rig.sandbox);
    const plain = await status(rig.sandbox, id);
    rig.sandbox.faults.add({ name: 'early_hints' });
    const heard: number[] = [];
    const url = `${rig.sandbox.secureUrl}${PATH}/${id}/status`;
    const asked = request(url, { headers: { authorization: `Bearer ${rig.sandbox.token}` } }).end();
    asked.on('information', ({ statusCode }) => heard.push(statusCode));
    const [reply] = (await once(asked, 'response')) as [IncomingMessage];
    expect(JSON.parse(await text(reply))).toEqual(plain.json);
    expect([...heard, reply.statusCode]).toEqual([100, 103, 200]);
  });

  it('leave the payment unknown: after a 500 the order may exist, after a 423 it does not (section 1)', async () => {
    await using rig = await sandboxWithClock();
    const { sandbox } = rig;
    const read = (id: string) =>
      call('GET', `${sandbox.secureUrl}${PATH}/${id}/status-by-external-transaction-id`, {
        token: sandbox.token,
      });
    for (const [name, processed, found] of [
      ['http_500', undefined, 200],
      ['http_423', undefined, 404],
      ['connection_reset', undefined, 200],
      ['http_500', false, 404],
      ['limit_reached', undefined, 404],
    ] as const) {
      const fault = sandbox.faults.add({
        name,
        endpoint: 'create',
        ...(processed === undefined ? {} : { processed }),
      });
      await create(sandbox, deposit(`u-${fault.id}`)).catch(() => undefined);
      expect([name, (await read(`u-${fault.id}`)).status]).toEqual([name, found]);
      sandbox.faults.remove(fault.id);
    }
  });

  it('say "limit was reached" on create only', async () => {
    await using rig = await sandboxWithClock();
    const id = seed(rig.sandbox);
    rig.sandbox.faults.add({ name: 'limit_reached' });
    const answer = await create(rig.sandbox, deposit('l'));
    expect([answer.status, answer.json]).toEqual([
      400,
      { code: 'LIMIT_REACHED', message: 'Limit was reached' },
    ]);
    expect((await status(rig.sandbox, id)).status).toBe(200);
  });

  it('reset the connection, cut the body, cut the JSON, never answer', async () => {
    await using rig = await sandboxWithClock();
    const { sandbox } = rig;
    const id = seed(sandbox);
    const reset = sandbox.faults.add({ name: 'connection_reset' });
    expect(await failure(status(sandbox, id))).toBe('ECONNRESET');
    sandbox.faults.remove(reset.id);

    const cut = sandbox.faults.add({ name: 'truncated_body' });
    expect(await failure(status(sandbox, id))).not.toBe('answered');
    sandbox.faults.remove(cut.id);

    const half = sandbox.faults.add({ name: 'truncated_json' });
    const reply = await status(sandbox, id);
    expect(reply.status).toBe(200);
    expect(reply.text).toContain(id);
    expect(reply.json).toBeUndefined();
    sandbox.faults.remove(half.id);

    const silence = sandbox.faults.add({ name: 'timeout' });
    const url = `${sandbox.secureUrl}${PATH}/${id}/status`;
    expect(await failure(call('GET', url, { token: sandbox.token, signal: AbortSignal.timeout(150) }))).toBe(
      'TimeoutError',
    );
    sandbox.faults.remove(silence.id);

    const brief = sandbox.faults.add({ name: 'timeout', delayMs: 20 });
    expect(await failure(status(sandbox, id))).toBe('UND_ERR_SOCKET');
    sandbox.faults.remove(brief.id);
    expect((await status(sandbox, id)).status).toBe(200);
  });

  it('do not keep the sandbox from stopping while a request waits for its answer', async () => {
    const rig = await sandboxWithClock();
    const id = seed(rig.sandbox);
    rig.sandbox.faults.add({ name: 'timeout' });
    const waiting = failure(status(rig.sandbox, id));
    await until(() => rig.sandbox.stats().faults['timeout'] === 1, 'the request to wait');
    const begin = performance.now();
    await rig.sandbox.stop();
    expect(performance.now() - begin).toBeLessThan(2000);
    expect(await waiting).not.toBe('answered');
  });

  it('answer late, but whole', async () => {
    await using rig = await sandboxWithClock();
    const id = seed(rig.sandbox);
    rig.sandbox.faults.add({ name: 'slow', delayMs: 120 });
    const begin = performance.now();
    const reply = await status(rig.sandbox, id);
    expect(performance.now() - begin).toBeGreaterThan(115);
    expect(reply.json).toMatchObject({ externalId: id });
  });

  it('give the reply of another order', async () => {
    await using rig = await sandboxWithClock();
    const id = seed(rig.sandbox);
    rig.sandbox.faults.add({ name: 'id_mismatch' });
    const reply = (await status(rig.sandbox, id)).json as FullStatusReply;
    expect(reply.externalId).not.toBe(id);
    expect(reply.orderHistory).toHaveLength(ITEMS.length);
  });

  it('shuffle the history', async () => {
    await using rig = await sandboxWithClock();
    const id = seed(rig.sandbox);
    const sorted = ((await status(rig.sandbox, id)).json as FullStatusReply).orderHistory;
    rig.sandbox.faults.add({ name: 'out_of_order_items' });
    const shuffled = ((await status(rig.sandbox, id)).json as FullStatusReply).orderHistory;
    expect(shuffled).not.toEqual(sorted);
    expect(new Set(shuffled)).toEqual(new Set<HistoryItem>(sorted));
  });

  it('strike by chance, for a time, and only where their scope says', async () => {
    await using rig = await sandboxWithClock();
    const { sandbox, clock } = rig;
    const atCheck = seed(sandbox);
    const atStart = sandbox.seedOrder({
      items: [{ action: '1.0.0.00', offsetMs: -5 }],
      channel: 'p2p',
    }).externalId;
    const payout = sandbox.createWithdrawal().externalId;
    const readPayout = () =>
      call('GET', `${sandbox.secureUrl}/api/v1/integration/withdrawal-order/${payout}/status`, {
        token: sandbox.token,
      });

    const byStage = sandbox.faults.add({ name: 'http_503', stage: 4 });
    expect([(await status(sandbox, atCheck)).status, (await status(sandbox, atStart)).status]).toEqual([
      503, 200,
    ]);
    sandbox.faults.remove(byStage.id);
    const byType = sandbox.faults.add({ name: 'http_503', orderType: 'Withdrawal' });
    expect([(await status(sandbox, atCheck)).status, (await readPayout()).status]).toEqual([200, 503]);
    sandbox.faults.remove(byType.id);
    const byChannel = sandbox.faults.add({ name: 'http_503', channel: 'p2p' });
    expect([(await status(sandbox, atCheck)).status, (await status(sandbox, atStart)).status]).toEqual([
      200, 503,
    ]);
    sandbox.faults.remove(byChannel.id);
    const byEndpoint = sandbox.faults.add({ name: 'http_503', endpoint: 'create' });
    expect([(await status(sandbox, atCheck)).status, (await create(sandbox, deposit('s'))).status]).toEqual([
      200, 503,
    ]);
    sandbox.faults.remove(byEndpoint.id);

    sandbox.faults.add({ name: 'http_503', probability: 0.5, forSeconds: 60 });
    const seen: number[] = [];
    for (let i = 0; i < 60; i++) seen.push((await status(sandbox, atCheck)).status);
    expect(new Set(seen)).toEqual(new Set([200, 503]));
    expect(sandbox.faults.list()[0]?.applied).toBe(seen.filter((code) => code === 503).length);
    clock.advance(60_000);
    expect(sandbox.faults.list()).toEqual([]);
    expect((await status(sandbox, atCheck)).status).toBe(200);
  });
});

describe('faults of histories', () => {
  it.each([
    ['unknown_code', /^(1\.2\.4\.18|7\.0\.0\.00)$/],
    ['legacy_code', /^10\.2\.31\.4$/],
  ] as const)('%s puts its codes into the history of new orders', async (name, pattern) => {
    await using rig = await sandboxWithClock();
    const { sandbox, clock } = rig;
    sandbox.faults.add({ name });
    for (let i = 0; i < 10; i++) await create(sandbox, deposit(`h-${i}`));
    clock.advance(600_000);
    for (const { externalId } of sandbox.orders()) {
      const { orderHistory } = (await status(sandbox, externalId)).json as FullStatusReply;
      expect(orderHistory.some(({ action }) => pattern.test(action))).toBe(true);
    }
  });

  it('late_items gives every finished order items after its end', async () => {
    await using rig = await sandboxWithClock({ lateShare: 0 });
    rig.sandbox.faults.add({ name: 'late_items' });
    for (let i = 0; i < 20; i++) await create(rig.sandbox, deposit(`h-${i}`));
    for (const truth of rig.sandbox.orders()) {
      if (truth.finalStatus === 'Processing') continue;
      const states = truth.items.filter(({ action }) => /^\d\.\d\.[34]/.test(action));
      expect(truth.settledAtMs).toBeGreaterThan(Math.min(...states.map((item) => item.visibleAtMs)) + 4999);
    }
  });
});

/** All callbacks of one payout, while a fault is on. */
const send = async (name: FaultName, more: object = {}) => {
  await using merchant = await receiver();
  await using rig = await sandboxWithClock({ callbacks: { url: merchant.url } });
  rig.sandbox.faults.add({ name, ...more });
  rig.sandbox.createWithdrawal();
  rig.clock.advance(60_000);
  await until(() => rig.sandbox.stats().callbacksPending === 0, 'callbacks answered');
  return { received: merchant.received, stats: rig.sandbox.stats(), key: rig.sandbox.callbackKey };
};

describe('faults of callbacks', () => {
  it('sign with another key, or not at all', async () => {
    const right = await send('http_500');
    const wrong = await send('callback_wrong_signature');
    const missing = await send('callback_missing_signature');
    expect(wrong.received.length).toBe(right.received.length);
    for (const [i, { headers, body }] of wrong.received.entries()) {
      expect(body).toBe(right.received[i]?.body);
      expect(headers['signature']).toMatch(/^[0-9a-f]{64}$/);
      expect(headers['signature']).not.toBe(right.received[i]?.headers['signature']);
      expect(missing.received[i]?.headers['signature']).toBeUndefined();
    }
  });

  it('sign by other rules, the body as it is', async () => {
    const right = await send('http_500');
    const otherwise = await send('callback_signed_otherwise', { signing: 'header_base64' });
    for (const [i, { headers, body }] of otherwise.received.entries()) {
      expect(body).toBe(right.received[i]?.body);
      const hash = Buffer.from(String(headers['signature']), 'base64').toString('hex');
      expect(hash).toBe(right.received[i]?.headers['signature']);
    }
    expect(otherwise.received.length).toBe(right.received.length);
  });

  it('keep callbacks back, double them, or let them change places', async () => {
    const right = await send('http_500');
    const missing = await send('callback_missing');
    expect(missing.received).toEqual([]);
    expect(missing.stats.callbacks.dropped).toBe(right.received.length);
    const doubled = await send('callback_duplicate');
    expect(doubled.received.length).toBe(2 * right.received.length);
    const delayed = await send('callback_delayed', { delayMs: 30_000 });
    const order = (received: typeof right.received) => received.map(({ body }) => body);
    expect(order(delayed.received).toSorted()).toEqual(order(right.received).toSorted());
    expect(delayed.stats.faults['callback_delayed']).toBe(right.received.length);
  });
});
