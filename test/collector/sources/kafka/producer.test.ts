import { afterEach, describe, expect, it } from 'vitest';
import { GatewatchError } from '../../../../schemas/errors.ts';
import {
  createKafkaProducer,
  isCurrent,
  type KafkaProducer,
  type Link,
  reconnectDelayMs,
} from '../../../../collector/sources/kafka/producer.ts';
import { useKafka } from '../../../support/kafka-broker.ts';
import { freePort } from '../../../support/kafka-process.ts';
import { createTopic, uniqueName } from '../../../support/kafka-topics.ts';
import { collect, stopAll, until } from '../../../support/kafka-source.ts';

const kafka = await useKafka();
const brokers = kafka.available ? kafka.brokers : [];
const opened: KafkaProducer[] = [];

function open(options: Parameters<typeof createKafkaProducer>[0]): KafkaProducer {
  const producer = createKafkaProducer(options);
  opened.push(producer);
  return producer;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((producer) => producer.stop()));
  await stopAll();
});

describe.skipIf(!kafka.available)('a Kafka producer', () => {
  it('puts key, value and headers onto the topic byte for byte, and says where', async () => {
    const topic = await createTopic(brokers, uniqueName('produced'));
    const producer = open({ brokers });
    const value = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const headers = { Signature: ['a', 'b'], 'delivery-id': '1' };
    expect(await producer.send(topic, { key: 'k', value, headers })).toEqual({ partition: 0, offset: '0' });
    expect(await producer.send(topic, { key: null, value: null })).toEqual({ partition: 0, offset: '1' });
    const { source, records } = collect({ brokers, topics: [topic], groupId: uniqueName('g') });
    await source.start();
    await until('both records', () => records.length === 2);
    expect(Buffer.from(records[0]!.value!).equals(value)).toBe(true);
    expect(Buffer.from(records[0]!.key!).toString()).toBe('k');
    expect(records[0]!.headers.get('signature')?.map(String)).toEqual(['a', 'b']);
    expect(records[0]!.headers.get('delivery-id')?.map(String)).toEqual(['1']);
    expect(records[1]).toMatchObject({ key: null, value: null });
  });

  it('gives each of many messages sent at once an offset of its own', async () => {
    const topic = await createTopic(brokers, uniqueName('many'), { partitions: 3 });
    const producer = open({ brokers });
    const sent = await Promise.all(
      Array.from({ length: 300 }, (_, index) =>
        producer.send(topic, { key: `${index}`, value: Buffer.from('v') }),
      ),
    );
    expect(new Set(sent.map(({ partition, offset }) => `${partition}-${offset}`)).size).toBe(300);
  });

  it('says which topic is missing, and goes on with those that exist', async () => {
    const topic = await createTopic(brokers, uniqueName('exists'));
    const producer = open({ brokers });
    const message = { key: 'k', value: Buffer.from('v') };
    await expect(producer.send(uniqueName('missing'), message)).rejects.toMatchObject({
      code: 'kafka_topic_missing',
    });
    expect(await producer.send(topic, message)).toEqual({ partition: 0, offset: '0' });
  });

  it('refuses a message that the broker would not take, as an error that trying again cannot help', async () => {
    const topic = await createTopic(brokers, uniqueName('large'), {
      settings: { 'max.message.bytes': '1000' },
    });
    const producer = open({ brokers });
    await expect(producer.send(topic, { key: 'k', value: Buffer.alloc(5000, 'x') })).rejects.toMatchObject({
      code: 'kafka_message_too_large',
      retryable: false,
    });
  });
});

describe('a Kafka producer without a broker', () => {
  it('fails at once with an address and a reason, and rejects after stop', async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const producer = open({ brokers: [address] });
    const message = { key: 'k', value: Buffer.from('v') };
    const began = performance.now();
    await expect(producer.send('t', message)).rejects.toMatchObject({
      code: 'kafka_unreachable',
      retryable: true,
      message: expect.stringContaining(`${address} cannot be reached: connection refused`),
    });
    expect(performance.now() - began).toBeLessThan(3000);
    expect(producer.isConnected()).toBe(false);
    await producer.stop();
    await expect(producer.send('t', message)).rejects.toMatchObject({
      code: 'kafka_stopped',
      retryable: false,
    });
  });
});

describe("a producer's link to its broker", () => {
  it('is lost by the producer that holds it, and by no earlier one', () => {
    const up: Link<string> = { state: 'up', producer: 'second' };
    const down: Link<string> = {
      state: 'down',
      error: new GatewatchError('gone', { code: 'kafka_timeout' }),
    };
    expect([isCurrent(up, 'second'), isCurrent(up, 'first')]).toEqual([true, false]);
    expect([isCurrent(down, 'second'), isCurrent({ state: 'connecting' }, 'second')]).toEqual([false, false]);
  });

  it('is tried again after waits that double up to five seconds', () => {
    expect([1, 2, 3, 5, 6, 1000].map(reconnectDelayMs)).toEqual([250, 500, 1000, 4000, 5000, 5000]);
  });
});
