import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  createClickHouseSink,
  type ClickHouseSink,
  type ClickHouseSinkOptions,
} from '../../../../collector/sinks/clickhouse/sink.ts';
import type { Store } from '../../../../store/store.ts';
import type { HistoryEventRow } from '../../../../schemas/rows.ts';
import { withEmbedded, type TestStore } from '../../../support/embedded.ts';
import { startFaultProxy, type FaultProxy } from '../support/fault-proxy.ts';
import { count, openDatabase, openStore } from '../../../support/migrated-store.ts';
import { anyRow, historyEvent, NOON } from '../support/rows.ts';

let embedded: TestStore;
let proxy: FaultProxy;
beforeAll(async () => {
  embedded = await withEmbedded();
  proxy = await startFaultProxy(embedded.url);
});
afterAll(async () => {
  await proxy.close();
  await embedded.stop();
});

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  proxy.setFault(() => null);
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

async function setUp(
  options: Partial<ClickHouseSinkOptions> = {},
): Promise<{ sink: ClickHouseSink; store: Store; inserts: () => number; sinkAgain: () => ClickHouseSink }> {
  const store = await openDatabase(embedded);
  const proxied = openStore(embedded, { url: proxy.url, database: store.database });
  cleanUps.push(
    () => proxied.close(),
    () => store.close(),
  );
  const sinkAgain = () => {
    const retry = { minDelayMs: 5, maxDelayMs: 50 };
    const sink = createClickHouseSink({ store: proxied, collectorId: 'c1', retry, ...options });
    cleanUps.unshift(() => sink.stop(0));
    return sink;
  };
  const before = proxy.seen.length;
  const inserts = () =>
    proxy.seen.slice(before).filter((one) => one.startsWith('INSERT INTO history_events_store')).length;
  return { sink: sinkAgain(), store, inserts, sinkAgain };
}

const WEEK = 7 * 86_400_000_000;
/** One item in each of `weeks` weeks, the newest one `from` weeks ago. */
const weeksOf = (order: string, weeks: number, gateway = 'acme-eu', from = 0): HistoryEventRow[] =>
  Array.from({ length: weeks }, (_, week) =>
    historyEvent({ gateway, external_id: order, event_time: NOON - (from + week) * WEEK }),
  );
const reply = (gateway: string, order: string, weeks: number, from: number) => ({
  historyEvents: weeksOf(order, weeks, gateway, from),
  polls: [{ ...anyRow('polls'), gateway, poll_id: order }],
});

describe('history of many weeks', () => {
  it('is stored in statements of eight weeks each', async () => {
    const { sink, store, inserts } = await setUp();
    await sink.write({ historyEvents: weeksOf('long', 50) });
    expect(inserts()).toBe(7);
    expect(await count(store, 'history_events')).toBe(50);
    expect(await store.query('SELECT history_rows FROM ingest_ledger')).toEqual([{ history_rows: 50 }]);
  });

  it('of one gateway does not make the replies of another wait for more than a batch', async () => {
    const { sink } = await setUp({ maxAgeMs: 0 });
    const settled: string[] = [];
    const write = async (gateway: string, order: string, weeks: number, from: number): Promise<void> => {
      await sink.write(reply(gateway, order, weeks, from), { replies: 1 });
      settled.push(order);
    };
    const bad = Array.from({ length: 5 }, (_, n) => write('bad', `bad-${n}`, 10, 10 * n));
    const good = Array.from({ length: 3 }, (_, n) => write('good', `good-${n}`, 1, 0));
    await Promise.all(good);
    expect(settled.filter((order) => order.startsWith('bad')).length).toBeLessThanOrEqual(1);
    await Promise.all(bad);
    expect(settled.filter((order) => order.startsWith('bad'))).toEqual(
      Array.from({ length: 5 }, (_, n) => `bad-${n}`),
    );
  });

  it('and many rows is a batch by itself', async () => {
    const { sink, store } = await setUp({ maxAgeMs: 0 });
    const large = {
      ...reply('bad', 'large', 1, 0),
      historyEvents: Array.from({ length: 1_500 }, (_, n) => historyEvent({ external_id: `large-${n}` })),
    };
    await Promise.all([
      sink.write(reply('good', 'small-1', 1, 0)),
      sink.write(large),
      sink.write(large),
      sink.write(reply('good', 'small-2', 1, 0)),
    ]);
    expect(await store.query('SELECT batch_seq, history_rows FROM ingest_ledger ORDER BY batch_seq')).toEqual(
      [
        { batch_seq: 1, history_rows: 2 },
        { batch_seq: 2, history_rows: 1_500 },
        { batch_seq: 3, history_rows: 1_500 },
      ],
    );
  });
});

describe('a sink that recovers', () => {
  it('waits for the store, says so, and says for how long rows have waited', async () => {
    let nowMs = 0;
    const { sink } = await setUp({ monotonicMs: () => nowMs });
    proxy.setFault(() => 'cut');
    const recovered = sink.recover();
    await expect.poll(() => sink.status().state).toBe('retrying');
    expect(sink.status().stalledMs).toBeNull();
    const write = sink.write({ historyEvents: [historyEvent()] });
    nowMs = 7_000;
    expect(sink.status().stalledMs).toBe(7_000);
    proxy.setFault(() => null);
    await recovered;
    await write;
    expect(sink.status()).toMatchObject({ state: 'ok', stalledMs: null, backlogRows: 0 });
    // Whoever waits behind others that are acknowledged does not stand still.
    proxy.setFault(() => 'cut');
    nowMs = 9_000;
    const late = sink.write({ historyEvents: [historyEvent()] });
    expect(sink.status().stalledMs).toBe(0);
    nowMs = 30_000;
    expect(sink.status().stalledMs).toBe(21_000);
    proxy.setFault(() => null);
    await late;
  });
});
