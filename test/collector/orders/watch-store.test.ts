import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { orderText } from '../../../collector/decode/ids.ts';
import { readKnown } from '../../../collector/decode/known-history.ts';
import { isAssigned } from '../../../collector/orders/assignment.ts';
import { resumeOrders } from '../../../collector/orders/ownership.ts';
import { createWatchStore, toRow, type WatchStore } from '../../../collector/orders/watch-store.ts';
import { createClickHouseSink } from '../../../collector/sinks/clickhouse/sink.ts';
import { createMemorySink } from '../../../collector/sinks/memory/sink.ts';
import type { RowSink } from '../../../schemas/sink.ts';
import type { TrackedOrder } from '../../../collector/orders/poller-contract.ts';
import { watchKey, type WatchedOrder } from '../../../schemas/watch.ts';
import { withEmbedded, type TestStore } from '../../support/embedded.ts';
import { createMemoryWatchStore } from '../../support/memory-watch-store.ts';
import { orderRow } from '../../support/order-row.ts';
import { SECOND, T0, watchedOrder } from '../../support/watched-order.ts';
import { openDatabase } from '../../support/migrated-store.ts';

interface Subject {
  readonly sink: RowSink;
  readonly watchStore: WatchStore;
  stop(): Promise<void>;
}

let embedded: TestStore;
beforeAll(async () => {
  embedded = await withEmbedded();
});
afterAll(() => embedded.stop());

async function inMemory(): Promise<Subject> {
  const sink = createMemorySink();
  return { sink, watchStore: createMemoryWatchStore(sink), stop: () => sink.stop(0) };
}

async function inClickHouse(): Promise<Subject> {
  const store = await openDatabase(embedded);
  const sink = createClickHouseSink({ store, collectorId: 'c1' });
  return {
    sink,
    watchStore: createWatchStore((sql, params) => store.query(sql, params)),
    async stop() {
      await sink.stop(1000);
      await store.close();
    },
  };
}

const FULL: WatchedOrder = watchedOrder({
  orderId: 'full',
  externalId: 'full',
  phase: 'rereading',
  nextPollAt: T0 + 123_456,
  attempt: 7,
  reread: 2,
  firstSeenAt: T0 - 1,
  finalAt: T0 + 1,
  lastStatus: 'Success',
  externalTransactionId: 'merchant-9',
  channel: 'p2p',
  watchedSince: T0 + 5,
  amount: '100.00',
  amountSource: 'status',
  currency: 'EUR',
  currencySource: 'watch',
  rootSent: true,
});

const ITEM = { time: T0, action: '1.1.1.00' };

/** Ids that break naive quoting, paths and lines. */
const NASTY = [
  "it's",
  'a\\b',
  'two\nlines',
  'tab\tbed',
  '{x:String}',
  '%27',
  '🦆',
  "');DROP TABLE order_watch;--",
];

