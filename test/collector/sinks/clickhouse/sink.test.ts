import { JOBS } from '../../../../schemas/names.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ClickHouseSinkOptions } from '../../../../collector/sinks/clickhouse/sink.ts';
import { createClickHouseSink } from '../../../../collector/sinks/clickhouse/sink.ts';
import { MANY_ROWS } from '../../../../collector/sinks/clickhouse/sink-state.ts';
import type { Store } from '../../../../store/store.ts';
import type { RowSink, SinkStatus } from '../../../../schemas/sink.ts';
import type { OrderRow, OrderWatchRow } from '../../../../schemas/rows.ts';
import type { TestStore } from '../../../support/embedded.ts';
import { withEmbedded } from '../../../support/embedded.ts';
import type { FaultProxy } from '../support/fault-proxy.ts';
import { faultOnce, startFaultProxy } from '../support/fault-proxy.ts';
import { count, emptyDatabase, openDatabase, openStore } from '../../../support/migrated-store.ts';
import { anyRow, historyEvent, historyEvents, settlement } from '../support/rows.ts';

let embedded: TestStore;
let proxy: FaultProxy;
beforeAll(async () => {
  embedded = await withEmbedded();
  proxy = await startFaultProxy(embedded.url);
});
/** Databases that no test uses now. */
const free: Store[] = [];
afterAll(async () => {
  await Promise.all(free.map((store) => store.close()));
  await proxy.close();
  await embedded.stop();
});

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  proxy.setFault(() => null);
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

interface SetUp {
  readonly sink: RowSink;
  /** Past the proxy. */
  readonly store: Store;
}

async function setUp(
  options: Partial<ClickHouseSinkOptions> & { requestTimeoutMs?: number } = {},
): Promise<SetUp> {
  const { requestTimeoutMs, ...sinkOptions } = options;
  const store = free.pop() ?? (await openDatabase(embedded));
  await emptyDatabase(store);
  const { database } = store;
  const timeout = requestTimeoutMs === undefined ? {} : { requestTimeoutMs };
  const proxied = openStore(embedded, { url: proxy.url, database, ...timeout });
  const sink = createClickHouseSink({
    store: proxied,
    collectorId: 'c1',
    retry: { minDelayMs: 5, maxDelayMs: 50 },
    ...sinkOptions,
  });
  cleanUps.push(
    () => sink.stop(0),
    () => proxied.close(),
    async () => void free.push(store),
  );
  return { sink, store };
}

function order(changes: Partial<OrderRow>): OrderRow {
  return { ...anyRow('orders'), external_id: 'o1', ...changes };
}

