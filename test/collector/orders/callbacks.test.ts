import { describe, expect, it } from 'vitest';
import { callback, createPipeline, GATEWAY } from '../../support/pipeline.ts';

const ID = '7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d';
const MINUTE = 60_000;

describe('a callback', () => {
  it('that verifies becomes a row and a hint, and makes the poller read the order at once', async () => {
    const { sink, clock, orders, reads, receive } = createPipeline();
    orders.set(ID, { externalId: ID, orderStatus: 'Processing', history: [[0, '1.1.1.00']] });
    await receive(callback({ externalId: ID, amount: '99.90', currency: 'EUR' }));
    await clock.advance(0);
    expect(sink.rows('callbackDeliveries')).toMatchObject([{ verdict: 'valid', external_id: ID }]);
    expect(sink.rows('orders')[0]).toMatchObject({
      amount: '99.90',
      amount_source: 'callback',
      currency_source: 'callback',
      status: null,
    });
    expect(reads).toEqual([{ orderId: ID, atMs: 0 }]);
    expect(sink.rows('historyEvents')).toMatchObject([
      { external_id: ID, action: '1.1.1.00', source: 'callback' },
    ]);
    expect(sink.provenance()).toMatchObject({ kafkaRecords: 1, replies: 1, historyItems: 1 });
  });

  it('signed with the key before does so as well', async () => {
    const { sink, clock, reads, receive } = createPipeline();
    await receive(callback({ externalId: ID }, { key: 'the-key-before-that-one-00000000' }));
    await clock.advance(0);
    expect(sink.rows('callbackDeliveries')).toMatchObject([{ verdict: 'valid_previous_key' }]);
    expect(reads).toHaveLength(1);
  });

  it.each([
    ['mismatch', callback({ externalId: ID }, { key: 'a guess' })],
    ['missing_signature', callback({ externalId: ID }, { signatures: [] })],
    ['malformed', callback({ externalId: ID }, { signatures: ['a', 'b'] })],
    ['malformed', callback({ externalId: ID }, { body: Buffer.from('{"externalId":') })],
    ['malformed', callback({ externalId: ID }, { body: new Uint8Array() })],
  ])('that is judged %s becomes a row, and nothing else', async (verdict, delivery) => {
    const { sink, clock, reads, receive, poller } = createPipeline();
    await receive(delivery);
    await clock.advance(MINUTE);
    expect(sink.rows('callbackDeliveries')).toMatchObject([{ verdict }]);
    expect(sink.rows('orders')).toEqual([]);
    expect(sink.rows('orderWatch')).toEqual([]);
    expect(reads).toEqual([]);
    expect(poller().status().watched).toBe(0);
  });

  it('that does not verify brings the next read of a watched order forward, and no more than that', async () => {
    const { clock, reads, receive, watch } = createPipeline({ delaysS: [300] });
    await watch({ orderType: 'Deposit', externalId: ID });
    await clock.advance(MINUTE);
    await receive(callback({ externalId: ID }, { key: 'a guess' }));
    await clock.advance(1);
    expect(reads.map(({ atMs }) => atMs)).toEqual([1, MINUTE]);
  });

  it('of an unknown gateway is rejected with where to read it again, and its neighbours go on', async () => {
    const { sink, receive } = createPipeline();
    await receive(callback({ externalId: 'a' }, { gateway: 'nobody' }), callback({ externalId: 'b' }));
    expect(sink.rows('rejects')).toMatchObject([
      { reason: 'unknown_gateway', received: '"nobody"', topic: 'gateway.callbacks', kafka_partition: 0 },
    ]);
    expect(sink.rows('callbackDeliveries')).toMatchObject([{ external_id: 'b' }]);
  });

  it('read twice gives rows of the same identities', async () => {
    const { sink, receive } = createPipeline();
    const good = callback({ externalId: ID });
    const lost = callback({ externalId: ID }, { gateway: 'nobody' });
    for (const _time of [1, 2]) await receive(good, lost);
    const [one, two] = sink.rows('callbackDeliveries');
    expect([two?.content_hash, two?.delivery_id]).toEqual([one?.content_hash, one?.delivery_id]);
    const rejects = sink.rows('rejects');
    expect(rejects[1]?.reject_id).toBe(rejects[0]?.reject_id);
  });

  it('is not acknowledged before everything that follows from it is stored, and is read meanwhile', async () => {
    const { sink, clock, reads, receive } = createPipeline();
    sink.hold();
    let acknowledged = false;
    const received = receive(callback({ externalId: ID })).then(() => (acknowledged = true));
    await clock.advance(MINUTE);
    expect(acknowledged).toBe(false);
    expect(reads).toHaveLength(1);
    sink.release();
    await received;
    expect(sink.rows('orderWatch')[0]).toMatchObject({ order_id: ID, phase: 'active' });
  });

  it('is passed back when the store refuses it, and read all the same', async () => {
    const { sink, poller, receive } = createPipeline();
    await sink.stop(0);
    await expect(receive(callback({ externalId: ID }))).rejects.toMatchObject({ retryable: true });
    expect(poller().status().watched).toBe(1);
  });
});

