import { describe, expect, it } from 'vitest';
import { callback, createPipeline } from '../../support/pipeline.ts';
import { orderRow } from '../../support/order-row.ts';
import { SECOND } from '../../support/watched-order.ts';

const ID = '7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d';

/** A collector that a callback reaches about an order which another one owns. */
async function calledAboutAnother() {
  const pipeline = createPipeline({}, false);
  const order = {
    externalId: ID,
    orderStatus: 'Processing',
    history: [[0, '1.1.1.00']] as [number, string][],
  };
  pipeline.orders.set(ID, order);
  await pipeline.receive(callback({ externalId: ID }));
  await pipeline.clock.advance(1);
  return { ...pipeline, order };
}

describe('an order that another collector owns', () => {
  it('is read at once, and its row is left to that one', async () => {
    const { sink } = await calledAboutAnother();
    expect(sink.rows('orderWatch')[0]).toMatchObject({ order_id: ID });
    expect(sink.rows('historyEvents')).toMatchObject([{ external_id: ID, action: '1.1.1.00' }]);
    expect(sink.rows('orders')).toEqual([]);
  });

  it('has its row written in the same place once that one has made it', async () => {
    const { sink, clock, order } = await calledAboutAnother();
    const hourBefore = clock.now() - 3600 * SECOND;
    const item = { time: clock.now() - 1000, action: '1.1.1.00' };
    await sink.write({ orders: [orderRow({ external_id: ID, first_seen_at: hourBefore }, [item])] }, {});
    order.history.push([1, '2.2.4.11']);
    await clock.advance(3000);
    expect(sink.rows('orders').slice(1)).toMatchObject([
      { external_id: ID, first_seen_at: hourBefore, outcome: 'technical_failure', history_items: 2 },
    ]);
  });
});