describe('a batch', () => {
  it("is acknowledged only after all its tables, the poller's memory last but for the ledger", async () => {
    const { sink, store } = await setUp();
    const before = proxy.seen.length;
    let acknowledged = false;
    proxy.setFault((statement) => {
      expect(acknowledged).toBe(false);
      return statement.includes('ingest_ledger') && statement.startsWith('INSERT') ? 'cut' : null;
    });
    const write = sink
      .write({
        orderWatch: [anyRow('orderWatch')],
        orders: [order({})],
        historyEvents: [historyEvent()],
        settlements: [settlement()],
      })
      .then(() => (acknowledged = true));
    await expect.poll(() => sink.status().retries).toBeGreaterThan(1);
    expect(await count(store, 'order_watch')).toBe(1);
    proxy.setFault(() => null);
    await write;
    const tables = proxy.seen
      .slice(before)
      .flatMap((statement) => /^INSERT INTO (\w+)/.exec(statement)?.[1] ?? []);
    expect(new Set(tables.slice(0, 2))).toEqual(new Set(['history_events_store', 'settlements_store']));
    // What is known of an order is read back from its row: no item may be in it that is not stored.
    expect(tables.slice(2, 4)).toEqual(['orders_store', 'order_watch']);
    expect(tables.at(-1)).toBe('ingest_ledger');
  });

  it('carries its number and collector on the rows, and one row in the ledger with the sums', async () => {
    const { sink, store } = await setUp();
    await Promise.all([
      sink.write(
        { historyEvents: historyEvents('a', 2) },
        { replies: 1, historyItems: 2, coordinates: ['x/0@1'] },
      ),
      sink.write(
        { historyEvents: historyEvents('b', 3) },
        { kafkaRecords: 4, coordinates: ['x/0@2'], hintCoordinates: ['x/0@2'] },
      ),
    ]);
    expect(await store.query('SELECT DISTINCT collector_id, batch_seq FROM history_events_store')).toEqual([
      { collector_id: 'c1', batch_seq: 1 },
    ]);
    expect(await store.query('SELECT * EXCEPT (acknowledged_at) FROM ingest_ledger')).toEqual([
      {
        collector_id: 'c1',
        batch_seq: 1,
        kafka_records: 4,
        http_deliveries: 0,
        watch_requests: 0,
        replies: 1,
        history_items: 2,
        callback_rows: 0,
        history_rows: 5,
        reject_rows: 0,
        coordinates: 'x/0@1 x/0@2',
        hint_coordinates: 'x/0@2',
      },
    ]);
  });

  it('gets a number above those of earlier runs, even when the ledger has expired', async () => {
    const first = await setUp();
    await first.sink.write({ historyEvents: historyEvents('a', 1) });
    await first.sink.write({ historyEvents: historyEvents('b', 1) });
    await first.store.insert('jobs', [{ job: JOBS.spans, part: 'c1', done_batch: 40 }]);
    const acknowledged: number[] = [];
    const second = createClickHouseSink({
      store: first.store,
      collectorId: 'c1',
      onAcknowledged: (batchSeq) => acknowledged.push(batchSeq),
    });
    await second.write({ historyEvents: historyEvents('c', 1) });
    await second.write({ historyEvents: historyEvents('d', 1) });
    await second.stop(1000);
    expect(acknowledged).toEqual([41, 42]);
  });

  it('of nothing but status reports uses no number and no ledger row', async () => {
    const { sink, store } = await setUp();
    await sink.write({ collectorStatus: [anyRow('collectorStatus')] });
    await sink.write({ historyEvents: historyEvents('a', 1) });
    expect(await store.query('SELECT batch_seq FROM ingest_ledger')).toEqual([{ batch_seq: 1 }]);
    expect(await count(store, 'collector_status')).toBe(1);
  });

  it('is as large as allowed, and a bundle larger than that is not split', async () => {
    const { sink, store } = await setUp({ maxBatchRows: 10 });
    await Promise.all([
      sink.write({ historyEvents: historyEvents('a', 4) }),
      sink.write({ historyEvents: historyEvents('b', 4) }),
      sink.write({ historyEvents: historyEvents('c', 25) }),
      sink.write({ historyEvents: historyEvents('d', 1) }),
    ]);
    expect(await store.query('SELECT batch_seq, history_rows FROM ingest_ledger ORDER BY batch_seq')).toEqual(
      [
        { batch_seq: 1, history_rows: 8 },
        { batch_seq: 2, history_rows: 25 },
        { batch_seq: 3, history_rows: 1 },
      ],
    );
  });
});