describe.each([
  ['in memory', inMemory],
  ['in ClickHouse', inClickHouse],
])('the store of watched orders %s', (_where, open) => {
  let subject: Subject;
  beforeAll(async () => {
    subject = await open();
  });
  afterAll(() => subject.stop());
  const save = (orders: readonly WatchedOrder[], updatedAt = T0) =>
    subject.sink.write({ orderWatch: orders.map((order, index) => toRow(order, updatedAt + index, 'c1')) });
  const active = async () => {
    const orders: WatchedOrder[] = [];
    for await (const page of subject.watchStore.active()) orders.push(...page);
    return orders;
  };

  it('is empty at first', async () => {
    expect(await active()).toEqual([]);
    expect(await subject.watchStore.find([watchedOrder()])).toEqual(new Map());
    expect(await subject.watchStore.find([])).toEqual(new Map());
    expect(await subject.watchStore.known([])).toEqual(new Map());
  });

  it('gives an order back as it was stored, whatever is set of it', async () => {
    const bare = watchedOrder({ orderId: 'bare', idKind: 'transaction-id', orderType: 'Withdrawal' });
    await save([FULL, bare]);
    expect([
      ...(await subject.watchStore.find([bare, FULL, watchedOrder({ orderId: 'never' })])).values(),
    ]).toEqual(expect.arrayContaining([FULL, bare]));
    expect((await subject.watchStore.find([FULL])).get(watchKey(FULL))).toEqual(FULL);
  });

  it('distinguishes orders with the same id by gateway, type and kind of id', async () => {
    const same = [
      watchedOrder({ orderId: 'same', channel: 'a' }),
      watchedOrder({ orderId: 'same', channel: 'b', gateway: 'other' }),
      watchedOrder({ orderId: 'same', channel: 'c', orderType: 'Withdrawal' }),
      watchedOrder({ orderId: 'same', channel: 'd', idKind: 'transaction-id' }),
    ];
    await save(same);
    const found = await subject.watchStore.find(same);
    expect(same.map((order) => found.get(watchKey(order))?.channel)).toEqual(['a', 'b', 'c', 'd']);
    expect((await subject.watchStore.find(same.slice(1, 2))).size).toBe(1);
  });

  it('believes the newest state, whichever was written last', async () => {
    const order = watchedOrder({ orderId: 'twice' });
    await save([{ ...order, attempt: 2 }], T0 + SECOND);
    await save([{ ...order, attempt: 1 }], T0);
    expect((await subject.watchStore.find([order])).get(watchKey(order))?.attempt).toBe(2);
  });

  it('takes any id for what it is', async () => {
    const orders = NASTY.map((orderId) => watchedOrder({ orderId, externalId: orderId }));
    await save(orders);
    const found = await subject.watchStore.find(orders);
    expect(orders.map((order) => found.get(watchKey(order))?.orderId)).toEqual(NASTY);
    await subject.sink.write({
      orders: NASTY.map((id) => orderRow({ external_id: id }, [ITEM])),
    });
    const identities = NASTY.map(
      (externalId) => ({ gateway: 'acme-eu', orderType: 'Deposit', externalId }) as const,
    );
    expect((await subject.watchStore.known(identities)).size).toBe(NASTY.length);
  });

  it('knows the stored history of an order: that of its newest row, with when each item was first seen', async () => {
    const order = { external_id: 'history', first_seen_at: T0 };
    const first = [ITEM, ITEM];
    const late = { time: T0 + 1, action: 'odd|one\n\\', observedAt: T0 + SECOND };
    await subject.sink.write({
      orders: [
        orderRow({ ...order, observed_at: T0 + SECOND }, [...first, late]),
        orderRow(order, first),
        orderRow({ ...order, order_type: 'Withdrawal' }, [{ time: T0, action: '2.1.1.00' }]),
      ],
    });
    const identity = { gateway: 'acme-eu', orderType: 'Deposit', externalId: 'history' } as const;
    const found = await subject.watchStore.known([identity, { ...identity, externalId: 'none' }]);
    expect([...found.keys()]).toEqual([orderText(identity)]);
    expect(found.get(orderText(identity))?.firstSeenAt).toBe(T0);
    const items = [...readKnown(found.get(orderText(identity))?.known ?? '').values()];
    const read = items.map(({ time, code, occurrence, position, observedAt }) => [
      time - T0,
      code.action,
      occurrence,
      position,
      observedAt - T0,
    ]);
    expect(read.toSorted((a, b) => Number(a[3]) - Number(b[3]))).toEqual([
      [0, '1.1.1.00', 0, 0, 0],
      [0, '1.1.1.00', 1, 1, 0],
      [1, 'odd|one\n\\', 0, 2, SECOND],
    ]);
  });

  it('goes on with every order that is not finished, once, with its history: more than a page of them', async () => {
    const orders = Array.from({ length: 5_200 }, (_order, index) =>
      watchedOrder({
        orderId: `many-${index}`,
        externalId: `many-${index}`,
        gateway: index % 3 === 0 ? 'acme-us' : 'acme-eu',
        phase: index % 100 === 0 ? 'settled' : index % 2 === 0 ? 'active' : 'rereading',
      }),
    );
    await save(orders, T0);
    await subject.sink.write({
      orders: [orderRow({ external_id: 'many-1' }, [ITEM])],
    });
    const resumed = new Map<string, TrackedOrder>();
    const count = await resumeOrders(subject.watchStore, subject.watchStore.active(), (watched) =>
      resumed.set(watchKey(watched.order), watched),
    );
    expect(count).toBe(resumed.size);
    const many = [...resumed.values()].filter(({ order }) => order.orderId.startsWith('many-'));
    expect(many).toHaveLength(orders.filter(({ phase }) => phase !== 'settled').length);
    const keyOf = (orderId: string) => watchKey(watchedOrder({ orderId }));
    expect(resumed.get(keyOf('many-1'))?.known).toContain('1.1.1.00');
    expect(resumed.get(keyOf('many-5'))?.known).toBe('');
  });

  it('goes on with orders whose ids are long and not of ASCII, as many as can be asked for at once', async () => {
    const orders = Array.from({ length: 1_200 }, (_, index) =>
      watchedOrder({
        orderId: `${'漢'.repeat(114)}${String(index).padStart(6, '0')}`,
        gateway: 'long',
      }),
    );
    await save(orders);
    await subject.sink.write({
      orders: orders.map(({ orderId }) => orderRow({ gateway: 'long', external_id: orderId }, [ITEM])),
    });
    expect((await subject.watchStore.find(orders)).size).toBe(orders.length);
    const resumed: TrackedOrder[] = [];
    await resumeOrders(subject.watchStore, subject.watchStore.active(), (watched) => resumed.push(watched));
    const ours = resumed.filter(({ order }) => order.gateway === 'long');
    expect(ours).toHaveLength(orders.length);
    expect(ours.every(({ known }) => readKnown(known ?? '').size === 1)).toBe(true);
  });

  it('gives those of an assignment, or those of one writer, by the same hash here and there', async () => {
    const assignment = { partitions: [1, 4], of: 6 };
    const orders = [...NASTY, ...Array.from({ length: 50 }, (_, index) => `shared-${index}`)].map((orderId) =>
      watchedOrder({
        orderId,
        gateway: 'of-shares',
        orderType: orderId.length % 2 === 0 ? 'Deposit' : 'Withdrawal',
      }),
    );
    await save(orders, T0);
    const idsOf = async (pages: AsyncIterable<readonly WatchedOrder[]>) => {
      const ids: string[] = [];
      for await (const page of pages)
        ids.push(...page.filter(({ gateway }) => gateway === 'of-shares').map(({ orderId }) => orderId));
      return ids.toSorted();
    };
    const ours = orders.filter((order) => isAssigned(assignment, order)).map(({ orderId }) => orderId);
    expect(ours.length).toBeGreaterThan(5);
    expect(await idsOf(subject.watchStore.active({ assignment }))).toEqual(ours.toSorted());
    expect(await idsOf(subject.watchStore.active({ by: 'c1' }))).toHaveLength(orders.length);
    expect(await idsOf(subject.watchStore.active({ by: 'c2' }))).toEqual([]);
  });

  it('gives those that another collector wrote of lately, by their newest state', async () => {
    const later = T0 + 3600 * SECOND;
    const [taken, finished, own, old] = ['taken', 'finished', 'own', 'old'].map((orderId) =>
      watchedOrder({ orderId, gateway: 'of-late' }),
    ) as [WatchedOrder, WatchedOrder, WatchedOrder, WatchedOrder];
    await save([old], T0);
    await save([taken, finished, own], later);
    await save([{ ...finished, phase: 'settled' }], later + SECOND);
    await subject.sink.write({ orderWatch: [toRow(own, later + SECOND, 'c2')] });
    const found: string[] = [];
    for await (const page of subject.watchStore.recent({ assignment: null, since: later, notBy: 'c2' }))
      found.push(...page.map(({ orderId }) => orderId));
    expect(found).toEqual(['taken']);
  });
});
