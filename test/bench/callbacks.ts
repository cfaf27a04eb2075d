import { Kafka, logLevel } from 'kafkajs';
import { uniqueName } from '../support/kafka-topics.ts';
import {
  CALLBACKS_AN_ORDER,
  consumeOurs,
  fillTopic,
  PARTITIONS,
  type FilledTopic,
  withBrokers,
} from './callback-pipeline.ts';
import { withSink } from './pipeline-sink.ts';
import { type BenchResult, median, ratioOf } from './result.ts';

const ORDERS = 20_000;
const RECORDS = ORDERS * CALLBACKS_AN_ORDER;
const ROUNDS = 3;

/**
 * Callbacks a second from a real broker to rows that the store has acknowledged and offsets that are
 * committed, against a bare kafkajs consumer that takes each message of the same topic and does nothing with
 * it. In turns within one run. Orders are taken up and not read: what reads cost is the bench `polls`.
 */
export async function run(): Promise<BenchResult> {
  return withBrokers(async (brokers) => {
    const ours: number[] = [];
    const bare: number[] = [];
    await withSink(async (sink) => {
      for (let round = 0; round <= ROUNDS; round += 1) {
        const filled = await fillTopic(brokers, ORDERS, round);
        const bareRate = await consumeBare(filled);
        const rate = await consumeOurs(filled, sink);
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
  });
}

/** From the first message to the last one. @param take what is done with each @default nothing */
export async function consumeBare(
  { brokers, topic, records }: FilledTopic,
  take: (value: Buffer) => void = () => undefined,
): Promise<number> {
  const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: uniqueName('bare') });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  const done = Promise.withResolvers<void>();
  let start = 0;
  let count = 0;
  await consumer.run({
    partitionsConsumedConcurrently: PARTITIONS,
    async eachMessage({ message: { value } }) {
      if (count === 0) start = performance.now();
      if (value !== null) take(value);
      count += 1;
      if (count === records) done.resolve();
    },
  });
  await done.promise;
  const rate = (records * 1000) / (performance.now() - start);
  await consumer.disconnect();
  return rate;
}

if (import.meta.main) {
  const result = await run();
  console.log({ ...result, ratio: ratioOf(result) });
}
