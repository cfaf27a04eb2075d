import { describe, expect, it } from 'vitest';
import { callback, createPipeline, type GatewayOrder } from '../../support/pipeline.ts';

const SERVICE = '7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d';
const MERCHANT = 'merchant-1';
const MINUTE = 60_000;

function withOrder(more: Partial<GatewayOrder> = {}) {
  const pipeline = createPipeline();
  const order: GatewayOrder = {
    externalId: SERVICE,
    externalTransactionId: MERCHANT,
    orderStatus: 'Processing',
    history: [
      [0, '1.1.1.00'],
      [1, '2.1.1.00'],
    ],
    ...more,
  };
  pipeline.orders.set(SERVICE, order).set(MERCHANT, order);
  const byMerchant = () =>
    pipeline.watch({
      orderType: 'Deposit',
      externalTransactionId: MERCHANT,
      channel: 'p2p',
      currency: 'EUR',
    });
  const identities = () =>
    pipeline.sink
      .rows('historyEvents')
      .map((row) => `${row.external_id} ${row.event_time} ${row.action} ${row.occurrence}`);
  return { ...pipeline, order, byMerchant, identities };
}

describe('an order watched by the id of the merchant', () => {
  it('goes on under the id of the service after the first reply, with what was known of it', async () => {
    const { clock, reads, sink, byMerchant } = withOrder();
    await byMerchant();
    await clock.advance(3000);
    expect(reads.map(({ orderId }) => orderId)).toEqual([MERCHANT, SERVICE]);
    expect(sink.rows('historyEvents')).toMatchObject([
      { external_id: SERVICE, external_transaction_id: MERCHANT, channel: 'p2p' },
      { external_id: SERVICE, external_transaction_id: MERCHANT, channel: 'p2p' },
    ]);
    expect(sink.rows('polls')).toMatchObject([
      { endpoint: 'deposit-status-by-transaction', order_id: MERCHANT, id_kind: 'transaction-id' },
      { endpoint: 'deposit-status', order_id: SERVICE, new_items: 0 },
    ]);
  });

  it('has the claim of its watch message once it is known which order that is', async () => {
    const { clock, sink, byMerchant } = withOrder();
    await byMerchant();
    await clock.advance(3000);
    expect(sink.rows('orderClaims').filter(({ kind }) => kind === 'watch')).toMatchObject([
      { external_id: SERVICE, currency: 'EUR', amount: null, status: null },
    ]);
    expect(sink.rows('orders').at(-1)).toMatchObject({
      external_id: SERVICE,
      external_transaction_id: MERCHANT,
      status: 'Processing',
    });
  });

  it('is persisted as merged under the one id and as watched under the other, and resumed once', async () => {
    const { clock, reads, restart, byMerchant, context } = withOrder();
    await byMerchant();
    await clock.advance(1);
    expect(await restart()).toBe(1);
    await clock.advance(3000);
    expect(reads.map(({ orderId }) => orderId)).toEqual([MERCHANT, SERVICE]);
    const key = `acme-eu|Deposit|transaction-id|${MERCHANT}`;
    const stored = await context.watchStore.find([
      { gateway: 'acme-eu', orderType: 'Deposit', idKind: 'transaction-id', orderId: MERCHANT },
    ]);
    expect(stored.get(key)).toMatchObject({ phase: 'merged', externalId: SERVICE });
  });

  it('is one with the order that is watched by the id of the service: one schedule, no item twice', async () => {
    const { clock, reads, poller, identities, byMerchant, receive } = withOrder();
    await receive(callback({ externalId: SERVICE }));
    await clock.advance(500);
    await byMerchant();
    await clock.advance(10 * MINUTE);
    expect(reads.filter(({ orderId }) => orderId === MERCHANT)).toHaveLength(1);
    expect(reads.filter(({ orderId }) => orderId === SERVICE).map(({ atMs }) => atMs)).toEqual([
      0, 2000, 7000, 22_000, 67_000, 187_000, 427_000,
    ]);
    expect(identities()).toHaveLength(2);
    expect(poller().status().watched).toBe(1);
    expect(poller().get(`acme-eu|Deposit|external-id|${SERVICE}`)).toMatchObject({
      externalTransactionId: MERCHANT,
      channel: 'p2p',
    });
  });

  it('is one with it also when both replies are under way at once', async () => {
    const { clock, reads, poller, identities, byMerchant, receive, holdReads } = withOrder();
    const release = holdReads();
    await byMerchant();
    await receive(callback({ externalId: SERVICE }));
    await clock.advance(100);
    expect(reads).toHaveLength(2);
    release();
    await clock.advance(5000);
    expect(reads.map(({ orderId }) => orderId).toSorted()).toEqual([SERVICE, SERVICE, MERCHANT]);
    expect(poller().status()).toMatchObject({ watched: 1, inFlight: 0 });
    expect(new Set(identities()).size).toBe(2);
  });

  it('opens the order again that had been settled under the id of the service, with one settlement in all', async () => {
    const { clock, sink, order, poller, byMerchant, receive } = withOrder({ orderStatus: 'Success' });
    await receive(callback({ externalId: SERVICE }));
    await clock.advance(15 * MINUTE);
    expect(poller().status().watched).toBe(0);
    order.history.push([700, '6.1.1.00']);
    await byMerchant();
    await clock.advance(15 * MINUTE);
    expect(poller().status().watched).toBe(0);
    expect(sink.rows('historyEvents').map(({ action }) => action)).toEqual([
      '1.1.1.00',
      '2.1.1.00',
      '6.1.1.00',
    ]);
    expect(sink.rows('settlements')).toHaveLength(1);
  });

  it('may be asked for again and again', async () => {
    const { clock, reads, poller, identities, byMerchant } = withOrder();
    for (let i = 0; i < 3; i += 1) {
      await byMerchant();
      await clock.advance(100);
    }
    expect(reads.map(({ orderId }) => orderId)).toEqual([MERCHANT, MERCHANT, MERCHANT]);
    expect(identities()).toHaveLength(2);
    expect(poller().status().watched).toBe(1);
  });
});
