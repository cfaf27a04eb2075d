import { Kafka, logLevel } from 'kafkajs';
import { afterEach, describe, expect, it } from 'vitest';
import { surveyKafka } from '../../../../collector/sources/kafka/survey.ts';
import type { KafkaConfig } from '../../../../schemas/config.ts';
import { useKafka } from '../../../support/kafka-broker.ts';
import { collect, stopAll, texts, until } from '../../../support/kafka-source.ts';
import { createTopic, produce, uniqueName } from '../../../support/kafka-topics.ts';

const kafka = await useKafka();
const brokers = kafka.available ? [...kafka.brokers] : [];

/** A transaction with one record, left open. */
async function openTransaction(topic: string) {
  const client = new Kafka({ brokers, logLevel: logLevel.NOTHING });
  const producer = client.producer({
    transactionalId: uniqueName('tx'),
    maxInFlightRequests: 1,
    idempotent: true,
  });
  await producer.connect();
  const transaction = await producer.transaction();
  await transaction.send({ topic, messages: [{ value: 'in the transaction' }] });
  return {
    async end() {
      await transaction.commit();
      await producer.disconnect();
    },
  };
}

describe.skipIf(!kafka.available)('records behind an open transaction', () => {
  afterEach(stopAll);

  it('count as lag, are named apart, are no stall, and come when it ends', async () => {
    const topic = await createTopic(brokers, uniqueName('open'));
    const groupId = uniqueName('g');
    await produce(brokers, topic, [{ value: 'before' }]);
    const { source, records } = collect({ brokers, topics: [topic], groupId, stallTimeoutMs: 400 });
    await source.start();
    await until('the first record', () => records.length === 1);
    const transaction = await openTransaction(topic);
    await produce(brokers, topic, [{ value: 'behind' }, { value: 'behind' }]);
    await until('three records to be uncommitted', () => source.status().uncommitted === 3);
    await until('their time to run past a stall', () => source.status().uncommittedMs > 1000);
    expect(source.status()).toMatchObject({ lag: 3, stalled: false });
    expect(records).toHaveLength(1);

    const config = {
      brokers,
      groupId,
      callbackTopics: [{ topic }],
      watchTopic: topic,
    } as unknown as KafkaConfig;
    const { group } = await surveyKafka(config, AbortSignal.timeout(20_000));
    expect(group).toMatchObject({ uncommitted: 3n, lag: 3n });

    await transaction.end();
    await until('all records', () => records.length === 4);
    expect(texts(records)).toEqual(['before', 'in the transaction', 'behind', 'behind']);
    await until('nothing to be uncommitted', () => source.status().uncommitted === 0);
    expect(source.status()).toMatchObject({ uncommittedMs: 0, stalled: false });
  });
});
