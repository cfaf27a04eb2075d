import { describe, expect, it } from 'vitest';
import { itemSpans, rootSpan } from '../../../collector/decode/spans.ts';
import { callback } from '../../support/pipeline.ts';
import { HOUR, ID, MINUTE, watching } from './watching.ts';

const paid = { orderStatus: 'Success', history: [[0, '4.1.3.00']] as [number, string][] };

describe('what is known of an order when it is closed', () => {
  it('is what its last reply said, the merchant id included', async () => {
    const { sink, clock, order } = await watching({
      ...paid,
      externalTransactionId: 'shop-1',
      amount: 10,
      currency: 'EUR',
    });
    await clock.advance(MINUTE);
    order.amount = 12.5;
    await clock.advance(30 * MINUTE);
    const [row] = sink.rows('settlements');
    expect(row).toMatchObject({
      external_transaction_id: 'shop-1',
      amount: '12.5',
      currency: 'EUR',
      deciding_action: '4.1.3.00',
    });
    expect(row === undefined ? {} : rootSpan(row).attributes).toMatchObject({
      'payment.external_transaction_id': 'shop-1',
      'payment.amount': '12.5',
    });
  });

  it('is what a watch message or callback said, where the replies were silent', async () => {
    const { sink, clock, watch } = await watching({ ...paid, currency: null });
    await watch({
      orderType: 'Deposit',
      externalId: ID,
      externalTransactionId: 'shop-2',
      amount: '7.50',
      currency: 'PLN',
    });
    await clock.advance(30 * MINUTE);
    expect(sink.rows('settlements')).toMatchObject([
      { external_transaction_id: 'shop-2', amount: '100', currency: 'PLN' },
    ]);
  });

  it('is what the last reply said also of an order that is given up without another', async () => {
    const { sink, clock, answers } = await watching({ amount: 3, externalTransactionId: 'shop-3' });
    answers.set(ID, { httpStatus: null, outcome: 'unknown', body: null, bodyBytes: 0, errorType: 'timeout' });
    await clock.advance(200 * HOUR);
    expect(sink.rows('settlements')).toMatchObject([
      { kind: 'abandoned', external_transaction_id: 'shop-3', amount: '3', deciding_action: null },
    ]);
  });
});

describe('the read that delivered an item', () => {
  it('says when the callback came that asked for it', async () => {
    const { sink, clock, order, receive } = await watching();
    order.history.push([1, '2.1.1.00']);
    const called = callback({ externalId: ID });
    await receive(called, callback({ externalId: ID }, { receivedAt: called.receivedAt + 5 }));
    await clock.advance(2_000);
    order.history.push([2, '3.0.1.00']);
    await clock.advance(MINUTE);
    expect(sink.rows('historyEvents').map(({ source, callback_at }) => [source, callback_at])).toEqual([
      ['watch', null],
      ['callback', called.receivedAt],
      ['schedule', null],
    ]);
    expect(itemSpans(sink.rows('historyEvents')).map(({ events }) => events.map(({ name }) => name))).toEqual(
      [['payment.item_read'], ['payment.callback_received', 'payment.item_read'], ['payment.item_read']],
    );
  });

  it("is linked with the collector's own span of it, where that is recorded", async () => {
    const read = { traceId: '1'.repeat(32), spanId: '2'.repeat(16) };
    const { sink, clock, order, answers } = await watching({ history: [] });
    answers.set(ID, { ownSpan: read });
    order.history.push([1, '2.1.1.00']);
    await clock.advance(3_000);
    answers.delete(ID);
    order.history.push([2, '3.0.1.00']);
    await clock.advance(MINUTE);
    const [first, second] = itemSpans(sink.rows('historyEvents'));
    expect([first?.links, second?.links]).toEqual([[read], []]);
  });
});
