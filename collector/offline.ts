import { randomUUID } from 'node:crypto';
import type { IngestPort } from '../operate/ingest-port.ts';
import type { Clock } from '../schemas/clock.ts';
import type { Environment, GatewayConfig, KafkaConfig } from '../schemas/config.ts';
import type { KafkaRecord } from '../schemas/kafka.ts';
import type { Problem } from '../schemas/problem.ts';
import type { EpochMicros } from '../schemas/rows.ts';
import type { WatchRequest } from '../schemas/watch-message.ts';
import type { WatchedOrder, WatchMessage } from '../schemas/watch.ts';
import { loadFingerprintKey } from '../store/fingerprint-key.ts';
import type { Store } from '../store/store.ts';
import { readOrderRecord } from '../store/order-record.ts';
import { createFingerprint } from './decode/fingerprint.ts';
import { handleCallbacks } from './orders/callbacks.ts';
import { createSignatureExaminer } from './orders/signature-examiner.ts';
import { createCascadeSafety, type CascadeSafety } from './orders/cascade-safety.ts';
import { createStamp, type OrdersContext } from './orders/context.ts';
import { coordinatesRange } from './orders/coordinates.ts';
import { toDelivery, toWatchRequest } from './orders/from-kafka-record.ts';
import { ALONE } from './orders/memory.ts';
import { createPoller } from './orders/poller.ts';
import { createWatchStore } from './orders/watch-store.ts';
import { handleWatchRequests } from './orders/watch-requests.ts';
import { createClickHouseSink } from './sinks/clickhouse/sink.ts';
import { proxyFromEnvironment } from './sources/gateway/connections.ts';
import { createStatusClient } from './sources/gateway/status-client.ts';
import { callbackTopicNames, gatewayOfTopic } from './sources/kafka/options.ts';
import { noInstruments } from './telemetry/instruments.ts';

export interface OfflineCollectorOptions {
  readonly store: Store;
  /** See `FingerprintKeyPlace`. */
  readonly keyFile: string | null;
  readonly gateways: readonly GatewayConfig[];
  /** Where records lie that are taken again. @default none are */
  readonly kafka?: KafkaConfig | undefined;
  readonly clock: Clock;
  /** What runs it: part of the name under which its batches stand in the ledger. */
  readonly purpose: 'redrive' | 'backfill';
  /** Decode and judge, and store nothing. @default false */
  readonly dryRun?: boolean;
}

/** The collector's own steps without sources and poller, for commands that ingest on their own. */
export interface OfflineCollector extends IngestPort {
  /** Stores what is under way. */
  stop(): Promise<void>;
}

const STOP_GRACE_MS = 30_000;

/**
 * The second composition of the collector's steps. Batches are numbered by their writer, so it is another one
 * than the collector, which may be running; a new one each time, since two commands may run at once.
 */
export async function createOfflineCollector(options: OfflineCollectorOptions): Promise<OfflineCollector> {
  const { store, keyFile, clock, kafka, purpose } = options;
  const collectorId = `${purpose}-${randomUUID().slice(0, 8)}`;
  const sink = createClickHouseSink({ store, collectorId, maxAgeMs: 0 });
  const key = await loadFingerprintKey({ store, keyFile }, clock.now);
  let toRead: WatchedOrder[] = [];
  const gateways = new Map(options.gateways.map((gateway) => [gateway.name, gateway]));
  const context: OrdersContext = {
    collectorId,
    // It reads no replies.
    historyDays: 0,
    clock: { ...clock, now: createStamp(clock) },
    random: Math.random,
    gateways,
    watchStore: createWatchStore((sql, params) => store.query(sql, params)),
    tracked: {
      track: ({ order }) => void toRead.push(order),
      nudge: () => false,
      recall: () => undefined,
    },
    // A collector that runs, or runs next, writes the rows of orders.
    owns: () => false,
    memory: ALONE,
    handOver: null,
    examiner: createSignatureExaminer({ gateways, clock, tracked: () => undefined }),
    instruments: noInstruments(),
    fingerprint: createFingerprint(key),
    async write(bundle, provenance) {
      if (options.dryRun !== true) await sink.write(bundle, provenance);
    },
  };
  return {
    gateways: new Set(context.gateways.keys()),
    topics: new Set(kafka === undefined ? [] : [...callbackTopicNames(kafka), kafka.watchTopic]),
    takeRecords: (records, firstReceivedAt) => takeRecords(records, firstReceivedAt, kafka, context),
    takeWatchRequests: (messages) => takeWatchRequests(messages, purpose, context),
    async findWatched(orders) {
      return new Set((await context.watchStore.find(orders)).keys());
    },
    async resolveRejects(rejects) {
      const resolvedAt = context.clock.now();
      const rejectResolutions = rejects.map((reject) => ({ ...reject, resolved_at: resolvedAt }));
      await context.write({ rejectResolutions }, {});
    },
    ordersToRead() {
      const orders = toRead;
      toRead = [];
      return orders;
    },
    stop: () => sink.stop(STOP_GRACE_MS),
  };
}

