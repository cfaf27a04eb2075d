import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClickHouseSink } from '../../collector/sinks/clickhouse/sink.ts';
import type { Provenance, RowSink } from '../../schemas/sink.ts';
import { createMigrator } from '../../store/migrate.ts';
import { createStore, type Store } from '../../store/store.ts';
import { anyRow, historyEvent } from '../collector/sinks/support/rows.ts';
import { orderRow } from '../support/order-row.ts';
import { withBenchStore } from './bench-store.ts';
import { cpuBetween, cpuTimes } from './cpu.ts';
import { BATCH } from './pipeline-sink.ts';
import { type BenchResult, median } from './result.ts';

const CALLBACKS_A_SECOND = 10;
const ROUNDS = 3;
const ROUND_MS = 12_000;
const IDLE_MS = 15_000;
/** How long the gateway takes for a status read. */
const READ_MS = 30;
const CODES = ['1.1.1.00', '2.1.1.00', '3.0.1.52', '4.1.3.00', '5.1.3.00'];

/**
 * What the embedded store costs while little happens: callbacks that come one by one, each followed by the
 * history that a read of its order brings, with the product's batches, with senders over HTTP who wait for
 * their answers, and with batches that never wait longer than `maxAgeMs`, in turns within one run.
 */
export async function run(): Promise<BenchResult> {
  const embedded = await withBenchStore();
  const store = createStore({ url: embedded.url, ...embedded.writer });
  const enginePid = embedded.store.pid;
  const share = async (work: () => Promise<void>, ms: number): Promise<number> => {
    const before = cpuTimes();
    await work();
    return cpuBetween(before, cpuTimes(), (pid) => pid === enginePid) / ms;
  };
  try {
    await createMigrator({ store }).run();
    const ways = {
      ours: createWay(store, 'quiet', BATCH.quietAgeMs, { kafkaRecords: 1 }),
      overHttp: createWay(store, 'quiet-http', BATCH.quietAgeMs, { httpDeliveries: 1 }),
      baseline: createWay(store, 'hurried', 250, { kafkaRecords: 1 }),
    };
    const all = Object.values(ways);
    for (const way of all) await way.trickle(3_000);
    for (let round = 0; round < ROUNDS; round += 1)
      for (const way of all) way.shares.push(await share(() => way.trickle(ROUND_MS), ROUND_MS));
    await Promise.all(all.map(({ sink }) => sink.stop(5_000)));
    const idle = await share(() => sleep(IDLE_MS), IDLE_MS);
    return {
      name: `a quiet store: ${CALLBACKS_A_SECOND} callbacks a second and what they bring`,
      unit: 'callbacks per processor second of the store',
      ours: CALLBACKS_A_SECOND / median(ways.ours.shares),
      baseline: CALLBACKS_A_SECOND / median(ways.baseline.shares),
      aim: 1.4,
      note: `${noteOf('ours', ways.ours)}; ${noteOf('ours over HTTP', ways.overHttp)}; ${noteOf('before', ways.baseline)}; idle afterwards ${percent(idle)} of a core`,
    };
  } finally {
    await store.close();
    await embedded.stop();
  }
}

interface Way {
  readonly sink: RowSink;
  /** Of a core, by round. */
  readonly shares: number[];
  /** From the callback to its order's history, in milliseconds. */
  readonly freshMs: number[];
  trickle(ms: number): Promise<void>;
}

/** @param provenance of callbacks: those over HTTP have senders who wait for their answers */
function createWay(store: Store, collectorId: string, quietAgeMs: number, provenance: Provenance): Way {
  const sink = createClickHouseSink({ store, collectorId, quietAgeMs });
  const freshMs: number[] = [];
  return {
    sink,
    shares: [],
    freshMs,
    async trickle(ms) {
      const underWay: Promise<void>[] = [];
      const endMs = performance.now() + ms;
      while (performance.now() < endMs) {
        underWay.push(takeCallback(sink, provenance).then((took) => void freshMs.push(took)));
        await sleep(1000 / CALLBACKS_A_SECOND);
      }
      await Promise.all(underWay);
    },
  };
}

/** A callback, and the reply of the read that it causes, which does not wait for it to be stored. */
async function takeCallback(sink: RowSink, provenance: Provenance): Promise<number> {
  const startMs = performance.now();
  const now = Date.now() * 1000;
  const order = { external_id: randomUUID() };
  const watch = { ...anyRow('orderWatch'), order_id: order.external_id };
  const items = CODES.map((action, place) => ({ time: now + place, action, observedAt: now }));
  const delivery = { ...anyRow('callbackDeliveries'), content_hash: randomBytes(32), received_at: now };
  const stored = sink.write(
    {
      callbackDeliveries: [{ ...delivery, ...order }],
      orders: [orderRow({ ...order, observed_at: now })],
      orderWatch: [{ ...watch, updated_at: now }],
    },
    provenance,
  );
  await sleep(READ_MS);
  const read = sink.write(
    {
      historyEvents: CODES.map((action, place) =>
        historyEvent({ ...order, action, event_time: now + place, observed_at: now }),
      ),
      orders: [orderRow({ ...order, observed_at: now + 1 }, items)],
      orderClaims: [{ ...anyRow('orderClaims'), ...order, observed_at: now }],
      polls: [{ ...anyRow('polls'), poll_id: order.external_id, started_at: now }],
      orderWatch: [{ ...watch, updated_at: now + 1, phase: 'rereading' }],
    },
    { replies: 1, historyItems: CODES.length },
  );
  await Promise.all([stored, read]);
  return performance.now() - startMs;
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

function noteOf(name: string, { shares, freshMs }: Way): string {
  const sorted = freshMs.toSorted((a, b) => a - b);
  const at = (part: number): number => Math.round(sorted[Math.floor(sorted.length * part)] ?? Number.NaN);
  return `${name}: ${percent(median(shares))} of a core, history seen after ${at(0.5)} ms (p50), ${at(0.99)} ms (p99)`;
}

if (import.meta.main) console.log(await run());
