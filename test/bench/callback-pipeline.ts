import { Kafka, logLevel } from 'kafkajs';
import { systemClock } from '../../schemas/system-clock.ts';
import { createSignatureExaminer } from '../../collector/orders/signature-examiner.ts';
import { handleCallbackRecords } from '../../collector/orders/from-kafka-record.ts';
import { createStamp, type OrdersContext } from '../../collector/orders/context.ts';
import { ALONE } from '../../collector/orders/memory.ts';
import type { TrackedOrder } from '../../collector/orders/poller-contract.ts';
import { createWatchStore } from '../../collector/orders/watch-store.ts';
import { createKafkaSource } from '../../collector/sources/kafka/consumer.ts';
import type { KafkaSource } from '../../collector/sources/kafka/port.ts';
import { noInstruments } from '../../collector/telemetry/instruments.ts';
import { gatewayConfigSchema } from '../../schemas/config.ts';
import { watchKey } from '../../schemas/watch.ts';
import type { Store } from '../../store/store.ts';
import { startKafka } from '../support/kafka-broker.ts';
import { uniqueName, withAdmin } from '../support/kafka-topics.ts';
import { fingerprint } from '../support/fingerprint.ts';
import { BODY, KEY, sign } from '../collector/decode/callback-fixtures.ts';
import type { BenchSink } from './pipeline-sink.ts';

export const PARTITIONS = 6;
export const CALLBACKS_AN_ORDER = 3;

/** A topic, and how many records it holds. */
export interface FilledTopic {
  readonly brokers: string[];
  readonly topic: string;
  readonly records: number;
}

/** Makes a topic with the signed callbacks of orders that no other round has. */
export async function fillTopic(brokers: string[], orders: number, round: number): Promise<FilledTopic> {
  const topic = uniqueName('bench');
  const records = orders * CALLBACKS_AN_ORDER;
  await withAdmin(brokers, (admin) =>
    admin.createTopics({ topics: [{ topic, numPartitions: PARTITIONS }], waitForLeaders: true }),
  );
  const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer();
  await producer.connect();
  const statuses = ['Created', 'Processing', 'Success'];
  for (let from = 0; from < records; from += 5_000) {
    const messages = Array.from({ length: Math.min(5_000, records - from) }, (_, index) =>
      callbackOf(
        `bench-${round}-${(from + index) % orders}`,
        statuses[Math.floor((from + index) / orders)] ?? '',
      ),
    );
    await producer.send({ topic, messages });
  }
  await producer.disconnect();
  return { brokers, topic, records };
}

function callbackOf(externalId: string, status: string) {
  const body = { ...BODY, externalId, status };
  return { key: externalId, value: JSON.stringify(body), headers: { Signature: sign(body) } };
}

/** What a bench wants to know of a running pipeline. */
export interface PipelineEvents {
  /** Records were handed over. */
  handling(): void;
  /** All records of the partition before this offset are stored. */
  committed(partition: number, offset: number): void;
  failed(error: Error): void;
}

/**
 * Callbacks a second through our own pipeline, from the first record handed over to the last one that is
 * stored and committed.
 */
export async function consumeOurs(
  filled: FilledTopic,
  sink: Pick<BenchSink, 'write'> & { readonly store: Pick<Store, 'query'> },
): Promise<number> {
  const done = Promise.withResolvers<void>();
  let start = 0;
  const storedAfter = countStored();
  const source = createPipeline(filled, uniqueName('ours'), sink, {
    handling: () => void (start ||= performance.now()),
    committed: (partition, offset) => storedAfter(partition, offset) === filled.records && done.resolve(),
    failed: done.reject,
  });
  await source.start();
  await done.promise;
  const rate = (filled.records * 1000) / (performance.now() - start);
  await source.stop();
  return rate;
}

/** Reports, commit by commit, how many records of a topic are stored. */
export function countStored(): (partition: number, offset: number) => number {
  const committed = new Map<number, number>();
  return (partition, offset) => {
    committed.set(partition, offset);
    return [...committed.values()].reduce((sum, each) => sum + each, 0);
  };
}

/** Runs with the brokers of a real Kafka. */
export async function withBrokers<T>(work: (brokers: string[]) => Promise<T>): Promise<T> {
  const { kafka, stop } = await startKafka();
  try {
    if (!kafka.available) throw new Error(kafka.reason);
    return await work([...kafka.brokers]);
  } finally {
    await stop();
  }
}

/** The product's way of a callback from Kafka to the sink, as a member of a group. Orders are not read. */
export function createPipeline(
  { brokers, topic }: Pick<FilledTopic, 'brokers' | 'topic'>,
  groupId: string,
  { store, write }: Pick<BenchSink, 'write'> & { readonly store: Pick<Store, 'query'> },
  events: PipelineEvents,
): KafkaSource {
  const gateway = gatewayConfigSchema.parse({
    name: 'acme-eu',
    secureUrl: 'http://127.0.0.1:1',
    token: 'a-token',
    callbackKeys: [KEY],
  });
  const watched = new Map<string, TrackedOrder>();
  const context: OrdersContext = {
    collectorId: 'bench',
    historyDays: 400,
    clock: { ...systemClock, now: createStamp(systemClock) },
    random: Math.random,
    gateways: new Map([[gateway.name, gateway]]),
    watchStore: createWatchStore((sql, params) => store.query(sql, params)),
    tracked: {
      track: (tracked) => void watched.set(watchKey(tracked.order), tracked),
      nudge: () => false,
      recall: (key) => watched.get(key),
    },
    owns: () => true,
    memory: ALONE,
    handOver: null,
    examiner: createSignatureExaminer({
      gateways: new Map(),
      clock: systemClock,
      tracked: () => undefined,
    }),
    instruments: noInstruments(),
    fingerprint,
    write,
  };
  return createKafkaSource({
    brokers,
    groupId,
    topics: [topic],
    async handle(records, { taken }) {
      events.handling();
      await handleCallbackRecords(records, () => gateway.name, context, taken);
    },
    onEvent(event) {
      if (event.type === 'fatal') events.failed(event.error);
      if (event.type === 'committed') events.committed(event.partition, Number(event.offset));
    },
  });
}