export interface OfflineVerifierOptions {
  readonly gateways: readonly GatewayConfig[];
  readonly deadlineMs: number;
  /** null: there is no store to look in. */
  readonly store: Pick<Store, 'query'> | null;
  readonly clock: Clock;
  /** Names the proxies. */
  readonly env: Environment;
}

/** Asks the gateways directly whether orders may be cascaded, for commands that find no collector running. */
export function createOfflineVerifier(options: OfflineVerifierOptions): {
  readonly verify: CascadeSafety;
  stop(): Promise<void>;
} {
  const { gateways, deadlineMs, store, clock, env } = options;
  const proxy = proxyFromEnvironment(env);
  const reader = (gateway: GatewayConfig) => createStatusClient(gateway, proxy);
  const poller = createPoller({ gateways, reader, clock, onEvent: () => undefined });
  poller.start(async ({ order, known }) => ({ order, known, outcome: 'unknown' }));
  return {
    verify: createCascadeSafety({
      gateways: new Map(gateways.map((gateway) => [gateway.name, gateway])),
      deadlineMs,
      clock,
      ask: poller.ask,
      tracked: () => undefined,
      async lookUp(wanted) {
        if (store === null) throw new Error('there is no store');
        return readOrderRecord((sql, params) => store.query(sql, params), wanted);
      },
      // A collector reads it in its turn.
      onNews: () => undefined,
      instruments: noInstruments(),
    }),
    stop: () => poller.stop(),
  };
}

async function takeRecords(
  records: readonly KafkaRecord[],
  firstReceivedAt: (record: KafkaRecord) => EpochMicros | null,
  kafka: KafkaConfig | undefined,
  context: OrdersContext,
): Promise<boolean[]> {
  const readable = records.filter((record) => record.unreadable === undefined);
  const [first] = readable;
  if (first === undefined || kafka === undefined) return records.map(() => false);
  const provenance = { kafkaRecords: readable.length, coordinates: coordinatesRange(readable) };
  const accepted = new Set<KafkaRecord>();
  if (first.topic === kafka.watchTopic) {
    const problems = await handleWatchRequests(readable.map(toWatchRequest), context, provenance);
    for (const [index, record] of readable.entries()) if (problems[index] === null) accepted.add(record);
  } else {
    const gatewayOf = gatewayOfTopic(kafka, [...context.gateways.keys()]);
    const deliveries = readable.map((record) => {
      const now = context.clock.now();
      return toDelivery(
        record,
        gatewayOf,
        Math.min(now, firstReceivedAt(record) ?? now),
        context.fingerprint,
      );
    });
    await handleCallbacks(deliveries, context, provenance);
    for (const [index, record] of readable.entries())
      if (context.gateways.has(deliveries[index]?.gateway ?? '')) accepted.add(record);
  }
  return records.map((record) => accepted.has(record));
}

function takeWatchRequests(
  messages: readonly WatchMessage[],
  source: OfflineCollectorOptions['purpose'],
  context: OrdersContext,
): Promise<(Problem | null)[]> {
  const requests = messages.map((message): WatchRequest => ({
    message,
    problem: null,
    source,
    deliveryId: randomUUID(),
    coordinates: null,
  }));
  return handleWatchRequests(requests, context, { watchRequests: requests.length });
}
