import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HistoryEventRow } from '../../../schemas/rows.ts';
import { callback, createPipeline, type GatewayOrder } from '../../support/pipeline.ts';

const IDS = ['order-a', 'order-b', 'order-c'];

const event = fc.record({
  afterMs: fc.integer({ min: 0, max: 40_000 }),
  order: fc.integer({ min: 0, max: 2 }),
  what: fc.oneof(
    { weight: 4, arbitrary: fc.constant('item' as const) },
    { weight: 2, arbitrary: fc.constant('callback' as const) },
    { weight: 1, arbitrary: fc.constant('final' as const) },
    { weight: 1, arbitrary: fc.constant('watch by merchant id' as const) },
    { weight: 2, arbitrary: fc.constant('kill' as const) },
    { weight: 1, arbitrary: fc.constant('store away' as const) },
    { weight: 1, arbitrary: fc.constant('store back' as const) },
    { weight: 1, arbitrary: fc.constant('clock forward' as const) },
    { weight: 1, arbitrary: fc.constant('clock back' as const) },
  ),
});

/** The clock is set an hour forward, so that a re-read seems overdue after the kill, and back again. */
const FORWARD_BEFORE_A_KILL = [
  { afterMs: 26_681, order: 1, what: 'final' as const },
  { afterMs: 35_319, order: 0, what: 'item' as const },
  { afterMs: 0, order: 0, what: 'clock forward' as const },
  { afterMs: 3_915, order: 0, what: 'kill' as const },
  { afterMs: 17_678, order: 0, what: 'callback' as const },
  { afterMs: 31_400, order: 0, what: 'clock back' as const },
  { afterMs: 25_137, order: 0, what: 'store away' as const },
  { afterMs: 31_870, order: 0, what: 'item' as const },
];

const identity = (row: HistoryEventRow) =>
  `${row.external_id}|${row.event_time}|${row.action}|${row.occurrence}`;

describe('whatever is killed, cut off or set, and whenever', () => {
  it('every item of every order that an acknowledged callback named is stored, and each order ends with one settlement', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 40 }), async (events) => {
        const { clock, sink, orders, receive, watch, restart, poller } = createPipeline({
          requestsPerSecond: 20,
        });
        const state = IDS.map((externalId): GatewayOrder => {
          const order = { externalId, externalTransactionId: `m-${externalId}`, orderStatus: 'Processing' };
          return { ...order, history: [[0, '1.1.1.00']] };
        });
        for (const order of state) {
          orders.set(order.externalId, order).set(order.externalTransactionId ?? '', order);
          await receive(callback({ externalId: order.externalId }));
        }
        let elapsedS = 0;
        for (const { afterMs, order: index, what } of events) {
          const order = state[index] as GatewayOrder;
          if (what === 'item') order.history.push([elapsedS, '4.2.2.13']);
          if (what === 'final') order.orderStatus = 'Success';
          // Not awaited: the store may be away.
          if (what === 'callback') void receive(callback({ externalId: order.externalId })).catch(() => {});
          if (what === 'watch by merchant id')
            void watch({ orderType: 'Deposit', externalTransactionId: `m-${order.externalId}` }).catch(
              () => {},
            );
          if (what === 'kill') await restart();
          if (what === 'store away') sink.hold();
          if (what === 'store back') sink.release();
          if (what === 'clock forward') clock.step(3_600_000);
          if (what === 'clock back') clock.step(-3_600_000);
          await clock.advance(afterMs);
          elapsedS += afterMs / 1000;
        }
        // Peace: every order comes to its end, and the gateway appends its last items within ten minutes of
        // that.
        sink.release();
        for (const order of state) order.orderStatus = 'Success';
        await clock.advance(340_000);
        for (const order of state) order.history.push([elapsedS + 341, '6.1.1.00']);
        await clock.advance(7_200_000);

        const check = () => {
          expect(poller().status()).toMatchObject({ watched: 0, inFlight: 0 });
          const stored = new Set(sink.rows('historyEvents').map(identity));
          expect(stored.size).toBe(state.reduce((sum, { history }) => sum + history.length, 0));
          const settled = new Set(sink.rows('settlements').map(({ external_id }) => external_id));
          expect([...settled].toSorted()).toEqual(IDS);
          // The row of an order that counts is whole. Set back after a kill, the clock makes it an older one.
          if (events.some(({ what }) => what === 'clock back')) return;
          const newest = new Map(
            sink
              .rows('orders')
              .toSorted((a, b) => a.observed_at - b.observed_at)
              .map((row) => [row.external_id, row]),
          );
          for (const { externalId, history } of state)
            expect(newest.get(externalId)).toMatchObject({
              history_items: history.length,
              status: 'Success',
              settled_at: expect.any(Number) as number,
            });
          const places = sink.rows('orders').map((row) => `${row.external_id}|${row.first_seen_at}`);
          expect(new Set(places).size).toBe(IDS.length);
        };
        check();
        // A clock that was set back may leave an older state of an order as the newest: it is read once more.
        await restart();
        await clock.advance(7_200_000);
        check();
      }),
      { numRuns: 200, examples: [[FORWARD_BEFORE_A_KILL]] },
    );
  });
});
