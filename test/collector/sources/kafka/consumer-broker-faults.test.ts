import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createKafkaProducer } from '../../../../collector/sources/kafka/producer.ts';
import { startOwnKafka, useKafka } from '../../../support/kafka-broker.ts';
import { freePort, type KafkaProcess } from '../../../support/kafka-process.ts';
import { committedOffsets, createTopic, produce, uniqueName } from '../../../support/kafka-topics.ts';
import { collect, stopAll, texts, until } from '../../../support/kafka-source.ts';

// These tests freeze and kill a broker: they need one of their own.
const shared = await useKafka();
const canStartOne = shared.available && shared.jars !== undefined;

describe.skipIf(!canStartOne)('with a broker that fails', () => {
  let kafka: KafkaProcess;
  let brokers: string[];

  beforeAll(async () => {
    kafka = await startOwnKafka();
    brokers = [kafka.bootstrap];
  });
  afterEach(stopAll);
  afterAll(() => kafka.stop());

  it('a source started before its broker says what is wrong, and begins once it is there', async () => {
    const port = await freePort();
    const address = `127.0.0.1:${port}`;
    const topic = uniqueName('late-broker');
    const { source, records, of } = collect({
      brokers: [address],
      topics: [topic],
      groupId: uniqueName('g'),
      createTopics: { partitions: 1 },
    });
    await source.start();
    await until('two attempts', () => of('unreachable').length >= 2);
    expect(of('unreachable')[0]?.error).toMatchObject({ code: 'kafka_unreachable', retryable: true });
    expect(of('unreachable')[0]?.error.message).toMatch(
      new RegExp(`${address} cannot be reached: connection refused`),
    );
    expect(source.status()).toMatchObject({ connected: false, groupState: 'connecting', stalled: false });
    const late = await startOwnKafka({ port });
    try {
      await until('the group', () => of('group_join').length === 1);
      await produce([address], topic, [{ value: 'a' }]);
      await until('the record', () => records.length === 1);
      expect(source.status()).toMatchObject({ connected: true, lastError: null });
      await stopAll();
    } finally {
      await late.stop();
    }
  });

  it('a source outlives a broker frozen for longer than its session', async () => {
    const topic = await createTopic(brokers, uniqueName('frozen'));
    const { source, records } = collect({
      brokers,
      topics: [topic],
      groupId: uniqueName('g'),
      sessionTimeoutMs: 3000,
    });
    await source.start();
    await produce(brokers, topic, [{ value: 'before' }]);
    await until('the first record', () => records.length === 1);
    kafka.freeze();
    try {
      await until('the silence to be noticed', () => !source.status().connected);
      expect(source.status().stalled).toBe(false);
      await new Promise((resolve) => setTimeout(resolve, 4000));
    } finally {
      kafka.thaw();
    }
    await produce(brokers, topic, [{ value: 'after' }]);
    await until('the second record', () => texts(records).includes('after'));
    await until('the connection', () => source.status().connected && source.status().groupState === 'stable');
  });

  it('a source outlives a broker killed and started again, and loses nothing', async () => {
    const topic = await createTopic(brokers, uniqueName('killed'));
    const groupId = uniqueName('g');
    const { source, records, of } = collect({ brokers, topics: [topic], groupId });
    await source.start();
    await produce(brokers, topic, [{ value: 'a' }, { value: 'b' }]);
    await until('two records', () => records.length === 2);
    await kafka.kill();
    await until(
      'the failure to be seen',
      () => of('crash').length + of('unreachable').length > 0 || !source.status().connected,
    );
    await kafka.start();
    await produce(brokers, topic, [{ value: 'c' }]);
    await until('the third record', () => texts(records).includes('c'));
    expect(new Set(texts(records))).toEqual(new Set(['a', 'b', 'c']));
    await until('the commit', async () => (await committedOffsets(brokers, groupId, topic)).get(0) === 3);
  });

  it('a producer answers in bounded time while its broker is frozen, and works again after', async () => {
    const topic = await createTopic(brokers, uniqueName('produce'));
    const producer = createKafkaProducer({ brokers, sendTimeoutMs: 1000 });
    try {
      const message = { key: 'k', value: Buffer.from('v') };
      expect(await producer.send(topic, message)).toEqual({ partition: 0, offset: '0' });
      kafka.freeze();
      try {
        let began = performance.now();
        await expect(producer.send(topic, message)).rejects.toMatchObject({ retryable: true });
        expect(performance.now() - began).toBeLessThan(1500);
        await until('the failed connection', () => !producer.isConnected());
        began = performance.now();
        await expect(producer.send(topic, message)).rejects.toMatchObject({ retryable: true });
        expect(performance.now() - began).toBeLessThan(100);
      } finally {
        kafka.thaw();
      }
      await until('the connection', () => producer.isConnected());
      const { offset } = await producer.send(topic, message);
      expect(Number(offset)).toBeGreaterThan(0);
    } finally {
      await producer.stop();
    }
  });
});

describe.skipIf(!canStartOne)('with a broker that asks for credentials', () => {
  afterEach(stopAll);

  it('a source reads with the right ones, and says that the wrong ones are refused without showing them', async () => {
    const port = await freePort();
    const login = { username: 'gatewatch', password: 'pass-word-1' };
    const kafka = await startOwnKafka({ sasl: { port, ...login } });
    try {
      const topic = await createTopic([kafka.bootstrap], uniqueName('sasl'));
      await produce([kafka.bootstrap], topic, [{ value: 'a' }]);
      const options = { brokers: [`127.0.0.1:${port}`], topics: [topic], groupId: uniqueName('g') };
      const right = collect({ ...options, sasl: { mechanism: 'plain', ...login } });
      await right.source.start();
      await until('the record', () => right.records.length === 1);

      const wrong = collect({ ...options, sasl: { mechanism: 'plain', ...login, password: 'pass-word-2' } });
      await wrong.source.start();
      await until('the refusal', () => wrong.of('unreachable').length > 0);
      expect(wrong.of('unreachable')[0]?.error.code).toBe('kafka_auth_failed');
      expect(inspect(wrong.events, { depth: 20 })).not.toContain('pass-word');
      await stopAll();
    } finally {
      await kafka.stop();
    }
  });
});
