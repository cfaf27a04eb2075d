import kafkajs from 'kafkajs';
import { afterEach, describe, expect, it } from 'vitest';
import { registerCodecs } from '../../../../collector/sources/kafka/codecs.ts';
import { useKafka } from '../../../support/kafka-broker.ts';
import { createTopic, produce, testClient, uniqueName } from '../../../support/kafka-topics.ts';
import { collect, stopAll, until } from '../../../support/kafka-source.ts';

const kafka = await useKafka();
const brokers = kafka.available ? kafka.brokers : [];
const { CompressionTypes } = kafkajs;
const CODECS = [
  ['gzip', CompressionTypes.GZIP],
  ['snappy', CompressionTypes.Snappy],
  ['lz4', CompressionTypes.LZ4],
  ['zstd', CompressionTypes.ZSTD],
] as const;

async function send(topic: string, compression: number, values: readonly (string | Buffer)[]): Promise<void> {
  registerCodecs();
  const producer = testClient(brokers).producer({
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  await producer.send({ topic, compression, messages: values.map((value) => ({ value })) });
  await producer.disconnect();
}

async function read(topic: string, lastOffset: number) {
  const { source, records, of } = collect({ brokers, topics: [topic], groupId: uniqueName('g') });
  await source.start();
  await until('the last record', () => records.at(-1)?.offset === String(lastOffset));
  expect(of('crash')).toEqual([]);
  return records.map(({ offset, value, unreadable }) =>
    unreadable === undefined
      ? `${offset} ${value === null ? '' : Buffer.from(value).toString()}`
      : unreadable,
  );
}

describe.skipIf(!kafka.available)('a batch that unpacks to more than is allowed', () => {
  afterEach(stopAll);

  it.each(CODECS)(
    'packed with %s stands as one record with its offsets, and the partition goes on',
    async (_name, codec) => {
      const topic = await createTopic(brokers, uniqueName('bomb'), {
        settings: { 'max.message.bytes': '4000000' },
      });
      await send(topic, codec, ['before']);
      await send(topic, codec, ['with it', Buffer.alloc(17 << 20)]);
      await send(topic, codec, ['after']);
      expect(await read(topic, 3)).toEqual([
        '0 before',
        { problem: 'too_large', firstOffset: '1', lastOffset: '2', bytes: expect.any(Number) },
        '3 after',
      ]);
    },
  );

  it('is not held in memory with many others like it that are just small enough', async () => {
    const topic = await createTopic(brokers, uniqueName('bombs'));
    for (let n = 0; n < 20; n += 1) await send(topic, CompressionTypes.ZSTD, [Buffer.alloc(15 << 20)]);
    const most = { held: 0 };
    const { source, records } = collect({
      brokers,
      topics: [topic],
      groupId: uniqueName('g'),
      handle: async (batch) => {
        most.held = Math.max(most.held, batch.length);
      },
    });
    await source.start();
    await until('all of them', () => records.length === 20);
    expect(most.held).toBe(1);
  });
});

describe.skipIf(!kafka.available)('a record with very many headers', () => {
  afterEach(stopAll);

  it('is read as fast as any other, every header kept', async () => {
    const topic = await createTopic(brokers, uniqueName('headers'));
    const headers = Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [`header-${n}`, String(n)]));
    await produce(brokers, topic, [{ value: 'many', headers: { ...headers, Signature: ['a', 'b'] } }]);
    const { source, records } = collect({ brokers, topics: [topic], groupId: uniqueName('g') });
    const startMs = performance.now();
    await source.start();
    await until('the record', () => records.length === 1);
    // Copied for each further one, they took minutes.
    expect(performance.now() - startMs).toBeLessThan(20_000);
    expect(records[0]?.headers.size).toBe(30_001);
    expect(records[0]?.headers.get('signature')?.map((value) => Buffer.from(value).toString())).toEqual([
      'a',
      'b',
    ]);
  });
});
