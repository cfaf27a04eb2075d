import { describe, expect, it } from 'vitest';
import type { WatchRequest } from '../../../schemas/watch-message.ts';
import { handleWatchRequests } from '../../../collector/orders/watch-requests.ts';
import { createPipeline } from '../../support/pipeline.ts';

const ID = 'order-1';
const MINUTE = 60_000;

const request = (message: WatchRequest['message'], more: Partial<WatchRequest> = {}): WatchRequest => ({
  message,
  problem: null,
  source: 'kafka',
  deliveryId: 'gateway.orders/0@7',
  coordinates: { topic: 'gateway.orders', partition: 0, offset: 7 },
  ...more,
});

describe('a watch request', () => {
  it('makes the poller read the order, and its hints are kept', async () => {
    const { sink, clock, reads, watch } = createPipeline();
    await watch({ orderType: 'Deposit', externalId: ID, channel: 'p2p', amount: '12.50', currency: 'EUR' });
    await clock.advance(1);
    expect(reads).toHaveLength(1);
    expect(sink.rows('orderWatch')[0]).toMatchObject({ order_id: ID, channel: 'p2p', amount: '12.50' });
    expect(sink.rows('orders')[0]).toMatchObject({ currency: 'EUR', currency_source: 'watch', status: null });
    expect(sink.rows('orderClaims')[0]).toMatchObject({ kind: 'watch', currency: 'EUR', status: null });
  });

  it.each([
    ['0.00000000001', '', null, null],
    ['1'.repeat(40), ' ', null, null],
    ['0.1', 'EUR', '0.1', 'EUR'],
  ])('whose hints are %s and %j gives the order %s and %s', async (amount, currency, ...expected) => {
    const { sink, watch } = createPipeline();
    await watch({ orderType: 'Deposit', externalId: ID, amount, currency });
    const [row] = sink.rows('orders');
    expect([row?.amount, row?.currency]).toEqual(expected);
    expect(sink.rows('watchRequests')[0]).toMatchObject({ amount: expected[0], currency: expected[1] });
  });

  it('is not acknowledged before the order is stored', async () => {
    const { sink, clock, reads, watch } = createPipeline();
    sink.hold();
    let acknowledged = false;
    void watch({ orderType: 'Deposit', externalId: ID }).then(() => (acknowledged = true));
    await clock.advance(MINUTE);
    expect({ acknowledged, reads }).toEqual({ acknowledged: false, reads: [] });
    sink.release();
    await clock.advance(1);
    expect({ acknowledged, reads: reads.length }).toEqual({ acknowledged: true, reads: 1 });
  });

  it('for an order that is over for more than a day costs one read, as a backfill has thousands of them', async () => {
    const { sink, clock, orders, poller, reads, watch } = createPipeline();
    orders.set(ID, { externalId: ID, orderStatus: 'Success', history: [[-25 * 3600, '4.1.3.00']] });
    await watch({ orderType: 'Deposit', externalId: ID });
    await clock.advance(20 * MINUTE);
    expect({ reads: reads.length, watched: poller().status().watched }).toEqual({ reads: 1, watched: 0 });
    expect(sink.rows('settlements')).toMatchObject([
      { external_id: ID, kind: 'settled', outcome: 'succeeded' },
    ]);
  });

  it('for an order that is settled costs one read, unless that brings something new', async () => {
    const { clock, orders, reads, watch } = createPipeline();
    const order = {
      externalId: ID,
      orderStatus: 'Success',
      history: [[-25 * 3600, '4.1.3.00']] as [number, string][],
    };
    orders.set(ID, order);
    await watch({ orderType: 'Deposit', externalId: ID });
    await clock.advance(1000);
    await watch({ orderType: 'Deposit', externalId: ID });
    await clock.advance(20 * MINUTE);
    expect(reads).toHaveLength(2);
    order.history.push([1190, '6.1.1.00']);
    await watch({ orderType: 'Deposit', externalId: ID });
    await clock.advance(20 * MINUTE);
    expect(reads).toHaveLength(4);
  });

  it('repeated for a watched order brings its next read forward, every 15 seconds at most', async () => {
    const { clock, reads, watch } = createPipeline({ delaysS: [300] });
    await watch({ orderType: 'Deposit', externalId: ID });
    for (let i = 0; i < 40; i += 1) {
      await clock.advance(1000);
      await watch({ orderType: 'Deposit', externalId: ID }, { orderType: 'Deposit', externalId: ID });
    }
    expect(reads.map(({ atMs }) => atMs)).toEqual([1, 15_001, 30_001]);
  });

  it('for a thousand orders at once reads each of them within the budget', async () => {
    const { clock, reads, watch } = createPipeline({ requestsPerSecond: 100, delaysS: [300] });
    await watch(
      ...Array.from({ length: 1000 }, (_, n) => ({
        orderType: 'Deposit' as const,
        externalId: `order-${n}`,
      })),
    );
    await clock.advance(11_000);
    expect(new Set(reads.map(({ orderId }) => orderId)).size).toBe(1000);
  });

  it('that cannot be read is a reject with its place, and its neighbours are taken', async () => {
    const { sink, context } = createPipeline();
    const problem = { field: 'externalId', received: 'nothing', expected: 'an id' };
    const answers = await handleWatchRequests(
      [
        request(null, { problem }),
        request({ orderType: 'Deposit', externalId: ID, gateway: 'nobody' }, { deliveryId: 'other' }),
        request({ orderType: 'Deposit', externalId: ID }, { deliveryId: 'good' }),
      ],
      context,
      { kafkaRecords: 3 },
    );
    expect(answers).toMatchObject([problem, { field: 'gateway', expected: 'one of acme-eu' }, null]);
    expect(sink.rows('rejects')).toMatchObject([
      { reason: 'watch_message_malformed', field: 'externalId', topic: 'gateway.orders', kafka_offset: 7 },
      { reason: 'unknown_gateway', received: '"nobody"' },
    ]);
    expect(sink.rows('orderWatch')).toMatchObject([{ order_id: ID }]);
    expect(sink.provenance().kafkaRecords).toBe(3);
  });

  it('read twice gives the same identities', async () => {
    const { sink, context } = createPipeline();
    const bad = request(null, { problem: { field: 'body', received: 'nothing', expected: 'JSON' } });
    for (const _time of [1, 2]) await handleWatchRequests([bad], context, {});
    const [one, two] = sink.rows('rejects');
    expect(two?.reject_id).toBe(one?.reject_id);
  });
});
