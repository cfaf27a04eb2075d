import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../sandbox/random.ts';
import { bendReply } from '../../../sandbox/routes/answer.ts';

const random = () => createRandom('test', 'answers');
const found = { status: 200, body: { externalId: 'o1', orderHistory: [{ action: 'a' }, { action: 'b' }] } };

describe('a reply bent by a fault', () => {
  it('is an error of the gateway for a fault that is one', () => {
    expect(bendReply(found, { name: 'http_401' }, random()).status).toBe(401);
    expect(bendReply(found, { name: 'http_429', retryAfterSeconds: 7 }, random())).toMatchObject({
      status: 429,
      headers: { 'retry-after': '7' },
    });
  });

  it('names another order, or its items in another order, only where an order was found', () => {
    expect(bendReply(found, { name: 'id_mismatch' }, random()).body).not.toMatchObject({ externalId: 'o1' });
    const { body } = bendReply(found, { name: 'out_of_order_items' }, random());
    expect(body).toMatchObject({ orderHistory: [{ action: 'b' }, { action: 'a' }] });
    const missing = { status: 404, body: { code: 'NOT_FOUND', message: '' } };
    expect(bendReply(missing, { name: 'id_mismatch' }, random())).toBe(missing);
  });

  it('contradicts its history, or loses items, as the faults say', () => {
    expect(bendReply(found, { name: 'http_404' }, random()).status).toBe(404);
    expect(bendReply(found, { name: 'status_stale' }, random()).body).toMatchObject({
      orderStatus: 'Processing',
    });
    expect(bendReply(found, { name: 'history_item_lost' }, random()).body).toMatchObject({
      orderHistory: [{ action: 'a' }],
    });
    const confirmed = {
      status: 200,
      body: { orderHistory: [{ action: '4.1.3.00' }, { action: '6.1.1.00' }] },
    };
    expect(bendReply(confirmed, { name: 'callback_unrecorded' }, random()).body).toEqual({
      orderHistory: [{ action: '4.1.3.00' }],
    });
  });

  it('is left as it is by faults of the connection', () => {
    expect(bendReply(found, { name: 'slow' }, random())).toBe(found);
  });
});
