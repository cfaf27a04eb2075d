import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import { type CollectorProcess, startCollectorProcess } from '../support/collector-process.ts';
import { FAST_POLL, gatewayConfig, postCallback } from './support/gateway.ts';
import { metric } from './support/metrics.ts';

/**
 * One collector and four gateways, each with a trouble of its own: what one of them does must not touch the
 * others, and none of it may stop the collector.
 */
describe('a collector whose gateways misbehave', () => {
  const sandboxes: Record<'closed' | 'moody' | 'garbled' | 'dated', Sandbox> = {} as never;
  let collector: CollectorProcess;
  beforeAll(async () => {
    for (const name of ['closed', 'moody', 'garbled', 'dated'] as const) {
      sandboxes[name] = await createSandbox({ seed: name });
    }
    const poll = { ...FAST_POLL, delaysS: [0.3], rereadsS: [1], probeS: 0.5, deadlineMs: 1000 };
    collector = await startCollectorProcess({
      config: {
        gateways: [
          gatewayConfig(sandboxes.closed, { name: 'closed', token: 'not-the-token-of-this-merchant', poll }),
          gatewayConfig(sandboxes.moody, { name: 'moody', poll }),
          gatewayConfig(sandboxes.garbled, { name: 'garbled', poll }),
          gatewayConfig(sandboxes.dated, { name: 'dated', poll }),
        ],
      },
    });
  });
  afterAll(async () => {
    await collector[Symbol.asyncDispose]();
    await Promise.all(Object.values(sandboxes).map((sandbox) => sandbox.stop()));
  });

  type Name = keyof typeof sandboxes;
  const watch = async (gateway: Name, ...ids: string[]) => {
    const body = ids.map((externalId) => ({ gateway, orderType: 'Deposit', externalId }));
    const headers = { 'Content-Type': 'application/json' };
    const reply = await fetch(`${collector.http}/orders`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers,
    });
    expect(reply.status).toBe(202);
  };
  const seed = (gateway: Name) =>
    sandboxes[gateway].seedOrder({ items: [{ action: '1.1.1.00', offsetMs: -1000 }] }).externalId;
  const polls = (id: string) =>
    collector.query<{ outcome: string; http_status: number | null; error_type: string }>(
      `SELECT DISTINCT outcome, http_status, error_type FROM polls WHERE order_id = '${id}' ORDER BY ALL`,
    );
  const items = async (id: string) =>
    (await collector.query(`SELECT action FROM history_events WHERE external_id = '${id}'`)).length;
  const get = async (path: string) => {
    const reply = await fetch(`${collector.http}${path}`);
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
  };

  it('polls on with a wrong token: rows say unauthorized, a circuit opens, and others are read as ever', async () => {
    const ids = [seed('closed'), seed('closed'), seed('closed')];
    await watch('closed', ...ids);
    await expect
      .poll(() => polls(ids[0] ?? ''))
      .toEqual([{ outcome: 'unauthorized', http_status: 401, error_type: 'http_401' }]);
    const open = () => metric(collector.http, 'gatewatch_circuits_open', { gateway: 'closed' });
    await expect.poll(open).toBe(1);
    expect(collector.logged('the gateway refuses our credentials or address')[0]).toMatchObject({
      level: 'warn',
      gateway: 'closed',
    });
    const honest = seed('moody');
    await watch('moody', honest);
    await expect.poll(() => items(honest)).toBe(1);
    expect(await metric(collector.http, 'gatewatch_circuits_open', { gateway: 'moody' })).toBe(0);
    expect((await get('/healthz')).status).toBe(200);
  });

  it('closes the circuit by itself when the gateway takes the token again', async () => {
    const sandbox = sandboxes.moody;
    const { id } = sandbox.faults.add({ name: 'http_401', endpoint: 'status' });
    const ids = [seed('moody'), seed('moody'), seed('moody')];
    await watch('moody', ...ids);
    const open = () => metric(collector.http, 'gatewatch_circuits_open', { gateway: 'moody' });
    await expect.poll(open).toBe(1);
    sandbox.faults.remove(id);
    await expect.poll(open).toBe(0);
    for (const order of ids) await expect.poll(() => items(order)).toBe(1);
    const probes = await collector.query(
      `SELECT 1 FROM polls WHERE gateway = 'moody' AND cause = 'probe' LIMIT 1`,
    );
    expect(probes).toHaveLength(1);
  });

  it.each([
    ['http_423', { outcome: 'locked', http_status: 423, error_type: 'http_423' }],
    ['http_499', { outcome: 'unknown', http_status: 499, error_type: 'http_499' }],
    ['http_500', { outcome: 'unknown', http_status: 500, error_type: 'http_500' }],
    ['connection_reset', { outcome: 'unknown', http_status: null, error_type: 'connection_reset' }],
    ['timeout', { outcome: 'unknown', http_status: null, error_type: 'timeout' }],
    ['truncated_body', { outcome: 'unknown', http_status: null, error_type: 'truncated' }],
  ] as const)(
    'records %s as what it is, leaves the order open, and reads it when the gateway is well',
    async (name, row) => {
      const sandbox = sandboxes.garbled;
      const { id } = sandbox.faults.add({ name, endpoint: 'status' });
      const order = seed('garbled');
      await watch('garbled', order);
      await expect.poll(() => polls(order)).toEqual([row]);
      sandbox.faults.remove(id);
      await expect.poll(() => items(order)).toBe(1);
      const stored = () =>
        collector.query(`SELECT status, outcome FROM orders WHERE external_id = '${order}'`);
      await expect.poll(stored).toEqual([{ status: 'Processing', outcome: null }]);
    },
  );

  it('takes broken JSON for an invalid response, keeps the reason as a reject, and reads on', async () => {
    const sandbox = sandboxes.garbled;
    const { id } = sandbox.faults.add({ name: 'truncated_json', endpoint: 'status' });
    const order = seed('garbled');
    await watch('garbled', order);
    await expect
      .poll(() => polls(order))
      .toEqual([{ outcome: 'invalid_response', http_status: 200, error_type: 'reply_truncated' }]);
    const rejects = () =>
      collector.query(`SELECT reason, field, expected, order_id FROM rejects WHERE order_id = '${order}'`);
    // However often it is read, the same fault of the same order is one reject.
    await expect.poll(async () => (await pollCount(order)) > 2).toBe(true);
    expect(await rejects()).toEqual([
      { reason: 'reply_truncated', field: 'body', expected: 'JSON', order_id: order },
    ]);
    sandbox.faults.remove(id);
    await expect.poll(() => items(order)).toBe(1);
  });

  const pollCount = async (id: string) =>
    (await collector.query<{ n: number }>(`SELECT count() AS n FROM polls WHERE order_id = '${id}'`))[0]?.n ??
    0;

  it('files a reply about another order under neither of the two', async () => {
    const sandbox = sandboxes.garbled;
    const { id } = sandbox.faults.add({ name: 'id_mismatch' });
    const order = seed('garbled');
    await watch('garbled', order);
    await expect
      .poll(() => polls(order))
      .toEqual([{ outcome: 'invalid_response', http_status: 200, error_type: 'id_mismatch' }]);
    expect(await items(order)).toBe(0);
    sandbox.faults.remove(id);
    await expect.poll(() => items(order)).toBe(1);
  });

  it('keeps unknown, legacy and unreadable codes as rows with their format, and the rest of the history beside them', async () => {
    const { externalId } = sandboxes.dated.seedOrder({
      status: 'Failed',
      items: [
        { action: '1.1.1.00', offsetMs: -6000 },
        { action: '1.2.4.18', offsetMs: -5000 },
        { action: '10.2.31.4', offsetMs: -4000 },
        { action: '7.0.0.00', offsetMs: -3000 },
        { action: 'what is this', offsetMs: -2000 },
        { action: '4.1.4.00', offsetMs: -1000 },
      ],
    });
    await watch('dated', externalId);
    const rows = () =>
      collector.query(
        `SELECT action, code_format, stage, reason_group, reason_detail FROM history_events
         WHERE external_id = '${externalId}' ORDER BY event_time`,
      );
    const undecoded = { stage: null, reason_group: null, reason_detail: null };
    await expect.poll(rows).toEqual([
      {
        action: '1.1.1.00',
        code_format: 'v2',
        stage: 'INTERNAL',
        reason_group: 'NONE',
        reason_detail: 'UNSPECIFIED',
      },
      {
        action: '1.2.4.18',
        code_format: 'v2',
        stage: 'INTERNAL',
        reason_group: 'TECH',
        reason_detail: 'UNKNOWN_18',
      },
      { action: '10.2.31.4', code_format: 'legacy', ...undecoded },
      { action: '7.0.0.00', code_format: 'unrecognized', ...undecoded },
      // Not as it came: a gateway's mistake could be a card number.
      {
        action: expect.stringMatching(/^~a a a:12:[0-9a-f]{16}$/),
        code_format: 'unrecognized',
        ...undecoded,
      },
      {
        action: '4.1.4.00',
        code_format: 'v2',
        stage: 'CHECK',
        reason_group: 'NONE',
        reason_detail: 'UNSPECIFIED',
      },
    ]);
    expect(await collector.query(`SELECT reason FROM rejects WHERE order_id = '${externalId}'`)).toEqual([]);
  });

  it('keeps an item whose time cannot be read as a reject, and its neighbours as rows', async () => {
    const { externalId } = sandboxes.dated.seedOrder({
      items: [
        { action: '1.1.1.00', offsetMs: -2000 },
        { action: '2.1.1.00', time: 'yesterday', visibleAfterMs: 0 },
      ],
    });
    await watch('dated', externalId);
    await expect.poll(() => items(externalId)).toBe(1);
    const rejects = () => collector.query(`SELECT reason FROM rejects WHERE order_id = '${externalId}'`);
    await expect.poll(rejects).toEqual([{ reason: 'history_time_invalid' }]);
  });

  it('keeps a callback with a wrong signature as a row, and answers it as it answers every other', async () => {
    const externalId = seed('dated');
    const answer = async (key: string) => {
      const reply = await postCallback(`${collector.intake}/callbacks/dated`, { externalId }, key);
      return { status: reply.status, body: await reply.text() };
    };
    expect(await answer('a guess')).toEqual(await answer(sandboxes.dated.callbackKey));
    const rows = await collector.query(
      `SELECT verdict, deliveries FROM callbacks WHERE external_id = '${externalId}' ORDER BY verdict`,
    );
    expect(rows).toEqual([
      { verdict: 'valid', deliveries: 1 },
      { verdict: 'mismatch', deliveries: 1 },
    ]);
  });

  it('is in good health after all that', async () => {
    expect((await get('/healthz')).status).toBe(200);
    const { status, problems } = (await get('/readyz')).body as { status: string; problems: object };
    expect({ status, problems }).toEqual({ status: 'ok', problems: {} });
    expect(collector.output()).not.toMatch(/"level":"(error|fatal)"/);
  });
});
