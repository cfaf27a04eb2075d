import { describe, expect, it } from 'vitest';
import { createOwnership, endScan, firstScan, nextScan } from '../../../collector/orders/ownership.ts';
import { isAssigned, type Assignment } from '../../../collector/orders/assignment.ts';
import { toRow } from '../../../collector/orders/watch-store.ts';
import { createMemorySink } from '../../../collector/sinks/memory/sink.ts';
import { watchKey, type WatchedOrder } from '../../../schemas/watch.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createMemoryWatchStore } from '../../support/memory-watch-store.ts';
import { watchedOrder } from '../../support/watched-order.ts';

const EVEN: Assignment = { partitions: [0, 2, 4], of: 6 };
const ODD: Assignment = { partitions: [1, 3, 5], of: 6 };
const ORDERS = Array.from({ length: 40 }, (_, index) => watchedOrder({ orderId: `order-${index}` }));
const idsOf = (orders: Iterable<WatchedOrder>) => Array.from(orders, ({ orderId }) => orderId).toSorted();
const within = (assignment: Assignment) => idsOf(ORDERS.filter((order) => isAssigned(assignment, order)));

/** Two collectors on one store; of the poller only what it remembers. */
function scene(options: { isShared?: boolean } = {}) {
  const clock = createFakeClock();
  const sink = createMemorySink({ nowMicros: clock.now });
  const failing = { store: false };
  const errors: unknown[] = [];
  const start = (collectorId: string) => {
    const watched = new Map<string, WatchedOrder>();
    let assignment: Assignment = null;
    const watchStore = createMemoryWatchStore(sink);
    const ownership = createOwnership({
      watchStore: {
        ...watchStore,
        active: (of) => (failing.store ? failed() : watchStore.active(of)),
        recent: (of) => (failing.store ? failed() : watchStore.recent(of)),
      },
      tracked: {
        resume: ({ order }) => void watched.set(watchKey(order), order),
        release() {
          for (const [key, order] of watched) if (!isAssigned(assignment, order)) watched.delete(key);
        },
        get: (key) => watched.get(key),
      },
      collectorId,
      clock,
      assignment: () => assignment,
      stamp: () => 0,
      isShared: options.isShared ?? true,
      onError: (error) => errors.push(error),
    });
    return {
      ownership,
      watched: () => idsOf(watched.values()),
      give(next: Assignment) {
        assignment = next;
        ownership.changed();
      },
    };
  };
  async function* failed(): AsyncIterable<readonly WatchedOrder[]> {
    yield await Promise.reject(new Error('the store is away'));
  }
  const save = (by: string, orders: readonly WatchedOrder[] = ORDERS) =>
    sink.write({ orderWatch: orders.map((order) => toRow(order, clock.now(), by)) });
  return { clock, start, save, failing, errors };
}

describe('the ownership of watched orders', () => {
  it('resumes everything where there is no other collector', async () => {
    const { start, save } = scene({ isShared: false });
    await save('of-an-earlier-name');
    const one = start('one');
    expect(await one.ownership.start()).toBe(ORDERS.length);
    expect(one.watched()).toEqual(idsOf(ORDERS));
  });

  it('resumes its own at once, and what it is assigned of the rest as soon as the group has decided', async () => {
    const { start, save, clock } = scene();
    await save('one', ORDERS.slice(0, 10));
    await save('gone', ORDERS.slice(10));
    const one = start('one');
    expect(await one.ownership.start()).toBe(10);
    one.give(EVEN);
    await clock.advance(6_000);
    expect(one.watched()).toEqual(within(EVEN));
  });

  it('divides the orders so that each is watched by exactly one, whoever comes and goes', async () => {
    const { start, save, clock } = scene();
    await save('one');
    const one = start('one');
    await one.ownership.start();
    const two = start('two');
    expect(await two.ownership.start()).toBe(0);
    one.give(EVEN);
    two.give(ODD);
    await clock.advance(6_000);
    expect([...one.watched(), ...two.watched()].toSorted()).toEqual(idsOf(ORDERS));
    // Killed: the group notices, and gives the other everything.
    await two.ownership.stop();
    one.give({ partitions: [0, 1, 2, 3, 4, 5], of: 6 });
    await clock.advance(6_000);
    expect(one.watched()).toEqual(idsOf(ORDERS));
  });

  it('finds an order that it owns and another collector tracked first', async () => {
    const { start, save, clock } = scene();
    const one = start('one');
    await one.ownership.start();
    one.give(EVEN);
    await clock.advance(60_000);
    await save('two');
    await clock.advance(6_000);
    expect(one.watched()).toEqual(within(EVEN));
  });

  it('finds one whose state was stored under a wrong time a little later', async () => {
    const { start, save, clock } = scene();
    const one = start('one');
    await one.ownership.start();
    one.give(EVEN);
    await clock.advance(6_000);
    clock.step(-7_200_000);
    await save('two');
    clock.step(7_200_000);
    await clock.advance(310_000);
    expect(one.watched()).toEqual(within(EVEN));
  });

  it('takes every order when no group answers: twice is better than never', async () => {
    const { start, save, clock } = scene();
    await save('gone');
    const one = start('one');
    await one.ownership.start();
    await clock.advance(20_000);
    expect(one.watched()).toEqual([]);
    await clock.advance(20_000);
    expect(one.watched()).toEqual(idsOf(ORDERS));
  });

  it('scans again when the store was away', async () => {
    const { start, save, clock, failing, errors } = scene();
    const one = start('one');
    await one.ownership.start();
    failing.store = true;
    one.give(EVEN);
    await save('two');
    await clock.advance(30_000);
    expect(errors).not.toEqual([]);
    expect(one.watched()).toEqual([]);
    failing.store = false;
    await clock.advance(6_000);
    expect(one.watched()).toEqual(within(EVEN));
  });

  it('does nothing after its end', async () => {
    const { start, save, clock } = scene();
    const one = start('one');
    await one.ownership.start();
    await one.ownership.stop();
    one.give(EVEN);
    await save('two');
    await clock.advance(60_000);
    expect(one.watched()).toEqual([]);
  });
});

describe('the next scan of the store', () => {
  it('waits for an assignment, half a minute at most', () => {
    const state = firstScan(true, 1_000, 0);
    expect(nextScan(state, null, 'one', 29_999)).toBeNull();
    expect(nextScan(state, EVEN, 'one', 5_000)).toMatchObject({ what: 'recent', notBy: 'one' });
    expect(nextScan(state, null, 'one', 30_000)).toEqual({ what: 'all', assignment: null });
  });

  it('covers what others stored since the last one, and everything every five minutes', () => {
    const state = firstScan(false, 100_000_000, 0);
    expect(nextScan(state, null, 'one', 5_000)).toMatchObject({ what: 'recent', since: 40_000_000 });
    endScan(state, { what: 'all' }, 200_000_000);
    expect(nextScan(state, null, 'one', 10_000)).toMatchObject({ since: 140_000_000 });
    expect(nextScan(state, null, 'one', 300_000)).toMatchObject({ what: 'all' });
    expect(nextScan(state, null, 'one', 305_000)).toMatchObject({ what: 'recent' });
  });

  it('repeats a full scan that failed', () => {
    const state = firstScan(false, 0, 0);
    const scan = nextScan(state, null, 'one', 300_000);
    if (scan === null) throw new Error('no scan is due');
    endScan(state, scan, null);
    expect(nextScan(state, null, 'one', 305_000)).toMatchObject({ what: 'all' });
  });
});
