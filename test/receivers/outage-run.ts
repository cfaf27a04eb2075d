import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClickHouseSink } from '../../collector/sinks/clickhouse/sink.ts';
import { createSandbox } from '../../sandbox/server.ts';
import { createMigrator } from '../../store/migrate.ts';
import { createStore } from '../../store/store.ts';
import { historyEvent, settlement } from '../collector/sinks/support/rows.ts';
import { rootSpanIdOf } from '../integration/support/expected-spans.ts';
import { gatewayConfig } from '../integration/support/gateway.ts';
import { type CollectorProcess, startCollectorProcess } from '../support/collector-process.ts';
import { withEmbedded } from '../support/embedded.ts';
import { freePort } from '../support/kafka-process.ts';
import { startDigestReceiver } from './digest-receiver.ts';

export interface OutageOptions {
  readonly spans: number;
  /** Without a receiver. */
  readonly outageS: number;
  /** Half of them during the outage, the others while it is made up for. */
  readonly kills: number;
  readonly say: (text: string) => void;
}

export interface OutageReport {
  readonly spans: number;
  readonly missing: number;
  readonly strange: number;
  readonly repeated: number;
  /** Repetitions with other bytes. */
  readonly altered: number;
  readonly kills: number;
  readonly outageS: number;
  /** From the receiver's first moment to the last span, restarts included. */
  readonly catchUpS: number;
  readonly spansPerSecond: number;
  readonly largestRequestBytes: number;
  /** Of the collector without its store, at most: during the outage, and in all. */
  readonly residentMb: { readonly outage: number; readonly most: number };
}

const ITEMS = 7;
const SPANS_AN_ORDER = ITEMS + 1;
const ORDERS_A_BATCH = 1_250;
const COLLECTOR = 'outage';
/** For catching up. */
const PATIENCE_S = 3_600;

/** A store full of spans, a collector that is killed, and no receiver for a while. */
export async function runOutage({ spans, outageS, kills, say }: OutageOptions): Promise<OutageReport> {
  const orders = Math.ceil(spans / SPANS_AN_ORDER);
  const folder = await mkdtemp(join(tmpdir(), 'gatewatch-outage-'));
  const sandbox = await createSandbox();
  const port = await freePort();
  const config = { gateways: [gatewayConfig(sandbox)], collectorId: COLLECTOR };
  const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://127.0.0.1:${port}/v1/traces` };
  const memory = { outage: 0, most: 0 };
  let collector: CollectorProcess | null = null;
  const start = async (): Promise<void> =>
    void (collector = await startCollectorProcess({ config, env, folder }));
  const kill = async (): Promise<void> => collector?.kill();
  const restart = async (): Promise<void> => {
    await kill();
    await start();
  };
  const look = (phase: 'outage' | 'most'): void => {
    memory[phase] = Math.max(memory[phase], residentMb(collector?.pid ?? 0));
    memory.most = Math.max(memory.most, memory[phase]);
  };
  try {
    await fill(join(folder, 'data'), orders, say);
    await start();
    const early = Math.floor(kills / 2);
    for (let part = 0; part <= early; part += 1) {
      const until = performance.now() + (outageS * 1000) / (early + 1);
      while (performance.now() < until) {
        await sleep(500);
        look('outage');
      }
      if (part < early) await restart();
    }
    say(`${outageS} s without a receiver`);
    const receiver = await startDigestReceiver(port);
    const begun = performance.now();
    const wanted = orders * SPANS_AN_ORDER;
    const late = kills - early;
    const nextKill = (killed: number): number =>
      killed < late ? Math.floor((wanted * (killed + 1)) / (late + 1)) : Infinity;
    receiver.holdAt(nextKill(0));
    for (let killed = 0; receiver.spans() < wanted && performance.now() - begun < PATIENCE_S * 1000;) {
      await sleep(50);
      look('most');
      if (receiver.spans() < nextKill(killed)) continue;
      await kill();
      killed += 1;
      receiver.holdAt(nextKill(killed));
      say(`${receiver.spans()} of ${wanted} spans, killed again`);
      await start();
    }
    const catchUpS = (performance.now() - begun) / 1000;
    // What a repetition would still send.
    await sleep(3_000);
    const missing = countMissing(orders, receiver.has);
    await receiver.close();
    return {
      spans: wanted,
      missing,
      strange: receiver.spans() - (wanted - missing),
      repeated: receiver.repeated(),
      altered: receiver.altered(),
      kills,
      outageS,
      catchUpS: Math.round(catchUpS),
      spansPerSecond: Math.round(wanted / catchUpS),
      largestRequestBytes: receiver.largest(),
      residentMb: memory,
    };
  } finally {
    await kill();
    await sandbox.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const orderId = (order: number): string => `outage-${order}`;
const START = Math.floor(Date.now() / 1000 - 86_400) * 1_000_000;
const timeOf = (order: number, item: number): number => START + order * 500_000 + item * 1_003;
const ACTIONS = ['1.0.0.00', '1.1.1.00', '2.1.1.00', '3.1.1.55', '4.1.4.63', '5.1.4.63', '6.1.1.00'] as const;

/** As a collector of that name would have stored them. */
async function fill(dataDir: string, orders: number, say: (text: string) => void): Promise<void> {
  const embedded = await withEmbedded({ dataDir });
  const store = createStore({ ...embedded.writer, url: embedded.url });
  await createMigrator({ store }).run();
  const sink = createClickHouseSink({ store, collectorId: COLLECTOR, maxAgeMs: 0 });
  for (let from = 0; from < orders; from += ORDERS_A_BATCH) {
    const some = Array.from({ length: Math.min(ORDERS_A_BATCH, orders - from) }, (_, index) => from + index);
    await sink.write({ historyEvents: some.flatMap(itemsOf), settlements: some.map(settlementOf) });
  }
  await sink.stop(60_000);
  await store.close();
  await embedded.stop();
  say(`${orders * SPANS_AN_ORDER} spans of ${orders} orders are stored`);
}

const itemsOf = (order: number) =>
  ACTIONS.map((action, item) =>
    historyEvent({
      external_id: orderId(order),
      action,
      event_time: timeOf(order, item),
      span_start: timeOf(order, Math.max(0, item - 1)),
      list_position: item,
      observed_at: timeOf(order, item) + 2_000_000,
    }),
  );

const settlementOf = (order: number) =>
  settlement({
    external_id: orderId(order),
    settled_at: timeOf(order, ITEMS) + 60_000_000,
    history_items: ITEMS,
    first_event_at: timeOf(order, 0),
    last_event_at: timeOf(order, ITEMS - 1),
  });

/** The ids of spans are computed here on their own. */
function countMissing(orders: number, has: (spanId: string) => boolean): number {
  let missing = 0;
  for (let order = 0; order < orders; order += 1) {
    const text = `acme-eu|Deposit|${orderId(order)}`;
    if (!has(rootSpanIdOf(text))) missing += 1;
    for (const [item, action] of ACTIONS.entries())
      if (!has(itemSpanIdOf(text, timeOf(order, item), action))) missing += 1;
  }
  return missing;
}

function itemSpanIdOf(order: string, micros: number, action: string): string {
  const seconds = new Date(Math.floor(micros / 1_000_000) * 1000).toISOString().slice(0, 19);
  const time = `${seconds}.${String(micros % 1_000_000).padStart(6, '0')}Z`;
  const digest = createHash('sha256').update(`${order}|${time}|${action}|0`).digest();
  return digest.subarray(0, 8).toString('hex');
}

/** Resident memory of a process; 0 where there is no /proc. */
function residentMb(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024);
  } catch {
    return 0;
  }
}
