import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import { type CollectorProcess, startCollectorProcess } from '../support/collector-process.ts';
import { useKafka } from '../support/kafka-broker.ts';
import { hasKcat, kcat, produce, uniqueName } from '../support/kafka-topics.ts';
import { gatewayConfig, signedCallback } from './support/gateway.ts';

const kafka = await useKafka();
const installed = await hasKcat();

describe('an order that the collector is asked to watch', () => {
  const topics = { callbacks: uniqueName('callbacks'), orders: uniqueName('orders') };
  const brokers = kafka.available ? [...kafka.brokers] : [];
  let sandbox: Sandbox;
  let collector: CollectorProcess;
  beforeAll(async () => {
    sandbox = await createSandbox();
    collector = await startCollectorProcess({
      config: {
        gateways: [gatewayConfig(sandbox), gatewayConfig(sandbox, { name: 'other' })],
        ...(kafka.available
          ? {
              kafka: {
                brokers,
                groupId: uniqueName('group'),
                callbackTopics: [{ topic: topics.callbacks, gateway: 'sandbox' }],
                watchTopic: topics.orders,
                createTopics: true,
              },
            }
          : {}),
      },
    });
  });
  afterAll(async () => {
    await collector[Symbol.asyncDispose]();
    await sandbox.stop();
  });

  const seed = (orderType: 'Deposit' | 'Withdrawal' = 'Deposit') =>
    sandbox.seedOrder({
      orderType,
      amount: 12.5,
      items: [
        { action: '1.1.1.00', offsetMs: -2000 },
        { action: '2.1.1.00', offsetMs: -1000 },
      ],
    });
  const post = async (body: unknown, type = 'application/json') => {
    const headers = { 'Content-Type': type };
    const reply = await fetch(`${collector.http}/orders`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers,
    });
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
  };
  const history = (externalId: string) =>
    collector.query(
      `SELECT gateway, order_type, action, source FROM history_events WHERE external_id = '${externalId}' ORDER BY event_time`,
    );
  const orderOf = async (externalId: string) =>
    (
      await collector.query(
        `SELECT gateway, order_type, external_transaction_id, channel, toString(amount) AS amount, currency, currency_source, status
         FROM orders WHERE external_id = '${externalId}'`,
      )
    )[0];
  const endpoints = async (ids: readonly string[]) =>
    (
      await collector.query<{ endpoint: string }>(
        `SELECT DISTINCT endpoint FROM polls WHERE order_id IN ('${ids.join("','")}') ORDER BY endpoint`,
      )
    ).map(({ endpoint }) => endpoint);

  it("by POST /orders and the service's id is read, and what the caller knew is kept as hints", async () => {
    const { externalId } = seed();
    const watch = { gateway: 'sandbox', orderType: 'Deposit', externalId, channel: 'cards', currency: 'SEK' };
    expect(await post(watch)).toEqual({ status: 202, body: { watched: 1 } });
    await expect
      .poll(() => history(externalId))
      .toEqual([
        { gateway: 'sandbox', order_type: 'Deposit', action: '1.1.1.00', source: 'watch' },
        { gateway: 'sandbox', order_type: 'Deposit', action: '2.1.1.00', source: 'watch' },
      ]);
    // A status reply is worth more than a hint, and status replies of this gateway name the currency.
    await expect
      .poll(() => orderOf(externalId))
      .toMatchObject({
        channel: 'cards',
        amount: '12.5',
        currency: 'EUR',
        status: 'Processing',
      });
    expect(await endpoints([externalId])).toEqual(['deposit-status']);
  });

  it("by the merchant's id goes on under the service's id once that is known", async () => {
    const { externalId, externalTransactionId } = seed();
    await post({ gateway: 'sandbox', orderType: 'Deposit', externalTransactionId });
    await expect.poll(async () => (await history(externalId)).length).toBe(2);
    await expect
      .poll(() => orderOf(externalId))
      .toMatchObject({ external_transaction_id: externalTransactionId });
    const both = ['deposit-status', 'deposit-status-by-transaction'];
    await expect.poll(() => endpoints([externalId, externalTransactionId])).toEqual(both);
    expect(await orderOf(externalTransactionId)).toBeUndefined();
  });

  it('under both of its ids is one order', async () => {
    const { externalId, externalTransactionId } = seed();
    await post([
      { gateway: 'sandbox', orderType: 'Deposit', externalTransactionId },
      { gateway: 'sandbox', orderType: 'Deposit', externalId },
    ]);
    await expect.poll(async () => (await history(externalId)).length).toBe(2);
    await expect
      .poll(async () => (await orderOf(externalId)) ?? {})
      .toMatchObject({ external_transaction_id: externalTransactionId });
    expect(await history(externalId)).toHaveLength(2);
  });

  it('that is a payout is read at the payout endpoints, by either id', async () => {
    const [first, second] = [seed('Withdrawal'), seed('Withdrawal')];
    await post([
      { gateway: 'sandbox', orderType: 'Withdrawal', externalId: first.externalId },
      { gateway: 'sandbox', orderType: 'Withdrawal', externalTransactionId: second.externalTransactionId },
    ]);
    for (const { externalId } of [first, second]) {
      await expect.poll(async () => (await history(externalId)).length).toBe(2);
      await expect.poll(() => orderOf(externalId)).toMatchObject({ order_type: 'Withdrawal' });
    }
    expect(await endpoints([first.externalId])).toEqual(['withdrawal-status']);
    expect(await endpoints([second.externalTransactionId])).toEqual(['withdrawal-status-by-transaction']);
  });

  it('that the gateway makes and lives through is stored as the withdrawal that it is', async () => {
    const { externalId, items } = sandbox.createWithdrawal({ amount: 40 });
    await post({ gateway: 'sandbox', orderType: 'Withdrawal', externalId });
    await expect.poll(async () => (await history(externalId)).length).toBeGreaterThan(0);
    expect((await history(externalId))[0]).toMatchObject({
      order_type: 'Withdrawal',
      action: items[0]?.action,
    });
  });

  it('that nobody has is asked for and said to be not found', async () => {
    await post({ gateway: 'sandbox', orderType: 'Deposit', externalId: 'nobody-has-this' });
    const outcomes = () =>
      collector.query(`SELECT DISTINCT outcome FROM polls WHERE order_id = 'nobody-has-this'`);
    await expect.poll(outcomes).toEqual([{ outcome: 'not_found' }]);
  });

  it('is refused with the reason when the request cannot be meant', async () => {
    expect(await post({ orderType: 'Deposit', externalId: 'x' })).toMatchObject({
      status: 400,
      body: { detail: expect.stringMatching(/gateway.*sandbox, other/) },
    });
    expect(await post({ gateway: 'sandbox', orderType: 'Refund', externalId: 'x' })).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('orderType') },
    });
    expect(await post({ gateway: 'sandbox', orderType: 'Deposit' })).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('externalTransactionId') },
    });
    expect(
      (await post({ gateway: 'sandbox', orderType: 'Deposit', externalId: 'x' }, 'text/plain')).status,
    ).toBe(415);
  });

  it('for a gateway that is not configured is reported to its sender alone, and nothing of it is kept', async () => {
    const order = { orderType: 'Deposit', externalId: 'beside-an-unknown-gateway' };
    expect(
      await post([
        { ...order, gateway: 'sandbox' },
        { ...order, gateway: 'forgotten' },
      ]),
    ).toMatchObject({ status: 400, body: { errors: [{ index: 1, field: 'gateway' }] } });
    expect(await collector.query(`SELECT reason FROM rejects WHERE gateway = 'forgotten'`)).toEqual([]);
    const taken = `SELECT gateway FROM watch_requests WHERE order_id = '${order.externalId}'`;
    expect(await collector.query(taken)).toEqual([]);
  });

  it.skipIf(!kafka.available || !installed)(
    'by a message of the watch topic is read, whichever id it gives',
    async () => {
      const [first, second] = [seed(), seed('Withdrawal')];
      const messages = [
        {
          gateway: 'sandbox',
          orderType: 'Deposit',
          externalId: first.externalId,
          amount: '12.50',
          currency: 'EUR',
        },
        { gateway: 'other', orderType: 'Withdrawal', externalTransactionId: second.externalTransactionId },
      ];
      for (const message of messages) {
        await kcat(brokers, ['-P', '-t', topics.orders, '-k', 'any'], JSON.stringify(message));
      }
      await expect.poll(async () => (await history(first.externalId)).length).toBe(2);
      await expect.poll(async () => (await history(second.externalId)).length).toBe(2);
      await expect
        .poll(() => orderOf(second.externalId))
        .toMatchObject({ gateway: 'other', order_type: 'Withdrawal' });
    },
  );

  it.skipIf(!kafka.available)(
    "by a callback on a topic that belongs to one gateway is that gateway's",
    async () => {
      const { externalId } = seed();
      const { body, signature } = signedCallback({ externalId, amount: '12.50' }, sandbox.callbackKey);
      await produce(brokers, topics.callbacks, [
        { key: externalId, value: body, headers: { Signature: signature } },
      ]);
      await expect.poll(async () => (await history(externalId)).length).toBe(2);
      expect(await history(externalId)).toMatchObject([
        { gateway: 'sandbox', source: 'callback' },
        { gateway: 'sandbox', source: 'callback' },
      ]);
    },
  );
});
