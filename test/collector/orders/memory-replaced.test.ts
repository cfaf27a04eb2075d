import { describe, expect, it } from 'vitest';
import { createOrders, type Orders } from '../../../collector/orders/orders.ts';
import { createMemorySink, type MemorySink } from '../../../collector/sinks/memory/sink.ts';
import {
  assignmentOf,
  initialState,
  nextState,
  tenureOf,
} from '../../../collector/sources/kafka/source-state.ts';
import type { SourceChange } from '../../../collector/sources/kafka/source-state.ts';
import { noInstruments } from '../../../collector/telemetry/instruments.ts';
import type { Clock } from '../../../schemas/clock.ts';
import { gatewayConfigSchema } from '../../../schemas/config.ts';
import { createFakeClock, turn, type FakeClock } from '../../support/fake-clock.ts';
import { fingerprint } from '../../support/fingerprint.ts';
import { createMemoryWatchStore } from '../../support/memory-watch-store.ts';
import { callback, CALLBACK_KEY, GATEWAY } from '../../support/pipeline.ts';

const TOPIC = 'gateway.orders';
const PARTITIONS = [0, 1, 2];
const SESSION_MS = 10_000;
const ID = '7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d';

/** What the gateway says of the order at present. */
interface Answer {
  orderStatus: string;
  items: string[];
}

/**
 * A collector on a process that can be stopped: its timers and what it is to be given wait until it goes
 * on.
 */
function collector(name: string, clock: FakeClock, sink: MemorySink, answer: Answer) {
  let state = initialState(0);
  let stopped: (() => void)[] | null = null;
  const change = (what: SourceChange) => void (state = nextState(state, what, clock.monotonicMs()));
  const whenRunning = (then: () => void): void => void (stopped === null ? then() : stopped.push(then));
  const process: Clock = {
    ...clock,
    after: (ms, then) => clock.after(ms, () => whenRunning(then)),
  };
  const gateway = gatewayConfigSchema.parse({
    name: GATEWAY,
    secureUrl: 'https://gateway.example',
    token: 'a-token',
    callbackKeys: [CALLBACK_KEY],
    poll: { jitter: 0, rereadsS: [10, 20] },
  });
  const reads: string[] = [];
  const orders: Orders = createOrders({
    collectorId: name,
    historyDays: 400,
    gateways: new Map([[gateway.name, gateway]]),
    clock: process,
    stamp: clock.now,
    reader: () => ({
      async read({ orderId: externalId }) {
        const { orderStatus, items } = answer;
        reads.push(orderStatus);
        const orderHistory = items.map((action, index) => ({
          time: new Date(Date.UTC(2026, 10, 21, 10, 15, index)).toISOString(),
          action,
        }));
        const body = JSON.stringify({ externalId, orderStatus, orderHistory });
        // The gateway takes a moment, and who stands still takes its reply later.
        await new Promise<void>((resolve) => clock.after(100, () => whenRunning(resolve)));
        const { length: bodyBytes } = body;
        return { httpStatus: 200, outcome: 'ok', errorType: '', body, bodyBytes, retryAfterMs: null };
      },
      close: async () => undefined,
    }),
    watchStore: createMemoryWatchStore(sink),
    write: (bundle, provenance) => sink.write(bundle, provenance),
    checkBackpressure: () => undefined,
    isShared: true,
    instruments: noInstruments(),
    log: { debug: () => undefined, warn: () => undefined, error: () => undefined },
    signal: new AbortController().signal,
  });
  return {
    orders,
    reads,
    start: () =>
      orders.start({
        fingerprint,
        assignment: () => assignmentOf(state, TOPIC),
        tenure: () =>
          tenureOf(state, TOPIC, { ms: clock.monotonicMs(), wallMs: clock.now() / 1000 }, SESSION_MS),
        produceHints: async () => undefined,
      }),
    join(memberId: string, partitions: number[] = PARTITIONS) {
      change({ type: 'partitions', topic: TOPIC, count: PARTITIONS.length });
      change({ type: 'joined', memberId, assignment: { [TOPIC]: partitions } });
      this.beat();
      orders.assignmentChanged();
    },
    /** The group answers a heartbeat. */
    beat: () => change({ type: 'confirmed', sentMs: clock.monotonicMs(), sentWallMs: clock.now() / 1000 }),
    isRunning: () => stopped === null,
    pause: () => void (stopped = []),
    async goOn() {
      const waiting = stopped ?? [];
      stopped = null;
      for (const then of waiting) then();
      for (let turns = 0; turns < 5; turns += 1) await turn();
    },
  };
}

/** Two collectors on one store. */
async function scene() {
  const clock = createFakeClock();
  const sink = createMemorySink({ nowMicros: clock.now });
  const answer: Answer = { orderStatus: 'Processing', items: ['1.1.1.00'] };
  const [first, second] = [collector('first', clock, sink, answer), collector('second', clock, sink, answer)];
  await first.start();
  await second.start();
  const members = new Set([first]);
  first.join('m1');
  return {
    clock,
    sink,
    answer,
    first,
    second,
    members,
    /** Lets seconds pass in which the group hears of those members that are running. */
    async pass(seconds: number) {
      for (let second_ = 0; second_ < seconds; second_ += 1) {
        for (const member of members) if (member.isRunning()) member.beat();
        await clock.advance(1_000);
      }
    },
    name: (by: typeof first) => by.orders.takeCallbacks([callback({ externalId: ID })], { kafkaRecords: 1 }),
    /** The group gives up the first one, and its partitions to the second. */
    replace() {
      members.delete(first);
      members.add(second);
      second.join('m2');
    },
    row: () => newest(sink.rows('orders'), 'observed_at'),
    state: () => newest(sink.rows('orderWatch'), 'updated_at'),
  };
}

