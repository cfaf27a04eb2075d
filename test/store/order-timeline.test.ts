import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CALLBACKS, CANDIDATES, HEAD, HISTORY, POLLS } from '../../store/order-timeline-sql.ts';
import { readOrderTimeline } from '../../store/order-timeline.ts';
import { orderTimelineSchema, type OrderQuery, type OrderTimeline } from '../../schemas/order-timeline.ts';
import {
  callbackRow,
  migratedStore,
  seededRow,
  ORDER,
  SECOND,
  seedOrder,
  START,
  watchRow,
  type MigratedStore,
} from '../cli/commands/support/seeded-order.ts';

let db: MigratedStore;

beforeAll(async () => {
  db = await migratedStore();
  await seedOrder(db.store);
});
afterAll(() => db.stop());

const read = (wanted: OrderQuery): Promise<OrderTimeline | null> => readOrderTimeline(db.store.query, wanted);

async function found(wanted: OrderQuery): Promise<OrderTimeline> {
  const timeline = await read(wanted);
  if (timeline === null) throw new Error('not found');
  return orderTimelineSchema.parse(timeline);
}

describe('an order by the service id', () => {
  test('shows its head from the newest reply, and the currency with its source', async () => {
    const { order } = await found({ id: ORDER.external_id });
    expect(order).toEqual({
      gateway: 'acme-eu',
      orderType: 'Deposit',
      externalId: ORDER.external_id,
      externalTransactionId: 'merchant-1001',
      channel: 'p2p',
      status: 'Failed',
      outcome: 'issuer_decline',
      reasonGroup: 'ISSUER',
      reasonDetail: 'INSUFFICIENT_FUNDS',
      amount: '100.5',
      currency: 'EUR',
      currencySource: 'watch',
      firstSeenAt: '2026-11-21T10:15:29.000000Z',
      createdAt: '2026-11-21T10:15:30.000000Z',
      finalAt: '2026-11-21T10:15:50.000000Z',
      settledAt: null,
      abandonedAt: null,
      lastReplyAt: '2026-11-21T10:15:52.000000Z',
      traceId: 'e9aa68962ba7f508d810ef274ad7c745',
    });
  });

  test('shows each item once, as first seen, in time order, with the late one marked', async () => {
    const { events } = await found({ id: ORDER.external_id });
    expect(events.map((event) => [event.action, event.sincePreviousMs, event.late, event.deciding])).toEqual([
      ['1.1.1.00', null, false, false],
      ['2.1.1.00', 250, false, false],
      ['3.9.9', 9750, true, false],
      ['4.1.4.63', 10_000, false, true],
      ['6.1.1.00', 1000, false, false],
    ]);
    expect(events[3]).toMatchObject({
      time: '2026-11-21T10:15:50.000000Z',
      observedAt: '2026-11-21T10:15:52.000000Z',
      listPosition: 2,
      format: 'v2',
      stage: 'CHECK',
      result: 'SUCCESS',
      state: 'FAILED',
      reasonCode: 63,
      reasonGroup: 'ISSUER',
      catalogued: true,
    });
    expect(events[2]).toMatchObject({ format: 'unrecognized', stage: null, description: null });
  });

  test('shows callbacks by content with their verdicts and deliveries', async () => {
    const { callbacks } = await found({ id: ORDER.external_id });
    expect(callbacks).toMatchObject([
      { verdict: 'valid', deliveries: 2, amount: '100.50', currency: 'EUR', status: 'Failed' },
      { verdict: 'mismatch', deliveries: 1 },
    ]);
    expect(callbacks[0]?.firstReceivedAt).toBe('2026-11-21T10:15:51.000000Z');
    expect(callbacks[0]?.lastReceivedAt).toBe('2026-11-21T10:16:00.000000Z');
    expect(callbacks[0]?.contentHash).toBe('07'.repeat(32));
  });

  test("sums up its status requests, and nobody else's", async () => {
    const { polls, watch } = await found({ id: ORDER.external_id });
    expect(polls).toEqual({
      refusedItems: 0,
      count: 3,
      outcomes: [
        { outcome: 'ok', count: 2 },
        { outcome: 'unknown', count: 1 },
      ],
      firstAt: '2026-11-21T10:15:32.000000Z',
      last: {
        at: '2026-11-21T10:15:52.000000Z',
        outcome: 'ok',
        httpStatus: 200,
        errorType: '',
        durationMs: 41.5,
      },
    });
    expect(watch).toEqual({ phase: 'rereading', nextPollAt: '2026-11-21T10:16:50.000000Z' });
  });
});