describe('callbacks for one order', () => {
  it('in one batch cause one read, and one row of its state', async () => {
    const { sink, clock, reads, receive } = createPipeline();
    await receive(...Array.from({ length: 10 }, () => callback({ externalId: ID })));
    await clock.advance(1500);
    expect(sink.rows('callbackDeliveries')).toHaveLength(10);
    expect(sink.rows('orderWatch').filter(({ attempt }) => attempt === 0)).toHaveLength(1);
    expect(reads).toHaveLength(1);
  });

  it('of both types are two orders', async () => {
    const { clock, poller, receive } = createPipeline();
    await receive(callback({ externalId: ID }), callback({ externalId: ID, orderType: 'Withdrawal' }));
    await clock.advance(0);
    expect(poller().status().watched).toBe(2);
  });

  it('persist nothing of a watched order that they teach nothing about', async () => {
    const { sink, clock, receive } = createPipeline();
    await receive(callback({ externalId: ID }));
    await clock.advance(500);
    const before = sink.rows('orderWatch').length;
    await receive(callback({ externalId: ID }));
    expect(sink.rows('orderWatch')).toHaveLength(before);
    await receive(callback({ externalId: ID, currency: 'EUR' }));
    expect(sink.rows('orderWatch').at(-1)).toMatchObject({ currency: 'EUR', amount: '100.00' });
  });
});

describe('a settled order that a callback names', () => {
  it('is read again with the history that is stored, and has one settlement all the same', async () => {
    const { sink, clock, orders, poller, receive } = createPipeline();
    const order = {
      externalId: ID,
      orderStatus: 'Success',
      history: [[0, '4.1.3.00']] as [number, string][],
    };
    orders.set(ID, order);
    await receive(callback({ externalId: ID }));
    await clock.advance(20 * MINUTE);
    expect(poller().status().watched).toBe(0);
    expect(sink.rows('settlements')).toHaveLength(1);

    order.history.push([900, '6.1.1.00']);
    await receive(callback({ externalId: ID, status: 'Success' }));
    await clock.advance(0);
    expect(sink.rows('historyEvents').map(({ action }) => action)).toEqual(['4.1.3.00', '6.1.1.00']);
    await clock.advance(20 * MINUTE);
    expect(sink.rows('settlements')).toHaveLength(1);
    expect(sink.rows('settlements')[0]).toMatchObject({
      gateway: GATEWAY,
      kind: 'settled',
      outcome: 'succeeded',
    });
    expect(poller().status().watched).toBe(0);
  });

  it('with what is known already is read once for each, and no more: whoever repeats it cannot keep the order open', async () => {
    const { sink, clock, orders, poller, reads, receive } = createPipeline();
    orders.set(ID, { externalId: ID, orderStatus: 'Success', history: [[0, '4.1.3.00']] });
    const sent = callback({ externalId: ID, status: 'Success' });
    await receive(sent);
    await clock.advance(20 * MINUTE);
    const before = reads.length;
    for (let time = 1; time <= 5; time += 1) {
      await receive({ ...sent, deliveryId: `again-${time}` });
      await clock.advance(20 * MINUTE);
      expect(poller().status().watched).toBe(0);
      expect(reads).toHaveLength(before + time);
    }
    expect(sink.rows('settlements')).toHaveLength(1);
    expect(new Set(sink.rows('historyEvents').map(({ action }) => action)).size).toBe(1);
  });

  it.each([
    { what: 'another final status than is known is read from the start', status: 'Failed', more: 4 },
    { what: 'an earlier status, for it comes late, is read once', status: 'Processing', more: 1 },
  ])('with $what', async ({ status, more }) => {
    const { clock, orders, reads, receive } = createPipeline();
    orders.set(ID, { externalId: ID, orderStatus: 'Success', history: [[0, '4.1.3.00']] });
    await receive(callback({ externalId: ID, status: 'Success' }));
    await clock.advance(20 * MINUTE);
    const before = reads.length;
    await receive(callback({ externalId: ID, status }));
    await clock.advance(20 * MINUTE);
    expect(reads).toHaveLength(before + more);
  });

  /** An order whose next read settles it, that read under way. */
  async function settling() {
    const pipeline = createPipeline();
    pipeline.orders.set(ID, { externalId: ID, orderStatus: 'Success', history: [[0, '4.1.3.00']] });
    await pipeline.receive(callback({ externalId: ID }));
    await pipeline.clock.advance(629_999);
    const release = pipeline.holdReads();
    await pipeline.clock.advance(1);
    expect(pipeline.reads).toHaveLength(4);
    const answer = async () => {
      pipeline.holdReads();
      release();
      await pipeline.clock.advance(1);
    };
    return { ...pipeline, answer, last: callback({ externalId: ID, status: 'Success' }) };
  }

  it('while the read that settles it is under way is read again, also after a crash', async () => {
    const { answer, last, receive, restart } = await settling();
    await receive(last);
    await answer();
    expect(await restart()).toBe(1);
  });

  it('while the answer that settles it is being stored is read again, also after a crash', async () => {
    const { answer, last, sink, receive, restart } = await settling();
    sink.hold();
    await answer();
    const received = receive(last);
    sink.release();
    await received;
    expect(await restart()).toBe(1);
  });

  it('just after it was settled is read again, also after a crash', async () => {
    const { answer, last, poller, receive, restart } = await settling();
    await answer();
    expect(poller().status().watched).toBe(0);
    await receive(last);
    expect(await restart()).toBe(1);
  });

  it('no more is left alone after a crash', async () => {
    const { answer, restart } = await settling();
    await answer();
    expect(await restart()).toBe(0);
  });
});