describe('an insert without an answer', () => {
  it('is repeated under the same token, and stored once', async () => {
    const { sink, store } = await setUp();
    proxy.setFault(faultOnce('swallow', /^INSERT INTO history_events_store/));
    await sink.write({ historyEvents: historyEvents('a', 50) });
    expect(proxy.faults()).toBeGreaterThan(0);
    expect(sink.status()).toMatchObject({ retries: 1, ambiguous: 1, state: 'ok' });
    expect(await count(store, 'history_events_store')).toBe(50);
    expect(await count(store, 'history_events')).toBe(50);
  });

  it('of orders is stored once when the answer was lost', async () => {
    const { sink, store } = await setUp();
    proxy.setFault(faultOnce('swallow', /^INSERT INTO orders_store/));
    await sink.write({ orders: [order({ status: 'Processing' })] });
    expect(await store.query('SELECT external_id, status FROM orders')).toEqual([
      { external_id: 'o1', status: 'Processing' },
    ]);
    expect(await count(store, 'orders_store')).toBe(1);
  });

  it('of orders is stored when the connection broke before the store had it', async () => {
    const { sink, store } = await setUp();
    proxy.setFault(faultOnce('cut', /^INSERT INTO orders_store/));
    await sink.write({ orders: [order({ status: 'Success' })] });
    expect(await store.query('SELECT status FROM orders')).toEqual([{ status: 'Success' }]);
  });

  it('is given up after the deadline and repeated', async () => {
    const { sink, store } = await setUp({ requestTimeoutMs: 1000 });
    proxy.setFault(faultOnce('hang', /^INSERT INTO history_events_store/));
    await sink.write({ historyEvents: historyEvents('a', 1) });
    expect(sink.status().ambiguous).toBeGreaterThan(0);
    expect(await count(store, 'history_events')).toBe(1);
  });
});

describe('rows that the store refuses', () => {
  it('go to rejects one by one, and the others in', async () => {
    const { sink, store } = await setUp();
    const rows = historyEvents('a', 200);
    for (const i of [3, 120]) rows[i] = historyEvent({ external_id: `a-${i}`, stage: 'NOWHERE' });
    await sink.write({ historyEvents: rows, settlements: [settlement()] }, { historyItems: 200 });
    expect(await count(store, 'history_events')).toBe(198);
    const rejects = await store.query<Record<string, unknown>>('SELECT * FROM rejects ORDER BY order_id');
    expect(rejects).toMatchObject([
      {
        reason: 'row_refused_by_store',
        order_id: 'a-120',
        received: 'ClickHouse error 691 UNKNOWN_ELEMENT_OF_ENUM',
      },
      { reason: 'row_refused_by_store', order_id: 'a-3' },
    ]);
    expect(JSON.stringify(rejects)).not.toContain('NOWHERE');
    expect(await store.query('SELECT history_items, history_rows, reject_rows FROM ingest_ledger')).toEqual([
      { history_items: 200, history_rows: 198, reject_rows: 2 },
    ]);
  });

  it('may be rows of orders: refused by the store, or with an item that cannot be sent', async () => {
    const { sink, store } = await setUp();
    await sink.write({
      orders: [
        order({ external_id: 'good' }),
        order({ external_id: 'refused', 'history.stage': ['NOWHERE'] }),
        order({ external_id: 'unsendable', 'history.reason_code': [13, 256] }),
      ],
    });
    expect(await store.query('SELECT external_id FROM orders')).toEqual([{ external_id: 'good' }]);
    expect(await store.query('SELECT order_id, field FROM rejects ORDER BY order_id')).toEqual([
      { order_id: 'refused', field: '' },
      { order_id: 'unsendable', field: 'history.reason_code' },
    ]);
  });

  it('are found before sending when a value does not fit its column', async () => {
    const { sink, store } = await setUp();
    const bad: OrderWatchRow = { ...anyRow('orderWatch'), attempt: -1 };
    await sink.write({ orderWatch: [bad, anyRow('orderWatch')] });
    expect(await count(store, 'order_watch')).toBe(1);
    expect(await store.query('SELECT field, order_type FROM rejects')).toEqual([
      { field: 'attempt', order_type: 'Deposit' },
    ]);
  });

  it('are rejected once, however often they come', async () => {
    const { sink, store } = await setUp();
    const bad = historyEvent({ code_format: 'v9' });
    await sink.write({ historyEvents: [bad] });
    await sink.write({ historyEvents: [bad] });
    expect(await count(store, 'rejects')).toBe(1);
  });
});