describe('finding an order', () => {
  test('works by the merchant id, said or not', async () => {
    const asked = await found({ id: 'merchant-1001', by: 'transaction-id' });
    expect(asked.order.externalId).toBe(ORDER.external_id);
    expect((await found({ id: 'merchant-1001' })).order.externalId).toBe(ORDER.external_id);
    expect(await read({ id: 'merchant-1001', by: 'external-id' })).toBeNull();
  });

  test('gives null for an id that nothing has named, and for another gateway or type', async () => {
    expect(await read({ id: 'nowhere' })).toBeNull();
    expect(await read({ id: ORDER.external_id, gateway: 'other' })).toBeNull();
    expect(await read({ id: ORDER.external_id, type: 'Withdrawal' })).toBeNull();
  });

  test('takes the id as data, whatever it holds', async () => {
    for (const id of ["' OR 1=1 --", 'a\n\nDROP TABLE orders_store;', '{id:String}', '\\']) {
      expect(await read({ id })).toBeNull();
    }
  });

  test('shows the one heard of last when gateways share an id, and names the others', async () => {
    const twin = { ...ORDER, gateway: 'acme-us' };
    await db.store.insert('orders', [
      seededRow({ ...twin, external_id: 'twin', observed_at: START }),
      seededRow({ ...twin, gateway: 'acme-eu', external_id: 'twin', observed_at: START + SECOND }),
    ]);
    const both = await found({ id: 'twin' });
    expect(both.order.gateway).toBe('acme-eu');
    expect(both.alsoMatching).toMatchObject([
      { gateway: 'acme-us', orderType: 'Deposit', externalId: 'twin' },
    ]);
    const one = await found({ id: 'twin', gateway: 'acme-us', type: 'Deposit' });
    expect(one.order.gateway).toBe('acme-us');
    expect(one.alsoMatching).toEqual([]);
  });

  test('finds an order that only a callback has named, with nothing but that callback', async () => {
    await db.store.insert('callbackDeliveries', [
      callbackRow({
        external_id: 'only-callback',
        content_hash: new Uint8Array(32).fill(11),
        verdict: 'mismatch',
      }),
    ]);
    const timeline = await found({ id: 'only-callback' });
    expect(timeline.order).toMatchObject({ status: null, outcome: null, firstSeenAt: null });
    expect(timeline.callbacks).toHaveLength(1);
    expect(timeline.events).toEqual([]);
  });

  test('finds an order watched by the merchant id before any reply has named it', async () => {
    await db.store.insert('orderWatch', [
      watchRow({ id_kind: 'transaction-id', order_id: 'merchant-2', external_id: '', phase: 'active' }),
    ]);
    const timeline = await found({ id: 'merchant-2' });
    expect(timeline.order).toMatchObject({
      externalId: null,
      externalTransactionId: 'merchant-2',
      traceId: null,
    });
    expect(timeline.watch?.phase).toBe('active');
  });
});

test('an order with a changed mind is decided by its latest final item, and nothing before the end is late', async () => {
  const order = { gateway: 'acme-eu', order_type: 'Deposit', external_id: 'pending' };
  const items = ['1.0.0.00', '3.0.1.51', '4.1.4.00', '5.1.3.00'].map((action, place) => ({
    time: START + place,
    action,
    observedAt: START + place * SECOND,
  }));
  const read = (count: number) =>
    db.store.insert('orders', [
      seededRow({ ...order, external_transaction_id: '', observed_at: START + count }, items.slice(0, count)),
    ]);
  await read(2);
  const pending = await found({ id: 'pending' });
  expect(pending.events.map((event) => [event.late, event.deciding])).toEqual([
    [false, false],
    [false, false],
  ]);
  await read(4);
  const decided = await found({ id: 'pending' });
  expect(decided.events.map((event) => [event.late, event.deciding])).toEqual([
    [false, false],
    [false, false],
    [false, false],
    [true, true],
  ]);
});

test('the view of all timelines has no row for an order that was only heard of', async () => {
  await db.store.insert('orders', [seededRow({ external_id: 'only-heard-of', history_items: 0 })]);
  const items = async (sql: string) => (await db.store.query<{ n: number }>(`SELECT ${sql}`))[0]?.n;
  expect(await items(`count() AS n FROM order_timeline WHERE external_id = 'only-heard-of'`)).toBe(0);
  expect(await items('count() AS n FROM order_timeline')).toBe(
    await items('sum(length(history.time)) AS n FROM orders'),
  );
  expect(await items('countIf(isNull(seconds_since_previous)) AS n FROM order_timeline')).toBe(
    await items('countIf(notEmpty(history.time)) AS n FROM orders'),
  );
});

describe('among many orders', () => {
  beforeAll(async () => {
    await db.store.command(
      `INSERT INTO orders_store (gateway, order_type, external_id, first_seen_at, observed_at)
       SELECT 'acme-eu', 'Deposit', toString(generateUUIDv4(number)), fromUnixTimestamp64Micro(${START}), fromUnixTimestamp64Micro(${START}) FROM numbers(200000)`,
    );
  });

  test.each([
    ['history', HISTORY],
    ['head', HEAD],
    ['candidates', CANDIDATES['external-id']],
  ])('the %s is read by the sorting key: few granules, not the table', async (_title, statement) => {
    const plan = await db.store.queryText(`EXPLAIN indexes = 1 ${statement}`, 'TSVRaw', {
      id: ORDER.external_id,
      gateway: ORDER.gateway,
      order_type: 'Deposit',
      external_id: ORDER.external_id,
      external_transaction_id: '',
    });
    const granules = [...plan.matchAll(/Granules: (\d+)\/(\d+)/g)].map((match) => match.slice(1).map(Number));
    expect(granules.length).toBeGreaterThan(0);
    const read = Math.min(...granules.map(([selected]) => selected ?? 0));
    const total = Math.max(...granules.map(([, all]) => all ?? 0));
    expect(total).toBeGreaterThan(20);
    expect(read).toBeLessThanOrEqual(4);
  });

  test('every statement still gives the same order', async () => {
    expect(HISTORY + HEAD + CALLBACKS + POLLS).not.toContain('FINAL');
    expect((await found({ id: ORDER.external_id })).events).toHaveLength(5);
  });
});
