import kafkajs from 'kafkajs';
import { afterEach, describe, expect, it } from 'vitest';
import { registerCodecs } from '../../../../collector/sources/kafka/codecs.ts';
import { useKafka } from '../../../support/kafka-broker.ts';
import { createTopic, produce, testClient, uniqueName } from '../../../support/kafka-topics.ts';
import { collect, stopAll, texts, until } from '../../../support/kafka-source.ts';

const kafka = await useKafka();
const brokers = kafka.available ? kafka.brokers : [];

// A codec that fails stands for a batch that cannot be read at all: brokers check what they store, so that a
// real one takes a damaged disk.
const { CompressionCodecs, CompressionTypes } = kafkajs;
registerCodecs();
const gzip = CompressionCodecs[CompressionTypes.GZIP];

describe.skipIf(!kafka.available)('a batch that the client library cannot read', () => {
  afterEach(async () => {
    CompressionCodecs[CompressionTypes.GZIP] = gzip;
    await stopAll();
  });

  it('stands as one record with its offsets, and the partition goes on', async () => {
    const topic = await createTopic(brokers, uniqueName('undecodable'));
    const producer = testClient(brokers).producer({
      createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
    });
    await producer.connect();
    const messages = [{ value: 'a' }, { value: 'b' }];
    await producer.send({ topic, compression: CompressionTypes.GZIP, messages });
    await producer.disconnect();
    CompressionCodecs[CompressionTypes.GZIP] = () => ({
      decompress: () => Promise.reject(new Error('damaged')),
    });
    await produce(brokers, topic, [{ value: 'c' }]);
    const { source, records, of } = collect({ brokers, topics: [topic], groupId: uniqueName('g') });
    await source.start();
    await until('both', () => records.length === 2);
    expect(records[0]).toMatchObject({
      offset: '1',
      value: null,
      unreadable: { problem: 'damaged', firstOffset: '0', lastOffset: '1' },
    });
    expect(texts(records)).toEqual(['', 'c']);
    expect(of('crash')).toEqual([]);
  });
});