function newest<R extends object>(rows: readonly R[], version: keyof R): R | undefined {
  return rows.reduce<R | undefined>(
    (best, row) => (best === undefined || row[version] >= best[version] ? row : best),
    undefined,
  );
}

describe('a collector that was stopped and replaced', () => {
  it('with a reply in hand leaves the row as its successor has written it', async () => {
    const { clock, answer, first, second, name, replace, pass, row, state } = await scene();
    await name(first);
    await clock.advance(50);
    expect(first.reads).toEqual(['Processing']);
    first.pause();
    await pass(SESSION_MS / 1000 + 1);
    replace();
    answer.orderStatus = 'Success';
    answer.items.push('4.1.3.00');
    await pass(60);
    const settled = row();
    expect(settled).toMatchObject({ status: 'Success', outcome: 'succeeded', history_items: 2 });
    expect(settled?.settled_at).not.toBeNull();
    expect(state()).toMatchObject({ phase: 'settled', collector_id: 'second' });

    await first.goOn();
    await pass(120);
    expect(row()).toBe(settled);
    expect(state()).toMatchObject({ phase: 'settled', collector_id: 'second' });
    expect(second.orders.status().get(GATEWAY)?.watched).toBe(0);
    expect(first.orders.status().get(GATEWAY)?.watched).toBe(0);
  });

  it('reads what was due, and writes nothing of an order that has come to its end', async () => {
    const { answer, first, name, replace, pass, row, state, members } = await scene();
    members.add(first);
    await name(first);
    await pass(3);
    first.pause();
    await pass(SESSION_MS / 1000 + 1);
    replace();
    answer.orderStatus = 'Success';
    answer.items.push('4.1.3.00');
    await pass(60);
    const settled = row();
    const before = first.reads.length;
    await first.goOn();
    await pass(60);
    expect(first.reads.length).toBeGreaterThan(before);
    expect(row()).toBe(settled);
    expect(state()).toMatchObject({ phase: 'settled', collector_id: 'second' });
  });

  it('reads on by what is stored, not by its memory, once it is back in the group', async () => {
    const { answer, first, second, name, replace, pass, row, members } = await scene();
    await name(first);
    await pass(3);
    first.pause();
    await pass(SESSION_MS / 1000 + 1);
    replace();
    answer.items.push('2.1.1.00');
    await pass(60);
    const seenBySecond = row()?.['history.observed_at'];
    expect(seenBySecond).toHaveLength(2);
    await second.orders.stop();
    members.delete(second);
    await first.goOn();
    members.add(first);
    first.join('m3');
    answer.items.push('3.1.2.55');
    await pass(330);
    expect(row()?.['history.observed_at'].slice(0, 2)).toEqual(seenBySecond);
    expect(row()).toMatchObject({ history_items: 3 });
  });

  it('and takes a callback that lay in its socket goes by what is stored', async () => {
    const { answer, first, name, replace, pass, row } = await scene();
    await name(first);
    await pass(3);
    first.pause();
    await pass(SESSION_MS / 1000 + 1);
    replace();
    answer.orderStatus = 'Success';
    answer.items.push('4.1.3.00');
    await pass(60);
    const settled = row();
    await first.goOn();
    await name(first);
    await pass(60);
    expect(row()).toMatchObject({ status: 'Success', history_items: 2 });
    expect(row()?.settled_at).not.toBeNull();
    expect(row()?.['history.observed_at']).toEqual(settled?.['history.observed_at']);
  });
});

describe('a collector that is cut off from the brokers', () => {
  it('and not from the gateway reads its orders to their end', async () => {
    const { answer, first, name, pass, row, members } = await scene();
    await name(first);
    await pass(3);
    members.delete(first);
    await pass(60);
    answer.orderStatus = 'Success';
    answer.items.push('4.1.3.00');
    await pass(200);
    expect(row()).toMatchObject({ status: 'Success', history_items: 2 });
    expect(row()?.settled_at).not.toBeNull();
  });

  it('lets the later of two readers win while another has its partitions', async () => {
    const { answer, first, second, name, pass, row, state, members } = await scene();
    await name(first);
    await pass(3);
    members.delete(first);
    await pass(SESSION_MS / 1000 + 1);
    members.add(second);
    second.join('m2');
    await pass(30);
    answer.orderStatus = 'Success';
    answer.items.push('4.1.3.00');
    await pass(600);
    expect(first.reads.length).toBeGreaterThan(2);
    expect(row()).toMatchObject({ status: 'Success', history_items: 2 });
    expect(row()?.settled_at).not.toBeNull();
    expect(state()).toMatchObject({ phase: 'settled' });
  });
});
