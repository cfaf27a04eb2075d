import { expect, it } from 'vitest';
import { accept, at, ORDER_ID, replyText } from './history-fixtures.ts';

const GOOD = { time: at(0), action: '1.0.0.00' };
const BAD = { time: 'yesterday', action: '1.1.1.00' };

it('Refused items that look alike are a reject each, and the same ones at the next read', () => {
  const first = accept(replyText([GOOD, BAD, BAD]));
  expect(first.refusedItems).toBe(2);
  expect(new Set(first.rejects.map(({ reject_id }) => reject_id)).size).toBe(2);
  const anew = accept(replyText([GOOD, BAD, BAD]));
  expect(anew.rejects).toEqual(first.rejects);
});

it('A refused item is rejected once: at the next read it is known, and a new one beside it is rejected', () => {
  const first = accept(replyText([GOOD, BAD]));
  const second = accept(replyText([GOOD, BAD]), { known: first.known });
  expect(second).toMatchObject({ refusedItems: 1, rejects: [], newEvents: [] });
  const third = accept(replyText([GOOD, BAD, BAD]), { known: second.known });
  expect(third.rejects).toHaveLength(1);
  expect(third.rejects[0]?.reject_id).not.toBe(first.rejects[0]?.reject_id);
  expect(third.newEvents).toEqual([]);
});

it('A refused item belongs to the order by its own id, whichever id the reply was asked for by', () => {
  const byOwn = accept(replyText([GOOD, BAD]));
  const byOther = accept(replyText([GOOD, BAD], { externalTransactionId: 'tx-1' }), {
    idKind: 'transaction-id',
    orderId: 'tx-1',
  });
  expect(byOther.rejects[0]).toMatchObject({ order_id: ORDER_ID, reject_id: byOwn.rejects[0]?.reject_id });
});
