import { describe, expect, it } from 'vitest';
import { foldHistory } from '../../../collector/decode/fold-order.ts';
import { historyWindow } from '../../../collector/decode/history-window.ts';
import { decodeStatusReply } from '../../../collector/decode/status-reply.ts';
import { formatTime } from '../../../collector/decode/time.ts';
import { accept, context, OBSERVED_AT, replyText } from './history-fixtures.ts';

const DAY = 86_400_000_000;
const window = historyWindow(OBSERVED_AT, 400);
const item = (days: number, action = '1.1.1.00') => ({ time: formatTime(OBSERVED_AT + days * DAY), action });

describe('a history item outside of what is kept', () => {
  it('is a reject with a reason, and the others of the reply are rows', () => {
    const list = [item(-401), item(-399), item(0.9), item(1.1)];
    const decoded = accept(replyText(list), { window });
    expect(decoded.newEvents.map(({ event_time }) => event_time)).toEqual([
      OBSERVED_AT - 399 * DAY,
      OBSERVED_AT + 0.9 * DAY,
    ]);
    expect(decoded).toMatchObject({ items: 2, refusedItems: 2 });
    expect(decoded.rejects.map(({ reason, field }) => [reason, field])).toEqual([
      ['history_older_than_retention', 'time'],
      ['history_in_the_future', 'time'],
    ]);
  });

  it('is rejected once, however often the order is read', () => {
    const body = replyText([item(-500), item(-1)]);
    const first = accept(body, { window });
    const again = accept(body, { window, known: first.known });
    expect(again).toMatchObject({ refusedItems: 1, rejects: [], newEvents: [] });
  });

  it('stays what it was when it is stored already', () => {
    const body = replyText([item(-399), item(-1)]);
    const { known } = accept(body, { window });
    const later = accept(body, { window: historyWindow(OBSERVED_AT + 10 * DAY, 400), known });
    expect(later).toMatchObject({ refusedItems: 0, rejects: [], anomaly: '', items: 2 });
  });

  it('does not decide the order', () => {
    const { history } = accept(replyText([item(-1), item(300, '4.1.3.00')]), { window });
    expect(foldHistory(history).deciding).toBeNull();
  });

  it('is not there when rows are kept for ever, but for the future', () => {
    const reply = decodeStatusReply(
      replyText([item(-5000), item(2)]),
      context({ window: historyWindow(OBSERVED_AT, 0) }),
    );
    expect(reply.ok && reply.rejects.map(({ reason }) => reason)).toEqual(['history_in_the_future']);
  });

  it('makes a hundred rejects of a reply at most, the last one for all the rest', () => {
    const list = Array.from({ length: 3_000 }, (_, n) => item(-500 - n));
    const { rejects, refusedItems, items } = accept(replyText(list), { window });
    expect([rejects.length, refusedItems, items]).toEqual([100, 100, 0]);
    expect(rejects.at(-1)).toMatchObject({ field: 'orderHistory', received: '2901 more items' });
    expect(new Set(rejects.map(({ reject_id }) => reject_id)).size).toBe(100);
  });

  it('is one that comes when its order has ten thousand', () => {
    const list = (from: number) => Array.from({ length: 6_000 }, (_, n) => item(-(from + n) / 100));
    const { known } = accept(replyText(list(0)), { window });
    const second = accept(replyText(list(6_000)), { window, known });
    expect(second.newEvents).toHaveLength(4_000);
    expect(second.rejects[0]).toMatchObject({ reason: 'history_too_long', field: 'orderHistory' });
  });
});
