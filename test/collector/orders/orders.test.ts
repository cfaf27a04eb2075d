import { describe, expect, it } from 'vitest';
import type { Assignment } from '../../../collector/orders/assignment.ts';
import type { OwnerHintMessage } from '../../../collector/orders/owner-hint.ts';
import { createOrders } from '../../../collector/orders/orders.ts';
import { createMemorySink } from '../../../collector/sinks/memory/sink.ts';
import { noInstruments } from '../../../collector/telemetry/instruments.ts';
import { gatewayConfigSchema } from '../../../schemas/config.ts';
import type { WatchRequest } from '../../../schemas/watch-message.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { fingerprint } from '../../support/fingerprint.ts';
import { createMemoryWatchStore } from '../../support/memory-watch-store.ts';
import { callback, CALLBACK_KEY, GATEWAY } from '../../support/pipeline.ts';

/** Orders of one gateway without a network: every reply says that the order is being processed. */
function scene() {
  const clock = createFakeClock();
  const sink = createMemorySink({ nowMicros: clock.now });
  const reads: string[] = [];
  const away = { store: false };
  const assigned: { now: Assignment } = { now: null };
  const handedOver: OwnerHintMessage[] = [];
  const gateway = gatewayConfigSchema.parse({
    name: GATEWAY,
    secureUrl: 'https://gateway.example',
    token: 'a-token',
    callbackKeys: [CALLBACK_KEY],
    poll: { jitter: 0 },
  });
  const orders = createOrders({
    collectorId: 'c1',
    historyDays: 400,
    gateways: new Map([[gateway.name, gateway]]),
    clock,
    stamp: clock.now,
    reader: () => ({
      async read({ orderId: externalId }) {
        reads.push(externalId);
        const body = JSON.stringify({ externalId, orderStatus: 'Processing', orderHistory: [] });
        const { length: bodyBytes } = body;
        return { httpStatus: 200, outcome: 'ok', errorType: '', body, bodyBytes, retryAfterMs: null };
      },
      close: async () => undefined,
    }),
    watchStore: createMemoryWatchStore(sink),
    write: (bundle, provenance) => sink.write(bundle, provenance),
    checkBackpressure() {
      if (away.store) throw new Error('the store is away');
    },
    isShared: true,
    instruments: noInstruments(),
    log: { debug: () => undefined, warn: () => undefined, error: () => undefined },
    signal: new AbortController().signal,
  });
  const start = () =>
    orders.start({
      fingerprint,
      assignment: () => assigned.now,
      tenure: () => null,
      produceHints: async (messages) => void handedOver.push(...messages),
    });
  return { clock, sink, reads, orders, away, assigned, handedOver, start };
}

const request = (externalId: string): WatchRequest => ({
  message: { gateway: GATEWAY, orderType: 'Deposit', externalId },
  problem: null,
  source: 'http',
  deliveryId: 'watch-1',
  coordinates: null,
});

describe('orders', () => {
  it('take nothing in before they are started, nor while the store is away', async () => {
    const { orders, start, away } = scene();
    await expect(orders.takeCallbacks([callback({ externalId: 'a' })], {})).rejects.toThrow(/started/);
    expect(await start()).toBe(0);
    away.store = true;
    await expect(orders.takeWatchRequests([request('a')], {})).rejects.toThrow('the store is away');
  });

  it('read an order that a hint names, and apply the reply', async () => {
    const { orders, start, clock, reads, sink } = scene();
    await start();
    await orders.takeCallbacks([callback({ externalId: 'a' })], { kafkaRecords: 1 });
    expect(await orders.takeWatchRequests([request('b')], {})).toEqual([null]);
    await clock.advance(1);
    expect(reads).toEqual(['a', 'b']);
    expect(sink.rows('polls')).toMatchObject([{ outcome: 'ok' }, { outcome: 'ok' }]);
    expect(orders.status().get(GATEWAY)).toMatchObject({ watched: 2, requests: 2 });
  });

  it('forget the orders that another collector owns once the partitions are assigned', async () => {
    const { orders, start, clock, assigned } = scene();
    await start();
    await orders.takeWatchRequests([request('a')], {});
    await clock.advance(1);
    assigned.now = { partitions: [], of: 6 };
    orders.assignmentChanged();
    await clock.advance(6_000);
    expect(orders.status().get(GATEWAY)?.watched).toBe(0);
    assigned.now = { partitions: [0, 1, 2, 3, 4, 5], of: 6 };
    orders.assignmentChanged();
    await clock.advance(6_000);
    expect(orders.status().get(GATEWAY)?.watched).toBe(1);
  });

  it('say what is wrong with requests without taking them', () => {
    const { orders, sink } = scene();
    const strange = { ...request('a'), message: { gateway: 'gone', orderType: 'Deposit', externalId: 'a' } };
    expect(orders.judgeWatchRequests([request('a'), strange as WatchRequest])).toMatchObject([
      null,
      { field: 'gateway' },
    ]);
    expect(sink.rows('orderWatch')).toEqual([]);
  });
});