describe('a store that is away', () => {
  it('loses nothing and doubles nothing when it is killed in the middle of inserts', async () => {
    const { sink, store } = await setUp({ maxBatchRows: 500, maxAgeMs: 0 });
    const writes = Array.from({ length: 60 }, (_, i) =>
      sink.write({
        historyEvents: historyEvents(`o${i}`, 100),
        orders: [order({ external_id: `o${i}` })],
      }),
    );
    await writes[5];
    process.kill(embedded.store.pid, 'SIGKILL');
    await Promise.all(writes);
    expect(sink.status().retries).toBeGreaterThan(0);
    expect(embedded.store.restarts).toBeGreaterThan(0);
    expect(await count(store, 'history_events')).toBe(6000);
    expect(await count(store, 'orders')).toBe(60);
    expect(await store.query('SELECT sum(history_rows) AS n FROM ingest_ledger FINAL')).toEqual([
      { n: 6000 },
    ]);
  });

  it('is reported as away while one table waits, also when another goes in meanwhile', async () => {
    const states: SinkStatus[] = [];
    const { sink } = await setUp({
      retry: { minDelayMs: 100, maxDelayMs: 200 },
      log: { warn: () => undefined, info: () => queueMicrotask(() => states.push(sink.status())) },
    });
    const cut = new Set<string>();
    proxy.setFault((statement) => {
      const table = /^INSERT INTO (history_events_store|settlements_store)/.exec(statement)?.[1];
      if (table === undefined || (table === 'history_events_store' && cut.size === 2)) return null;
      cut.add(table);
      return 'cut';
    });
    const write = sink.write({ historyEvents: [historyEvent()], settlements: [settlement()] });
    await expect.poll(() => states.length).toBe(1);
    expect(states[0]).toMatchObject({ state: 'retrying', lastError: expect.any(String) });
    proxy.setFault(() => null);
    await write;
    expect(sink.status()).toMatchObject({ state: 'ok', lastError: null });
  });

  it('keeps writers waiting, and says how many rows wait', async () => {
    const { sink, store } = await setUp({ maxBatchRows: 10 });
    proxy.setFault(() => 'cut');
    const settled: number[] = [];
    const writes = Array.from({ length: 10 }, async (_, i) => {
      await sink.write({ historyEvents: historyEvents(`o${i}`, 10) });
      settled.push(i);
    });
    await expect.poll(() => sink.status().retries).toBeGreaterThan(2);
    expect(sink.status().backlogRows).toBe(100);
    expect(settled).toEqual([]);
    proxy.setFault(() => null);
    await Promise.all(writes);
    expect(settled).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await count(store, 'history_events')).toBe(100);
  });

  it('gets every row of those who waited, once it is back', async () => {
    const { sink, store } = await setUp({ maxBatchRows: 10 });
    proxy.setFault((statement) => (statement.startsWith('INSERT') ? 'cut' : null));
    // Small ones as from polls, then large ones as from Kafka: more than one comes in where a batch went out.
    const sizes = [...Array<number>(30).fill(1), ...Array<number>(10).fill(9)];
    const writes = sizes.map((rows, n) => sink.write({ historyEvents: historyEvents(`w${n}`, rows) }));
    await expect.poll(() => sink.status().retries).toBeGreaterThan(1);
    proxy.setFault(() => null);
    await Promise.all(writes);
    expect(sink.status().backlogRows).toBe(0);
    expect(await count(store, 'history_events_store')).toBe(120);
  });

  it('does not hold up a stop while the number of the last batch is asked for', async () => {
    const { sink } = await setUp({ requestTimeoutMs: 600_000 });
    proxy.setFault(() => 'hang');
    const write = sink.write({ historyEvents: historyEvents('never', 1) });
    const outcome = write.catch((error: unknown) => error);
    await expect.poll(() => proxy.seen.at(-1)).toContain('batch_seq');
    await sink.stop(50);
    expect(await outcome).toMatchObject({ code: 'stopped' });
  });

  it('does not hold up a stop for longer than its grace', async () => {
    const { sink } = await setUp();
    proxy.setFault((statement) => (statement.startsWith('INSERT') ? 'hang' : null));
    const before = proxy.faults();
    const write = sink.write({ historyEvents: historyEvents('a', 1) });
    const outcome = write.catch((error: unknown) => error);
    await expect.poll(() => proxy.faults()).toBeGreaterThan(before);
    const started = performance.now();
    await sink.stop(200);
    expect(performance.now() - started).toBeLessThan(1500);
    expect(await outcome).toMatchObject({ code: 'stopped' });
  });
});

