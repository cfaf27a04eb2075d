import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClickHouseSink } from '../../collector/sinks/clickhouse/sink.ts';
import { createMemorySink } from '../../collector/sinks/memory/sink.ts';
import type { RowSink } from '../../schemas/sink.ts';
import type { TestStore } from '../support/embedded.ts';
import { withEmbedded } from '../support/embedded.ts';
import { openDatabase } from '../support/migrated-store.ts';
import { historyEvent, historyEvents, settlement } from '../collector/sinks/support/rows.ts';

interface Subject {
  readonly sink: RowSink;
  /** Order ids of the stored history items. */
  storedOrders(): Promise<string[]>;
  historyItemsInLedger(): Promise<number>;
  /** Makes the place behind the sink stop taking rows, and take them again. */
  hold(): Promise<void>;
  release(): Promise<void>;
}

let embedded: TestStore;
beforeAll(async () => {
  embedded = await withEmbedded();
});
afterAll(() => embedded.stop());

async function inMemory(): Promise<Subject> {
  const sink = createMemorySink();
  return {
    sink,
    storedOrders: async () => sink.rows('historyEvents').map((row) => row.external_id),
    historyItemsInLedger: async () => sink.provenance().historyItems ?? 0,
    hold: async () => sink.hold(),
    release: async () => sink.release(),
  };
}

async function inClickHouse(): Promise<Subject> {
  const store = await openDatabase(embedded);
  const sink = createClickHouseSink({ store, collectorId: 'c1', retry: { minDelayMs: 5, maxDelayMs: 20 } });
  return {
    sink,
    async storedOrders() {
      const rows = await store.query<{ external_id: string }>(
        'SELECT external_id FROM history_events ORDER BY external_id',
      );
      return rows.map((row) => row.external_id);
    },
    async historyItemsInLedger() {
      const rows = await store.query<{ n: number }>(
        'SELECT sum(history_items) AS n FROM ingest_ledger FINAL',
      );
      return rows[0]?.n ?? 0;
    },
    // Without its table the store refuses inserts for a reason that lies outside the rows.
    hold: () => store.command('RENAME TABLE history_events_store TO history_events_away'),
    release: () => store.command('RENAME TABLE history_events_away TO history_events_store'),
  };
}

describe.each([
  { name: 'in memory', create: inMemory },
  { name: 'ClickHouse', create: inClickHouse },
])('a row sink ($name)', ({ create }) => {
  it('has stored the rows of all tables of a bundle when a write resolves', async () => {
    const { sink, storedOrders, historyItemsInLedger } = await create();
    await sink.write(
      { historyEvents: historyEvents('a', 3), settlements: [settlement()] },
      { replies: 1, historyItems: 3, coordinates: ['orders/0@17'] },
    );
    expect(await storedOrders()).toEqual(['a-0', 'a-1', 'a-2']);
    expect(await historyItemsInLedger()).toBe(3);
    expect(sink.status()).toMatchObject({ state: 'ok', backlogRows: 0, inFlight: 0, lastError: null });
    expect(sink.status().lastAckAt).toBeGreaterThan(0);
    await sink.stop(1000);
  });

  it('acknowledges in the order of the calls', async () => {
    const { sink } = await create();
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        await sink.write({ historyEvents: historyEvents(`o${i}`, 2) });
        order.push(i);
      }),
    );
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    await sink.stop(1000);
  });

  it('takes a bundle without rows', async () => {
    const { sink } = await create();
    await expect(sink.write({})).resolves.toBeUndefined();
    await sink.stop(1000);
  });

  it('keeps a write waiting while rows cannot be stored, and resolves it afterwards', async () => {
    const { sink, storedOrders, hold, release } = await create();
    await hold();
    let done = false;
    const write = sink
      .write({ historyEvents: [historyEvent({ external_id: 'late' })] })
      .then(() => (done = true));
    await expect.poll(() => sink.status().state).toBe('retrying');
    expect(sink.status().backlogRows).toBe(1);
    expect(done).toBe(false);
    await release();
    await write;
    expect(await storedOrders()).toEqual(['late']);
    expect(sink.status()).toMatchObject({ state: 'ok', backlogRows: 0 });
    await sink.stop(1000);
  });

  it('rejects writes that it could not finish by the end of its grace', async () => {
    const { sink, hold } = await create();
    await hold();
    const write = sink.write({ historyEvents: [historyEvent()] });
    const outcome = write.catch((error: unknown) => error);
    await expect.poll(() => sink.status().state).toBe('retrying');
    await sink.stop(50);
    expect(await outcome).toMatchObject({ code: 'stopped', retryable: true });
  });

  it('refuses writes after it was stopped, and may be stopped twice', async () => {
    const { sink } = await create();
    await sink.stop(1000);
    await sink.stop(1000);
    await expect(sink.write({ historyEvents: [historyEvent()] })).rejects.toMatchObject({ code: 'stopped' });
  });
});
