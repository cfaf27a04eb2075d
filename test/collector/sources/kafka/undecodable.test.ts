import kafkajs from 'kafkajs';
import { afterEach, describe, expect, it } from 'vitest';
import { useKafka } from '../../../support/kafka-broker.ts';
import { createTopic, produce, testClient, uniqueName } from '../../../support/kafka-topics.ts';
import { collect, stopAll, texts, until } from './support.ts';

const kafka = await useKafka();
const brokers = kafka.available ? kafka.brokers : [];

// A codec that fails stands for a batch that cannot be read at all: brokers check what they store, so that a real one
// takes a damaged disk.
const { CompressionCodecs, CompressionTypes } = kafkajs;
const gzip = CompressionCodecs[CompressionTypes.GZIP];

describe.skipIf(!kafka.available)('a batch that the client library cannot read', () => {
  afterEach(async () => {
    CompressionCodecs[CompressionTypes.GZIP] = gzip;
    await stopAll();
  });

  it(
    'shows as a stall instead of looking healthy, and is read once it can be',
    { timeout: 90_000 },
    async () => {
      const topic = await createTopic(brokers, uniqueName('undecodable'));
      const producer = testClient(brokers).producer({
        createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
      });
      await producer.connect();
      await producer.send({ topic, compression: CompressionTypes.GZIP, messages: [{ value: 'a' }] });
      await producer.disconnect();
      CompressionCodecs[CompressionTypes.GZIP] = () => ({
        decompress: () => Promise.reject(new Error('damaged')),
      });
      const { source, records, of } = collect({
        brokers,
        topics: [topic],
        groupId: uniqueName('g'),
        stallTimeoutMs: 3000,
      });
      await source.start();
      await until('the stall', () => source.status().stalled, 60_000);
      expect(records).toEqual([]);
      await until('the reason', () => of('crash').length > 0, 30_000);
      expect(of('crash')[0]?.error.message).toContain('damaged');
      CompressionCodecs[CompressionTypes.GZIP] = gzip;
      await produce(brokers, topic, [{ value: 'b' }]);
      await until('both records', () => texts(records).join() === 'a,b', 30_000);
      await until('the end of the stall', () => !source.status().stalled);
    },
  );
});