describe('a stop', () => {
  it('writes what is held within its grace', async () => {
    const { sink, store } = await setUp({ maxBatchRows: 10 });
    const writes = Array.from({ length: 8 }, (_, i) =>
      sink.write({ historyEvents: historyEvents(`o${i}`, 10) }),
    );
    await sink.stop(10_000);
    await Promise.all(writes);
    expect(await count(store, 'history_events')).toBe(80);
  });
});

describe('batches that follow each other', () => {
  it('wait for their age or their size, while the first goes at once', async () => {
    const { sink, store } = await setUp({ maxAgeMs: 3_600_000, maxBatchRows: 100 });
    await sink.write({ historyEvents: historyEvents('first', 1) });
    const small = sink.write({ historyEvents: historyEvents('small', 1) });
    const large = sink.write({ historyEvents: historyEvents('large', 99) });
    await Promise.all([small, large]);
    expect(await store.query('SELECT history_rows FROM ingest_ledger ORDER BY batch_seq')).toEqual([
      { history_rows: 1 },
      { history_rows: 100 },
    ]);
  });

  it('follow within the age when they stay small', async () => {
    const { sink } = await setUp({ maxAgeMs: 20 });
    const started = performance.now();
    await sink.write({ historyEvents: historyEvents('first', 1) });
    await sink.write({ historyEvents: historyEvents('second', 1) });
    expect(performance.now() - started).toBeGreaterThanOrEqual(19);
  });

  it('follow within the age on the clock that the sink was given', async () => {
    let nowMs = 0;
    const { sink, store } = await setUp({ maxAgeMs: 20, monotonicMs: () => nowMs });
    await sink.write({ historyEvents: historyEvents('first', 1) });
    const second = sink.write({ historyEvents: historyEvents('second', 1) });
    await sleep(200);
    expect(await count(store, 'history_events')).toBe(1);
    nowMs = 20;
    await second;
    expect(await count(store, 'history_events')).toBe(2);
  });

  it('wait longer while they are small, and no longer for a sender or for many rows', async () => {
    let nowMs = 0;
    const hours = 3_600_000;
    const { sink, store } = await setUp({ maxAgeMs: 20, quietAgeMs: hours, monotonicMs: () => nowMs });
    const write = (name: string, rows = 1, provenance = {}): Promise<void> =>
      sink.write({ historyEvents: historyEvents(name, rows) }, provenance);
    const idle = () => expect.poll(() => sink.status().inFlight).toBe(0);
    await write('first');
    nowMs += 20;
    await write('soon after a pause');
    await idle();
    nowMs += hours / 2;
    const held = [write('held'), write('held too')];
    expect(sink.status().inFlight).toBe(0);
    await write('sent for', 1, { httpDeliveries: 1 });
    await idle();
    expect(sink.status().backlogRows).toBe(2);
    nowMs += 20;
    held.push(write('held again'));
    expect(sink.status().inFlight).toBe(0);
    await Promise.all([...held, write('many', MANY_ROWS)]);
    expect(await store.query('SELECT history_rows FROM ingest_ledger ORDER BY batch_seq')).toEqual(
      [1, 1, 1, MANY_ROWS + 3].map((history_rows) => ({ history_rows })),
    );
  });
});
