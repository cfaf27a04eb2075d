import { describe, expect, it } from 'vitest';
import { createPipeline, type GatewayOrder } from '../../support/pipeline.ts';
import { HOUR, ID, MINUTE, watching } from './watching.ts';

describe('a reply', () => {
  it('becomes rows of its items, the row of the order, a poll and the next state', async () => {
    const { sink } = await watching({
      history: [
        [0, '1.1.1.00'],
        [3, '2.2.4.11'],
      ],
      amount: 12.5,
    });
    expect(sink.rows('historyEvents')).toMatchObject([
      { external_id: ID, action: '1.1.1.00', list_position: 0 },
      { external_id: ID, action: '2.2.4.11', list_position: 1, reason_detail: 'TIMEOUT' },
    ]);
    expect(sink.rows('orders').at(-1)).toMatchObject({
      status: 'Processing',
      amount: '12.5',
      currency: 'EUR',
      outcome: 'technical_failure',
      history_items: 2,
      'history.action': ['1.1.1.00', '2.2.4.11'],
    });
    expect(sink.rows('orderClaims')).toMatchObject([
      { kind: 'status_reply', status: 'Processing', amount: '12.5', currency: 'EUR' },
    ]);
    expect(sink.rows('polls')).toMatchObject([
      { outcome: 'ok', http_status: 200, order_id: ID, items: 2, new_items: 2, anomaly: '', cause: 'watch' },
    ]);
    expect(sink.rows('orderWatch').at(-1)).toMatchObject({
      order_id: ID,
      attempt: 1,
      last_status: 'Processing',
    });
    expect(sink.provenance()).toMatchObject({ replies: 1, historyItems: 2 });
  });

  it('that says nothing new adds no row of history or order, only the poll and the next time', async () => {
    const { sink, clock } = await watching();
    await clock.advance(10 * MINUTE);
    expect(sink.rows('polls').length).toBeGreaterThan(5);
    expect(sink.rows('historyEvents')).toHaveLength(1);
    // With the watch message and with the first reply.
    expect(sink.rows('orders').map(({ status }) => status)).toEqual([null, 'Processing']);
    expect(sink.rows('orderClaims')).toHaveLength(1);
    expect(sink.rows('orderWatch')).toHaveLength(sink.rows('polls').length + 1);
  });

  it('that came slowly, of an order that goes on, leaves a state as new as its row', async () => {
    // Another collector may have ended it meanwhile: its row is the older one, and so must its state be.
    const { sink, clock, orders, watch, holdReads } = createPipeline();
    orders.set(ID, { externalId: ID, orderStatus: 'Processing', history: [[0, '1.1.1.00']] });
    const release = holdReads();
    await watch({ orderType: 'Deposit', externalId: ID });
    await clock.advance(5000);
    release();
    await clock.advance(1);
    const { observed_at: readAt } = sink.rows('orders').at(-1) ?? expect.fail('no row');
    expect(sink.rows('polls').at(-1)?.started_at).toBeLessThan(readAt);
    expect(sink.rows('orderWatch').at(-1)?.updated_at).toBeGreaterThanOrEqual(readAt);
  });

  it('that says nothing new adds no row of the order after a restart either', async () => {
    const { sink, clock, restart } = await watching();
    expect(await restart()).toBe(1);
    await clock.advance(10 * MINUTE);
    expect(sink.rows('historyEvents')).toHaveLength(1);
    expect(sink.rows('orders').map(({ status }) => status)).toEqual([null, 'Processing']);
  });

  it('whose items were stored before a crash, but not its outcome, counts the outcome after the restart', async () => {
    const { sink, clock, order, restart } = await watching();
    order.history.push([1, '2.2.4.11']);
    // What a kill leaves between the insert of the history and that of the order's row.
    const [item] = sink.rows('historyEvents');
    if (item === undefined) throw new Error('no item');
    await sink.write({
      historyEvents: [
        { ...item, action: '2.2.4.11', list_position: 1, event_time: item.event_time + 1_000_000 },
      ],
    });
    await restart();
    await clock.advance(MINUTE);
    expect(sink.rows('orders').at(-1)).toMatchObject({ outcome: 'technical_failure', history_items: 2 });
  });

  it('with another amount or currency changes the row of the order, though neither status nor history is new', async () => {
    const { sink, clock, order } = await watching({ amount: 10, currency: null });
    const amounts = () =>
      sink
        .rows('orders')
        .filter(({ status }) => status !== null)
        .map(({ amount, currency }) => [amount, currency]);
    await clock.advance(MINUTE);
    order.amount = 12.5;
    await clock.advance(10 * MINUTE);
    order.currency = 'PLN';
    await clock.advance(10 * MINUTE);
    expect(amounts()).toEqual([
      ['10', null],
      ['12.5', null],
      ['12.5', 'PLN'],
    ]);
  });

  it('with a new status changes the row of the order, with or without a new item', async () => {
    const { sink, clock, order } = await watching();
    order.orderStatus = 'Success';
    await clock.advance(3000);
    expect(sink.rows('orders').at(-1)).toMatchObject({ status: 'Success', settled_at: null });
  });

  it('brings late items, in the middle of the list as well, and the order is settled after the last of them', async () => {
    const { sink, clock, order, actions, poller } = await watching({
      history: [
        [0, '1.1.1.00'],
        [5, '4.1.3.00'],
      ],
    });
    order.orderStatus = 'Success';
    await clock.advance(MINUTE);
    order.history.splice(1, 0, [2, '2.1.1.00']);
    await clock.advance(5 * MINUTE);
    order.history.push([400, '6.1.1.00']);
    await clock.advance(30 * MINUTE);
    expect(actions()).toEqual(['1.1.1.00', '4.1.3.00', '2.1.1.00', '6.1.1.00']);
    expect(sink.rows('polls').map(({ anomaly }) => anomaly)).toContain('history_inserted');
    expect(sink.rows('settlements')).toMatchObject([
      { history_items: 4, status: 'Success', outcome: 'succeeded' },
    ]);
    expect(sink.rows('orders').at(-1)).toMatchObject({
      settled_at: expect.any(Number) as number,
      late_items: 2,
      'history.action': ['1.1.1.00', '2.1.1.00', '4.1.3.00', '6.1.1.00'],
    });
    expect(poller().status().watched).toBe(0);
  });

  it.each<[string, GatewayOrder['history'], string[]]>([
    ['history_shrank', [[0, '1.1.1.00']], ['1.1.1.00', '2.1.1.00']],
    [
      'history_shrank',
      [
        [0, '1.1.1.00'],
        [1, '2.2.4.11'],
      ],
      ['1.1.1.00', '2.1.1.00', '2.2.4.11'],
    ],
    [
      'history_out_of_order',
      [
        [1, '2.1.1.00'],
        [0, '1.1.1.00'],
      ],
      ['1.1.1.00', '2.1.1.00'],
    ],
  ])('whose %s keeps the union, and the anomaly is on record', async (anomaly, history, union) => {
    const { sink, clock, order, actions, poller } = await watching({
      history: [
        [0, '1.1.1.00'],
        [1, '2.1.1.00'],
      ],
    });
    order.history = history;
    await clock.advance(10 * MINUTE);
    expect(actions()).toEqual(union);
    expect(sink.rows('polls').at(-1)?.anomaly).toBe(anomaly);
    expect(poller().status().watched).toBe(1);
  });

  it('is not acted upon before it is stored', async () => {
    const { sink, clock, reads, poller, order } = await watching();
    order.history.push([1, '2.1.1.00']);
    sink.hold();
    await clock.advance(HOUR);
    expect(reads).toHaveLength(2);
    expect(poller().get(`acme-eu|Deposit|external-id|${ID}`)?.attempt).toBe(1);
    sink.release();
    await clock.advance(1);
    expect(sink.rows('historyEvents')).toHaveLength(2);
  });

  it('with items that cannot be read rejects them once, and keeps the others', async () => {
    const { sink, clock, order } = await watching({
      history: [
        [0, '1.1.1.00'],
        [1, 'x'.repeat(201)],
      ],
    });
    await clock.advance(MINUTE);
    order.history.push([2, '2.1.1.00']);
    await clock.advance(5 * MINUTE);
    expect(sink.rows('rejects')).toMatchObject([{ reason: 'history_item_malformed', order_id: ID }]);
    expect(sink.rows('historyEvents')).toHaveLength(2);
  });
});

describe('the history in memory', () => {
  it('is the union of all that was ever seen, so that nothing is stored twice', async () => {
    const { clock, order, sink, actions } = await watching({
      history: [
        [0, '1.1.1.00'],
        [1, '2.1.1.00'],
      ],
    });
    order.history = [[1, '2.1.1.00']];
    await clock.advance(MINUTE);
    order.history = [
      [0, '1.1.1.00'],
      [0, '1.1.1.00'],
      [1, '2.1.1.00'],
    ];
    await clock.advance(5 * MINUTE);
    expect(actions()).toEqual(['1.1.1.00', '2.1.1.00', '1.1.1.00']);
    expect(sink.rows('historyEvents').at(-1)).toMatchObject({ occurrence: 1 });
  });
});
