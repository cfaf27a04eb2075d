import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import type { FaultName } from '../../sandbox/faults.ts';
import { cascadeAnswerSchema, type CascadeAnswer } from '../../schemas/cascade-safety.ts';
import { type CollectorProcess, startCollectorProcess } from '../support/collector-process.ts';
import { startHttpGateway, type HttpGateway } from '../support/http-gateway.ts';
import { gatewayConfig, postCallback } from './support/gateway.ts';
import { metric } from './support/metrics.ts';

/**
 * The question that the interface document demands before a payment goes to another provider (section 1),
 * asked of a running collector, about orders of a real gateway that behaves badly.
 */
describe('the cascade safety of an order', () => {
  const DEADLINE_MS = 4_000;
  let sandbox: Sandbox;
  /** Answers as a test sets it, e.g. other things by one id than by the other. */
  let liar: HttpGateway;
  let collector: CollectorProcess;

  beforeAll(async () => {
    sandbox = await createSandbox();
    liar = await startHttpGateway((_request, response) => void response.writeHead(500).end());
    collector = await startCollectorProcess({
      config: {
        gateways: [
          gatewayConfig(sandbox, { name: 'acme' }),
          { name: 'liar', secureUrl: liar.url, token: 'a-token', callbackKeys: ['0123456789abcdef'] },
          gatewayConfig(sandbox, { name: 'closed', token: 'wrong' }),
          gatewayConfig(sandbox, { name: 'scarce', poll: { requestsPerSecond: 0.2 } }),
        ],
        cascadeSafety: { deadlineMs: DEADLINE_MS },
      },
    });
  });
  afterAll(async () => {
    await collector?.[Symbol.asyncDispose]();
    await sandbox?.stop();
    await liar?.stop();
  });

  const FAILED = [
    { action: '1.1.1.00', offsetMs: -900_000 },
    { action: '4.1.4.63', offsetMs: -890_000 },
  ];
  const failed = () => sandbox.seedOrder({ status: 'Failed', items: FAILED });
  const get = async (id: string, query = 'gateway=acme') => {
    const reply = await fetch(`${collector.http}/orders/${encodeURIComponent(id)}/cascade-safety?${query}`);
    return { reply, body: (await reply.json()) as unknown };
  };
  const ask = async (id: string, query?: string): Promise<CascadeAnswer> => {
    const { reply, body } = await get(id, query);
    expect({ status: reply.status, body }).toMatchObject({ status: 200 });
    return cascadeAnswerSchema.parse(body);
  };
  const watch = async (externalId: string) => {
    const reply = await fetch(`${collector.http}/orders`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ gateway: 'acme', orderType: 'Deposit', externalId }),
    });
    expect(reply.status).toBe(202);
  };
  const stored = (id: string) =>
    collector.query<{ status: string | null }>(`SELECT status FROM orders WHERE external_id = '${id}'`);

  it('is safe for a payment that has failed by both ids, with the evidence', async () => {
    const { externalId, externalTransactionId } = failed();
    const answer = await ask(externalId);
    expect(answer).toMatchObject({
      verdict: 'safe',
      rule: 'failed',
      section: '1, rule 2',
      caveats: [],
      order: { gateway: 'acme', orderType: 'Deposit', externalId, externalTransactionId },
      requests: [
        { endpoint: 'deposit-status', id: externalId, httpStatus: 200, orderStatus: 'Failed' },
        { endpoint: 'deposit-status-by-transaction', id: externalTransactionId, orderStatus: 'Failed' },
      ],
    });
    expect(answer.requests[0]?.decidingItem).toMatchObject({ action: '4.1.4.63' });
    expect(Date.parse(answer.answeredAt) - Date.parse(answer.since ?? '')).toBeGreaterThan(880_000);
  });

  it('is safe when asked by the id of the merchant, who knows no other after a create that broke off', async () => {
    const { externalId, externalTransactionId } = failed();
    const answer = await ask(externalTransactionId, 'gateway=acme&type=Deposit&by=transaction-id');
    expect(answer).toMatchObject({ verdict: 'safe', order: { externalId, externalTransactionId } });
  });

  it('is safe seconds after the failure, and says that items may still come', async () => {
    const { externalId } = sandbox.seedOrder({
      status: 'Failed',
      items: [{ action: '4.1.4.00', offsetMs: -1000 }],
    });
    const { verdict, caveats } = await ask(externalId);
    expect({ verdict, caveats: caveats.map(({ caveat }) => caveat) }).toEqual({
      verdict: 'safe',
      caveats: ['recent_failure'],
    });
  });

  it('is unsafe while the payment is under way, and when it went through', async () => {
    const open = sandbox.seedOrder({ items: [{ action: '1.1.1.00', offsetMs: -1000 }] });
    expect(await ask(open.externalId)).toMatchObject({ verdict: 'unsafe', rule: 'not_final' });
    const created = sandbox.seedOrder({ status: 'Created', items: [] });
    expect(await ask(created.externalId)).toMatchObject({ verdict: 'unsafe', rule: 'not_final' });
    const paid = sandbox.seedOrder({ status: 'Success', items: [{ action: '4.1.3.00', offsetMs: -1000 }] });
    expect(await ask(paid.externalId)).toMatchObject({ verdict: 'unsafe', rule: 'payment_succeeded' });
  });

  it('is unsafe when the history knows of a success that the status denies', async () => {
    const { externalId } = sandbox.seedOrder({
      status: 'Failed',
      items: [
        { action: '5.1.3.00', offsetMs: -9000 },
        { action: '4.1.4.00', offsetMs: -1000 },
      ],
    });
    expect(await ask(externalId)).toMatchObject({ verdict: 'unsafe', rule: 'success_in_history' });
  });

  it('is unsafe when a callback that verifies said Success; one that does not is nothing', async () => {
    const { externalId } = failed();
    const send = async (key: string) => {
      const reply = await postCallback(`${collector.intake}/callbacks/acme`, { externalId }, key);
      expect(reply.status).toBe(200);
    };
    await send('a key that is a guess');
    expect(await ask(externalId)).toMatchObject({ verdict: 'safe' });
    await send(sandbox.callbackKey);
    const answer = await ask(externalId, 'gateway=acme&type=Deposit');
    expect(answer).toMatchObject({ verdict: 'unsafe', rule: 'success_callback' });
    expect(answer.known?.successCallbackAt).not.toBeNull();
  });

  it('is unsafe by what is known under an id that only the reply names', async () => {
    const { externalId, externalTransactionId } = failed();
    await postCallback(`${collector.intake}/callbacks/acme`, { externalId }, sandbox.callbackKey);
    const query = 'gateway=acme&type=Deposit&by=transaction-id';
    expect(await ask(externalTransactionId, query)).toMatchObject({ rule: 'success_callback' });
  });

  it('is unsafe when an earlier reply said Success', async () => {
    const { externalId } = sandbox.seedOrder({ status: 'Success', items: [] });
    await watch(externalId);
    await expect.poll(() => stored(externalId)).toEqual([{ status: 'Success' }]);
    sandbox.setStatus(externalId, { status: 'Failed' });
    expect(await ask(externalId)).toMatchObject({ verdict: 'unsafe', rule: 'success_seen_before' });
  });

  it.each([
    ['http_401', 'unauthorized', 'http_401'],
    ['http_403', 'forbidden', 'http_403'],
    ['http_423', 'locked', 'http_423'],
    ['http_499', 'unknown', 'http_499'],
    ['http_500', 'unknown', 'http_500'],
    ['connection_reset', 'unknown', 'connection_reset'],
    ['truncated_body', 'unknown', 'truncated'],
    ['truncated_json', 'invalid_response', 'reply_truncated'],
    ['id_mismatch', 'invalid_response', 'id_mismatch'],
    ['timeout', 'unknown', 'timeout'],
  ] satisfies [FaultName, string, string][])(
    'is unknown when the gateway has the fault %s',
    async (name, outcome, errorType) => {
      // Of another type than the orders that are read in the background: these would open a circuit.
      const orderType = 'Withdrawal';
      const { externalId } = sandbox.seedOrder({ orderType, status: 'Failed', items: FAILED });
      const { id } = sandbox.faults.add({ name, endpoint: 'status', orderType });
      const askedAt = performance.now();
      const answer = await ask(externalId, `gateway=acme&type=${orderType}`);
      sandbox.faults.remove(id);
      expect(performance.now() - askedAt).toBeLessThan(DEADLINE_MS + 2_000);
      expect(answer).toMatchObject({
        verdict: 'unknown',
        rule: 'status_not_read',
        requests: [{ outcome, errorType }],
      });
    },
  );

  it('is unknown for an order that the gateway does not know, or whose status has no meaning', async () => {
    expect(await ask('no-such-order')).toMatchObject({
      verdict: 'unknown',
      rule: 'status_not_read',
      requests: [{ outcome: 'not_found', httpStatus: 404 }],
    });
    const { externalId } = sandbox.seedOrder({ status: 'Expired', items: FAILED });
    expect(await ask(externalId)).toMatchObject({ verdict: 'unknown', rule: 'status_not_defined' });
    const unreadable = sandbox.seedOrder({ status: 'Failed', items: [{ action: '7.0.0.00', offsetMs: -1 }] });
    expect(await ask(unreadable.externalId)).toMatchObject({
      verdict: 'unknown',
      rule: 'history_unreadable',
    });
  });

  describe('when the two ids say different things', () => {
    const replies = (byExternalId: object, byTransactionId: object) => {
      liar.respond = (request, response) => {
        const isMerchants = request.url?.includes('status-by-external-transaction-id') === true;
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(isMerchants ? byTransactionId : byExternalId));
      };
    };
    const reply = (externalId: string, orderStatus: string) => ({
      externalId,
      externalTransactionId: `m-${externalId}`,
      orderStatus,
      orderHistory: [],
    });

    it.each([
      ['Success', 'unsafe', 'payment_succeeded'],
      ['Processing', 'unsafe', 'not_final'],
      ['Failed', 'safe', 'failed'],
    ])('Failed and %s is %s', async (other, verdict, rule) => {
      const id = `two-${other}`;
      replies(reply(id, 'Failed'), reply(id, other));
      const answer = await ask(id, 'gateway=liar');
      expect(answer).toMatchObject({ verdict, rule });
      expect(answer.requests).toHaveLength(2);
    });

    it('is unknown when they lead to different orders, or the other id to none', async () => {
      replies(reply('a', 'Failed'), { ...reply('b', 'Failed'), externalTransactionId: 'm-a' });
      expect(await ask('a', 'gateway=liar')).toMatchObject({ verdict: 'unknown', rule: 'ids_disagree' });
      replies(reply('c', 'Failed'), { error: 'no such order' });
      expect(await ask('c', 'gateway=liar')).toMatchObject({ verdict: 'unknown', rule: 'status_not_read' });
    });
  });

  it('is unknown, and said at once, while a circuit keeps us from asking with a refused token', async () => {
    for (const id of ['x-1', 'x-2', 'x-3'])
      expect(await ask(id, 'gateway=closed')).toMatchObject({ requests: [{ outcome: 'unauthorized' }] });
    expect(await ask('x-4', 'gateway=closed')).toMatchObject({
      verdict: 'unknown',
      rule: 'not_asked',
      requests: [{ errorType: 'circuit_open', askedAt: null }],
    });
  });

  it('is unknown when the budget of requests is used up', async () => {
    const { externalId } = sandbox.seedOrder({ status: 'Processing', items: [] });
    expect(await ask(externalId, 'gateway=scarce')).toMatchObject({ verdict: 'unsafe' });
    const other = failed();
    expect(await ask(other.externalId, 'gateway=scarce')).toMatchObject({
      verdict: 'unknown',
      rule: 'not_asked',
      requests: [{ errorType: 'budget' }],
    });
  });

  it('is read once for questions that come together, anew a second later, and is never cached', async () => {
    const { externalId } = sandbox.seedOrder({ status: 'Processing', items: [] });
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(externalId)));
    expect(new Set(answers.map(({ requests }) => requests[0]?.askedAt)).size).toBe(1);
    const first = answers[0]?.requests[0]?.askedAt;
    await expect.poll(async () => (await ask(externalId)).requests[0]?.askedAt).not.toBe(first);
    expect((await get(externalId)).reply.headers.get('cache-control')).toBe('no-store');
  });

  it('is unknown within the time that the caller gives, if that is too short', async () => {
    const { externalId } = failed();
    const { id } = sandbox.faults.add({ name: 'slow', endpoint: 'status', delayMs: 1_000 });
    const answer = await ask(externalId, 'gateway=acme&deadline_ms=100');
    sandbox.faults.remove(id);
    expect(answer).toMatchObject({ verdict: 'unknown', rule: 'too_late' });
  });

  it('has a watched order read when the answer is news, a settled one too', async () => {
    const { externalId } = sandbox.seedOrder({ status: 'Failed', items: FAILED });
    await watch(externalId);
    const phase = async () => (await ask(externalId, 'gateway=acme&type=Deposit')).known?.phase;
    await expect.poll(phase).toBe('settled');
    sandbox.setStatus(externalId, { status: 'Success' });
    expect(await ask(externalId)).toMatchObject({ verdict: 'unsafe', rule: 'payment_succeeded' });
    await expect.poll(() => stored(externalId)).toEqual([{ status: 'Success' }]);
  });

  it('refuses a question that cannot be meant, as a problem', async () => {
    const expected: [string, string, string][] = [
      ['a', 'gateway=nowhere', 'gateway: expected one of acme'],
      ['a', '', 'gateway: expected a name'],
      ['a', 'gateway=acme&type=Payout', 'type:'],
      ['a', 'gateway=acme&deadline_ms=5', 'deadline_ms:'],
      ['../a', 'gateway=acme', 'id:'],
      ['4111111111111111', 'gateway=acme', 'id: expected an id that does not look like a card number'],
    ];
    for (const [id, query, detail] of expected) {
      const { reply, body } = await get(id, query);
      expect(reply.status).toBe(400);
      expect(reply.headers.get('content-type')).toContain('application/problem+json');
      expect(reply.headers.get('cache-control')).toBe('no-store');
      expect(JSON.stringify(body)).toContain(detail);
      expect(JSON.stringify(body)).not.toContain('4111111111111111');
    }
  });

  it('counts every answer by what decided it, and shows no secret', async () => {
    const count = (rule: string, verdict: string) =>
      metric(collector.http, 'gatewatch_cascade_checks_total', { gateway: 'acme', verdict, rule });
    expect(await count('failed', 'safe')).toBeGreaterThan(0);
    expect(await count('status_not_read', 'unknown')).toBeGreaterThan(0);
    const { externalId } = failed();
    const text = JSON.stringify((await get(externalId)).body);
    for (const secret of [sandbox.token, sandbox.callbackKey]) expect(text).not.toContain(secret);
    expect(collector.output()).not.toMatch(/"level":"(error|fatal)"/);
  });
});
