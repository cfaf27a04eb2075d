import { describe, expect, it } from 'vitest';
import { callback, createPipeline } from '../../support/pipeline.ts';
import { HOUR, ID, MINUTE, watching } from './watching.ts';

describe('a reply that says nothing', () => {
  it.each([
    ['not_found', 404, 'http_404'],
    ['locked', 423, 'http_423'],
    ['unknown', 500, 'http_500'],
    ['unknown', null, 'timeout'],
    ['rate_limited', 429, 'http_429'],
    ['client_error', 400, 'http_400'],
  ] as const)('(%s) is a poll row and leaves the order as it was', async (outcome, httpStatus, errorType) => {
    const { sink, clock, answers, order, poller } = await watching();
    answers.set(ID, { outcome, httpStatus, errorType, body: null, bodyBytes: 0 });
    order.orderStatus = 'Failed';
    await clock.advance(MINUTE);
    expect(sink.rows('polls').at(-1)).toMatchObject({
      outcome,
      http_status: httpStatus,
      error_type: errorType,
    });
    expect(poller().get(`acme-eu|Deposit|external-id|${ID}`)).toMatchObject({
      phase: 'active',
      lastStatus: 'Processing',
    });
    expect(sink.rows('rejects')).toEqual([]);
  });

  it.each([
    ['reply_truncated', '{"externalId":'],
    ['reply_malformed', '{"externalId":"' + ID + '"}'],
    ['id_mismatch', '{"externalId":"another","orderStatus":"Success","orderHistory":[]}'],
  ])('(%s) is rejected under one identity however often it comes', async (reason, body) => {
    const { sink, clock, answers, poller } = await watching();
    answers.set(ID, { body, bodyBytes: body.length });
    await clock.advance(MINUTE);
    const rejects = sink.rows('rejects');
    expect(rejects.length).toBeGreaterThan(1);
    expect(new Set(rejects.map((row) => `${row.reason} ${row.reject_id}`)).size).toBe(1);
    expect(rejects[0]).toMatchObject({ reason, order_id: ID });
    expect(sink.rows('polls').at(-1)).toMatchObject({ outcome: 'invalid_response', error_type: reason });
    expect(poller().get(`acme-eu|Deposit|external-id|${ID}`)).toMatchObject({ lastStatus: 'Processing' });
  });

  it('(too large) is rejected with its size', async () => {
    const { sink, clock, answers } = await watching({}, { maxReplyBytes: 2000 });
    answers.set(ID, { outcome: 'invalid_response', errorType: 'too_large', body: null, bodyBytes: 2001 });
    await clock.advance(3000);
    expect(sink.rows('rejects')).toMatchObject([
      {
        reason: 'reply_too_large',
        expected: 'at most 2000 bytes',
        received: '2001 bytes or more',
        order_id: ID,
      },
    ]);
  });

  it('for longer than the configured age gives the order up: on record, once, and with a root span to come', async () => {
    const { sink, clock, answers, poller, receive } = await watching({}, { giveUpAfterH: 1 });
    answers.set(ID, { outcome: 'unknown', httpStatus: null, errorType: 'timeout', body: null });
    await clock.advance(2 * HOUR);
    expect(poller().status().watched).toBe(0);
    expect(sink.rows('settlements')).toMatchObject([
      { kind: 'abandoned', status: 'Processing', history_items: 1 },
    ]);
    expect(sink.rows('orders').at(-1)).toMatchObject({
      abandoned_at: expect.any(Number) as number,
    });
    expect(sink.rows('orderWatch').at(-1)).toMatchObject({ phase: 'abandoned', root_sent: 1 });
    // What comes to life again is read again, and keeps its one record.
    await receive(callback({ externalId: ID }));
    await clock.advance(2 * HOUR);
    expect(sink.rows('settlements')).toHaveLength(1);
  });

  it('about an order with a final status, such as one that the gateway has forgotten, gives up no order', async () => {
    const { sink, clock, answers, poller, order, receive } = await watching({}, { giveUpAfterH: 1 });
    order.orderStatus = 'Success';
    order.history.push([3, '4.1.3.00']);
    await clock.advance(HOUR);
    answers.set(ID, {
      outcome: 'not_found',
      httpStatus: 404,
      errorType: 'http_404',
      body: null,
      bodyBytes: 0,
    });
    await receive(callback({ externalId: ID }));
    await clock.advance(2 * HOUR);
    expect(poller().status().watched).toBe(0);
    const abandoned = sink.rows('orders').filter((row) => row.abandoned_at !== null);
    expect(abandoned).toEqual([]);
    expect(sink.rows('settlements')).toMatchObject([{ kind: 'settled', status: 'Success' }]);
  });

  it('to an order that nobody but the merchant ever named leaves the state on record when it is given up', async () => {
    const { sink, clock, watch, poller } = createPipeline({ giveUpAfterH: 1 });
    await watch({ orderType: 'Withdrawal', externalTransactionId: 'merchant-1' });
    await clock.advance(2 * HOUR);
    expect(poller().status().watched).toBe(0);
    expect(sink.rows('orderWatch').at(-1)).toMatchObject({ phase: 'abandoned', id_kind: 'transaction-id' });
    expect(sink.rows('settlements')).toEqual([]);
  });
});
