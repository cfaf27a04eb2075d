import { createHash } from 'node:crypto';
import { Kafka, logLevel } from 'kafkajs';
import { systemClock } from '../../schemas/system-clock.ts';
import { handleCallbackRecords } from '../../collector/orders/from-kafka-record.ts';
import { createStamp, type OrdersContext } from '../../collector/orders/context.ts';
import { createWatchStore } from '../../collector/orders/watch-store.ts';
import { createKafkaSource } from '../../collector/sources/kafka/consumer.ts';
import { noInstruments } from '../../collector/telemetry/instruments.ts';
import { gatewayConfigSchema } from '../../schemas/config.ts';
import { watchKey, type WatchedOrder } from '../../schemas/watch.ts';
import { startKafka } from '../support/kafka-broker.ts';
import { uniqueName, withAdmin } from '../support/kafka-topics.ts';
import { withSink } from './pipeline-sink.ts';
import { ratioOf, type BenchResult } from './result.ts';
import { fingerprint } from '../support/fingerprint.ts';

const ORDERS = 20_000;
const CALLBACKS_AN_ORDER = 3;
const RECORDS = ORDERS * CALLBACKS_AN_ORDER;
const PARTITIONS = 6;
const ROUNDS = 3;
const KEY = '0123456789abcdef0123456789abcdef';

/**
 * Callbacks a second from a real broker to rows that the store has acknowledged and offsets that are
 * committed, against a bare kafkajs consumer that takes each message of the same topic and does nothing with
 * it. In turns within one run. Orders are taken up and not read: what reads cost is the bench `polls`.
 */
export async function run(): Promise<BenchResult> {
  const { kafka: found, stop } = await startKafka();
  if (!found.available) throw new Error(found.reason);
  const brokers = [...found.brokers];
  try {
    const ours: number[] = [];
    const bare: number[] = [];
    await withSink(async ({ store, write }) => {
      for (let round = 0; round <= ROUNDS; round += 1) {
        const topic = uniqueName('bench');
        await fill(brokers, topic, round);
        const bareRate = await consumeBare(brokers, topic);
        const rate = await consumeOurs(brokers, topic, (sql, params) => store.query(sql, params), write);
        if (round === 0) continue;
        ours.push(rate);
        bare.push(bareRate);
      }
    });
    return {
      name: 'callbacks: broker to acknowledged rows against a bare kafkajs consumer',
      unit: 'callbacks/s',
      ours: median(ours),
      baseline: median(bare),
      aim: 0.5,
      note: `${RECORDS} signed callbacks of ${ORDERS} orders in ${PARTITIONS} partitions, embedded store, medians of ${ROUNDS}`,
    };
  } finally {
    await stop();
  }
}

async function fill(brokers: string[], topic: string, round: number): Promise<void> {
  await withAdmin(brokers, (admin) =>
    admin.createTopics({ topics: [{ topic, numPartitions: PARTITIONS }], waitForLeaders: true }),
  );
  const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer();
  await producer.connect();
  const statuses = ['Created', 'Processing', 'Success'];
  for (let from = 0; from < RECORDS; from += 5_000) {
    const messages = Array.from({ length: Math.min(5_000, RECORDS - from) }, (_, index) =>
      callbackOf(
        `bench-${round}-${(from + index) % ORDERS}`,
        statuses[Math.floor((from + index) / ORDERS)] ?? '',
      ),
    );
    await producer.send({ topic, messages });
  }
  await producer.disconnect();
}

function callbackOf(externalId: string, status: string) {
  const signature = createHash('sha256')
    .update([externalId, status, '100.00', 'Deposit', KEY].join(';'))
    .digest('hex');
  const body = {
    externalId,
    status,
    amount: '100.00',
    currency: 'EUR',
    orderType: 'Deposit',
    externalParams: {
      cardToken: null,
      cardStorageToken: null,
      cardHolder: 'A B',
      cardNumber: '411111******1111',
    },
  };
  return { key: externalId, value: JSON.stringify(body), headers: { Signature: signature } };
}

/** From the first message to the last one. */
async function consumeBare(brokers: string[], topic: string): Promise<number> {
  const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: uniqueName('bare') });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  const done = Promise.withResolvers<void>();
  let start = 0;
  let count = 0;
  await consumer.run({
    partitionsConsumedConcurrently: PARTITIONS,
    async eachMessage() {
      if (count === 0) start = performance.now();
      count += 1;
      if (count === RECORDS) done.resolve();
    },
  });
  await done.promise;
  const rate = (RECORDS * 1000) / (performance.now() - start);
  await consumer.disconnect();
  return rate;
}

/** From the first record handed over to the last one that is stored and committed. */
async function consumeOurs(
  brokers: string[],
  topic: string,
  query: Parameters<typeof createWatchStore>[0],
  write: OrdersContext['write'],
): Promise<number> {
  const gateway = gatewayConfigSchema.parse({
    name: 'acme-eu',
    secureUrl: 'http://127.0.0.1:1',
    token: 'a-token',
    callbackKeys: [KEY],
  });
  const watched = new Map<string, WatchedOrder>();
  const context: OrdersContext = {
    collectorId: 'bench',
    historyDays: 400,
    clock: { ...systemClock, now: createStamp(systemClock) },
    random: Math.random,
    gateways: new Map([[gateway.name, gateway]]),
    watchStore: createWatchStore(query),
    tracked: {
      track: ({ order }) => void watched.set(watchKey(order), order),
      nudge: () => false,
      get: (key) => watched.get(key),
    },
    instruments: noInstruments(),
    fingerprint,
    write,
  };
  const done = Promise.withResolvers<void>();
  let start = 0;
  const committed = new Map<number, number>();
  const source = createKafkaSource({
    brokers,
    groupId: uniqueName('ours'),
    topics: [topic],
    async handle(records) {
      start ||= performance.now();
      await handleCallbackRecords(records, () => gateway.name, context);
    },
    onEvent(event) {
      if (event.type === 'fatal') done.reject(event.error);
      if (event.type !== 'committed') return;
      committed.set(event.partition, Number(event.offset));
      if ([...committed.values()].reduce((sum, offset) => sum + offset, 0) === RECORDS) done.resolve();
    },
  });
  await source.start();
  await done.promise;
  const rate = (RECORDS * 1000) / (performance.now() - start);
  await source.stop();
  return rate;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

if (import.meta.main) {
  const result = await run();
  console.log({ ...result, ratio: ratioOf(result) });
}
