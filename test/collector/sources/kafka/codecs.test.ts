import { randomBytes } from 'node:crypto';
import path from 'node:path';
import kafkajs from 'kafkajs';
import { afterEach, describe, expect, it } from 'vitest';
import { registerCodecs } from '../../../../collector/sources/kafka/codecs.ts';
import { useKafka } from '../../../support/kafka-broker.ts';
import {
  createTopic,
  hasKcat,
  kcat,
  pipeInto,
  testClient,
  uniqueName,
} from '../../../support/kafka-topics.ts';
import { collect, stopAll, texts, until } from '../../../support/kafka-source.ts';

const kafka = await useKafka();
const brokers = kafka.available ? kafka.brokers : [];
const jars = kafka.available ? kafka.jars : undefined;
const kcatInstalled = await hasKcat();

const CODECS = [
  ['gzip', kafkajs.CompressionTypes.GZIP],
  ['snappy', kafkajs.CompressionTypes.Snappy],
  ['lz4', kafkajs.CompressionTypes.LZ4],
  ['zstd', kafkajs.CompressionTypes.ZSTD],
] as const;

// Over the block sizes of every codec: text that compresses well, and text that hardly does.
const lines = Array.from({ length: 400 }, (_, index) =>
  index % 2 === 0 ? `${index} ${'callback '.repeat(60)}` : `${index} ${randomBytes(300).toString('base64')}`,
);

async function readAll(topic: string): Promise<string[]> {
  const { source, records } = collect({ brokers, topics: [topic], groupId: uniqueName('g') });
  await source.start();
  await until('all messages', () => records.length >= lines.length);
  return texts(records);
}

describe.skipIf(!kafka.available).each(CODECS)('messages compressed with %s', (name, type) => {
  afterEach(stopAll);

  it.skipIf(!kcatInstalled)('by librdkafka are read', async () => {
    const topic = await createTopic(brokers, uniqueName(`kcat-${name}`));
    await kcat(brokers, ['-P', '-t', topic, '-z', name, '-X', 'linger.ms=200'], lines.join('\n'));
    expect(await readAll(topic)).toEqual(lines);
  });

  it.skipIf(jars === undefined)("by Kafka's own producer are read", async () => {
    const topic = await createTopic(brokers, uniqueName(`java-${name}`));
    const args = ['-cp', path.join(jars!, '*'), 'org.apache.kafka.tools.ConsoleProducer', '--topic', topic];
    args.push('--bootstrap-server', brokers.join(','), '--compression-codec', name, '--batch-size', '200000');
    await pipeInto('java', ['-XX:TieredStopAtLevel=1', ...args], `${lines.join('\n')}\n`);
    expect(await readAll(topic)).toEqual(lines);
  });

  it.skipIf(!kcatInstalled)('by us are read by librdkafka and by us', async () => {
    const topic = await createTopic(brokers, uniqueName(`own-${name}`));
    registerCodecs();
    const producer = testClient(brokers).producer({
      createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
    });
    await producer.connect();
    await producer.send({ topic, compression: type, messages: lines.map((value) => ({ value })) });
    await producer.disconnect();
    const read = await kcat(brokers, ['-C', '-t', topic, '-o', 'beginning', '-e', '-q']);
    expect(read.trimEnd().split('\n')).toEqual(lines);
    expect(await readAll(topic)).toEqual(lines);
  });
});
