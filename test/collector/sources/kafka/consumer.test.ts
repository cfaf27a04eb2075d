import { afterEach, describe, expect, it } from 'vitest';
import type { KafkaRecord } from '../../../../schemas/kafka.ts';
import { GatewatchError } from '../../../../schemas/errors.ts';
import { useKafka } from '../../../support/kafka-broker.ts';
import {
  committedOffsets,
  createTopic,
  hasKcat,
  kcat,
  produce,
  uniqueName,
  withAdmin,
} from '../../../support/kafka-topics.ts';
import { collect, stopAll, texts, until } from '../../../support/kafka-source.ts';

const kafka = await useKafka();
const brokers = kafka.available ? kafka.brokers : [];
const kcatInstalled = await hasKcat();

const storeDown = (): GatewatchError =>
  new GatewatchError('The store is down', { code: 'store_unavailable', retryable: true });

describe.skipIf(!kafka.available)('a Kafka source', () => {
  afterEach(stopAll);

  it('hands over keys, values and headers byte for byte', async () => {
    const topic = await createTopic(brokers, uniqueName('bytes'));
    const everyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    await produce(brokers, topic, [
      {
        key: everyByte,
        value: everyByte,
        headers: { Signature: ['one', 'two'], signature: 'three', empty: '' },
      },
      { key: null, value: null },
      { key: '', value: '', headers: { constructor: 'odd', __proto__x: 'odd' } },
    ]);
    const { source, records } = collect({ brokers, topics: [topic], groupId: uniqueName('g') });
    await source.start();
    await until('three records', () => records.length === 3);
    const [first, second, third] = records as [KafkaRecord, KafkaRecord, KafkaRecord];
    expect(Buffer.from(first.key!).equals(everyByte)).toBe(true);
    expect(Buffer.from(first.value!).equals(everyByte)).toBe(true);
    expect(first.headers.get('signature')?.map((value) => Buffer.from(value).toString())).toEqual([
      'one',
      'two',
      'three',
    ]);
    expect(first.headers.get('empty')).toEqual([Buffer.alloc(0)]);
    expect(first.headers.has('Signature')).toBe(false);
    expect([second.key, second.value, second.headers.size]).toEqual([null, null, 0]);
    expect([third.key?.length, third.value?.length]).toEqual([0, 0]);
    expect(third.headers.get('constructor')?.map(String)).toEqual(['odd']);
    expect(records.map(({ offset }) => offset)).toEqual(['0', '1', '2']);
    expect(Math.abs(first.timestampMs - Date.now())).toBeLessThan(60_000);
  });

  it.skipIf(!kcatInstalled)('reads what kcat produced with key and headers', async () => {
    const topic = await createTopic(brokers, uniqueName('kcat'));
    const body = '{"externalId":"7d9f2c1e","amount":"100.00"}';
    await kcat(brokers, ['-P', '-t', topic, '-k', '7d9f2c1e', '-H', 'Signature=9ce5e776'], body);
    const { source, records } = collect({ brokers, topics: [topic], groupId: uniqueName('g') });
    await source.start();
    await until('the record', () => records.length === 1);
    expect(texts(records)).toEqual([body]);
    expect(Buffer.from(records[0]!.key!).toString()).toBe('7d9f2c1e');
    expect(records[0]!.headers.get('signature')?.map(String)).toEqual(['9ce5e776']);
  });

  it('is sure of its partitions while the group answers its heartbeats', async () => {
    const topic = await createTopic(brokers, uniqueName('tenure'));
    let stoodStillMs = 0;
    const clock = { now: () => performance.now() + stoodStillMs };
    const { source } = collect({ brokers, topics: [topic], groupId: uniqueName('g'), clock });
    const isSure = () => source.tenure(topic)?.isConfirmed === true;
    expect(source.tenure(topic)).toBeNull();
    await source.start();
    await until('the group to confirm it', isSure);
    expect(source.tenure(topic)).toMatchObject({ joins: 1, since: new Map([[0, 1]]) });
    // As long as a session: the group may have given it up.
    stoodStillMs = 6_000;
    expect(isSure()).toBe(false);
    await until('the next heartbeat to be answered', isSure);
    expect(source.tenure(topic)).toMatchObject({ joins: 1 });
    await source.stop();
    expect(isSure()).toBe(false);
  });

  it('commits an offset only after the handler has resolved', async () => {
    const topic = await createTopic(brokers, uniqueName('ack'));
    const groupId = uniqueName('g');
    await produce(brokers, topic, [{ value: 'a' }, { value: 'b' }]);
    const gate = Promise.withResolvers<void>();
    const { source, records, of } = collect({
      brokers,
      topics: [topic],
      groupId,
      handle: () => gate.promise,
    });
    await source.start();
    await until('the member to join', () => of('group_join').length > 0);
    await until('the lag to be seen', () => source.status().partitions[0]?.lag === 2);
    expect(await committedOffsets(brokers, groupId, topic)).toEqual(new Map([[0, -1]]));
    gate.resolve();
    await until('the commit', () => of('committed').length > 0);
    expect(records).toHaveLength(2);
    expect(await committedOffsets(brokers, groupId, topic)).toEqual(new Map([[0, 2]]));
    expect(source.status()).toMatchObject({ connected: true, groupState: 'stable', stalled: false, lag: 0 });
  });

  it('hands records to the next member when one stops between handling and commit', async () => {
    const topic = await createTopic(brokers, uniqueName('redeliver'));
    const groupId = uniqueName('g');
    await produce(brokers, topic, [{ value: 'a' }, { value: 'b' }]);
    const reached = Promise.withResolvers<AbortSignal>();
    const abandoned = collect({
      brokers,
      topics: [topic],
      groupId,
      stopTimeoutMs: 200,
      handle: (_records, { signal }) => {
        reached.resolve(signal);
        return new Promise(() => undefined);
      },
    });
    await abandoned.source.start();
    const signal = await reached.promise;
    const began = performance.now();
    await abandoned.source.stop();
    expect(performance.now() - began).toBeLessThan(4000);
    expect(signal.aborted).toBe(true);
    expect(abandoned.of('stopped')).toEqual([{ type: 'stopped', clean: false }]);
    expect(abandoned.of('committed')).toEqual([]);

    const next = collect({ brokers, topics: [topic], groupId });
    await next.source.start();
    await until('the same records', () => next.records.length === 2);
    expect(texts(next.records)).toEqual(['a', 'b']);
  });

  it('waits for a running handler when stopped, and commits what it finished', async () => {
    const topic = await createTopic(brokers, uniqueName('stop'));
    const groupId = uniqueName('g');
    await produce(brokers, topic, [{ value: 'a' }]);
    const reached = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const { source, of } = collect({
      brokers,
      topics: [topic],
      groupId,
      handle: () => {
        reached.resolve();
        return gate.promise;
      },
    });
    await source.start();
    await reached.promise;
    const stopped = source.stop();
    setTimeout(() => gate.resolve(), 300);
    await stopped;
    expect(of('stopped')).toEqual([{ type: 'stopped', clean: true }]);
    expect(await committedOffsets(brokers, groupId, topic)).toEqual(new Map([[0, 1]]));
  });

  it('offers the same records again after a store outage of 15 s, without a rebalance', async () => {
    const topic = await createTopic(brokers, uniqueName('outage'), { partitions: 2 });
    const groupId = uniqueName('g');
    await produce(brokers, topic, [
      { value: 'a', partition: 0 },
      { value: 'b', partition: 1 },
    ]);
    let down = true;
    const offered: string[] = [];
    const { source, records, of } = collect({
      brokers,
      topics: [topic],
      groupId,
      async handle(batch) {
        offered.push(...texts(batch));
        if (down) throw storeDown();
      },
    });
    await source.start();
    await until(
      'both partitions to be held back',
      () => new Set(of('paused').map((one) => one.partition)).size === 2,
    );
    expect(source.status().stalled).toBe(false);
    setTimeout(() => (down = false), 15_000);
    await until('the records', () => records.length === 2);
    expect(texts(records).toSorted()).toEqual(['a', 'b']);
    expect(offered.length).toBeGreaterThan(10);
    expect(of('group_join')).toHaveLength(1);
    expect(of('rebalance')).toHaveLength(0);
    await until('both commits', () => of('committed').length === 2);
    expect(of('paused').at(-1)!.attempt).toBeGreaterThan(4);
  });

  it('keeps its membership while a handler runs longer than the session timeout', async () => {
    const topic = await createTopic(brokers, uniqueName('slow'));
    await produce(brokers, topic, [{ value: 'a' }]);
    const { source, of } = collect({
      brokers,
      topics: [topic],
      groupId: uniqueName('g'),
      sessionTimeoutMs: 2000,
      handle: () => new Promise((resolve) => setTimeout(resolve, 6000)),
    });
    await source.start();
    await until('the commit', () => of('committed').length === 1);
    expect(of('group_join')).toHaveLength(1);
  });

  it('ends for good when a handler fails with an error that trying again cannot help', async () => {
    const topic = await createTopic(brokers, uniqueName('fatal'));
    const groupId = uniqueName('g');
    await produce(brokers, topic, [{ value: 'a' }]);
    const { source, of } = collect({
      brokers,
      topics: [topic],
      groupId,
      handle: async () => {
        throw new Error('a programming mistake');
      },
    });
    await source.start();
    await until('the end', () => of('fatal').length === 1);
    expect(source.status()).toMatchObject({
      groupState: 'failed',
      fatal: { message: 'a programming mistake' },
    });
    expect(await committedOffsets(brokers, groupId, topic)).toEqual(new Map([[0, -1]]));
    await until('the group to be empty', async () => {
      const { groups } = await withAdmin(brokers, (admin) => admin.describeGroups([groupId]));
      return groups[0]?.members.length === 0;
    });
  });

  it('cuts large fetches into slices and commits each', async () => {
    const topic = await createTopic(brokers, uniqueName('slices'));
    await produce(
      brokers,
      topic,
      Array.from({ length: 25 }, (_, index) => ({ value: `${index}` })),
    );
    const sizes: number[] = [];
    const { source, records, of } = collect({
      brokers,
      topics: [topic],
      groupId: uniqueName('g'),
      maxRecordsPerHandle: 10,
      handle: async (batch) => void sizes.push(batch.length),
    });
    await source.start();
    await until('all records', () => records.length === 25);
    await until('the last commit', () => of('committed').at(-1)?.offset === '25');
    expect(sizes).toEqual([10, 10, 5]);
    expect(of('committed').map(({ offset }) => offset)).toEqual(['10', '20', '25']);
  });

  it('has two slices under way, and an outage between them loses nothing and commits nothing early', async () => {
    const topic = await createTopic(brokers, uniqueName('under-way'));
    const groupId = uniqueName('g');
    await produce(
      brokers,
      topic,
      Array.from({ length: 8 }, (_, index) => ({ value: `${index}` })),
    );
    // What each slice waits for when it is offered first, by its first record.
    const stored = new Map(['0', '2', '4'].map((first) => [first, Promise.withResolvers<void>()]));
    let isDown = false;
    const offered: string[] = [];
    const { source, records, of } = collect({
      brokers,
      topics: [topic],
      groupId,
      maxRecordsPerHandle: 2,
      async handle(batch, { taken }) {
        offered.push(texts(batch).join());
        if (isDown) throw storeDown();
        taken();
        await stored.get(texts(batch)[0] ?? '')?.promise;
      },
    });
    await source.start();
    await until('two slices under way', () => offered.length === 2);
    stored.get('0')?.resolve();
    await until('the third in place of the first', () => offered.length === 3);
    stored.get('4')?.resolve();
    await until('the later one to be stored', () => texts(records).includes('5'));
    isDown = true;
    stored.get('2')?.reject(storeDown());
    // Beyond the slice that failed nothing is committed; if it is, that shows at once and not by waiting.
    await until('the outage to last', () => of('paused').length >= 3 || of('committed').length > 1);
    expect(of('committed').map(({ offset }) => offset)).toEqual(['2']);
    expect(await committedOffsets(brokers, groupId, topic)).toEqual(new Map([[0, 2]]));
    isDown = false;
    stored.clear();
    await until('the last commit', () => of('committed').at(-1)?.offset === '8');
    // The outage takes as many attempts as it lasts, each at the first slice that is not committed.
    expect(new Set(offered.splice(3, offered.length - 6))).toEqual(new Set(['2,3']));
    expect(offered).toEqual(['0,1', '2,3', '4,5', '2,3', '4,5', '6,7']);
    expect(texts(records)).toEqual(['0', '1', '4', '5', '2', '3', '4', '5', '6', '7']);
    expect(of('committed').map(({ offset }) => offset)).toEqual(['2', '4', '6', '8']);
    expect(await committedOffsets(brokers, groupId, topic)).toEqual(new Map([[0, 8]]));
    expect(of('group_join')).toHaveLength(1);
  });

  it('names a missing topic, reads those that exist, and takes it up once it is created', async () => {
    const present = await createTopic(brokers, uniqueName('present'));
    const late = uniqueName('late');
    await produce(brokers, present, [{ value: 'a' }]);
    const { source, records, of } = collect({ brokers, topics: [present, late], groupId: uniqueName('g') });
    await source.start();
    await until('the first record', () => records.length === 1);
    expect(source.status().missingTopics).toEqual([late]);
    expect(of('topic_missing')[0]?.error).toMatchObject({ code: 'kafka_topic_missing', retryable: true });
    expect(of('topic_missing')[0]?.error.message).toContain(late);
    await createTopic(brokers, late);
    await produce(brokers, late, [{ value: 'b' }]);
    await until('the second record', () => records.length === 2);
    expect(texts(records)).toEqual(['a', 'b']);
    expect(source.status().missingTopics).toEqual([]);
  });

  it('creates missing topics when asked to', async () => {
    const topic = uniqueName('made');
    const { source, records, of } = collect({
      brokers,
      topics: [topic],
      groupId: uniqueName('g'),
      createTopics: { partitions: 3 },
    });
    await source.start();
    await until('the join', () => of('group_join').length === 1);
    expect(of('group_join')[0]?.assignment[topic]?.toSorted()).toEqual([0, 1, 2]);
    await produce(brokers, topic, [{ value: 'a' }]);
    await until('the record', () => records.length === 1);
  });

  it('reports records that retention took before the group read them', async () => {
    const topic = await createTopic(brokers, uniqueName('gap'));
    const groupId = uniqueName('g');
    await produce(brokers, topic, [{ value: 'a' }]);
    const first = collect({ brokers, topics: [topic], groupId });
    await first.source.start();
    await until('the commit', () => first.of('committed').length === 1);
    await first.source.stop();
    await produce(brokers, topic, [{ value: 'b' }, { value: 'c' }, { value: 'd' }]);
    await withAdmin(brokers, async (admin) => {
      // kafkajs' deleteTopicRecords works only on a connection that knows the topic already.
      await admin.fetchTopicOffsets(topic);
      await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '3' }] });
    });
    const second = collect({ brokers, topics: [topic], groupId });
    await second.source.start();
    await until('the record that is left', () => second.records.length === 1);
    expect(texts(second.records)).toEqual(['d']);
    expect(second.of('offset_gap')).toEqual([
      { type: 'offset_gap', topic, partition: 0, expected: '1', actual: '3', missing: 2 },
    ]);
  });

  it('sees a stall: lag without progress, on the clock it was given', async () => {
    const topic = await createTopic(brokers, uniqueName('stall'));
    await produce(brokers, topic, [{ value: 'a' }]);
    let aheadMs = 0;
    const { source, of } = collect({
      brokers,
      topics: [topic],
      groupId: uniqueName('g'),
      stopTimeoutMs: 100,
      stallTimeoutMs: 2000,
      clock: { now: () => performance.now() + aheadMs },
      handle: () => new Promise(() => undefined),
    });
    await source.start();
    await until('lag', () => source.status().lag === 1);
    expect(source.status().stalled).toBe(false);
    aheadMs = 2000;
    expect(source.status().partitions[0]).toMatchObject({ lag: 1, stalled: true });
    await until('the stall to be said', () => of('stalled').length === 1);
  });

  it('takes a handler that waits for the store for no stall before the store is back', async () => {
    const topic = await createTopic(brokers, uniqueName('no-stall'));
    await produce(brokers, topic, [{ value: 'a' }]);
    let isStoreAway = true;
    let asked = 0;
    const { source, of } = collect({
      brokers,
      topics: [topic],
      groupId: uniqueName('g'),
      stopTimeoutMs: 100,
      stallTimeoutMs: 2000,
      isStoreAway: () => ((asked += 1), isStoreAway),
      handle: () => new Promise(() => undefined),
    });
    await source.start();
    await until('lag', () => source.status().lag === 1);
    const before = asked;
    await until('more than the stall timeout', () => asked >= before + 8);
    expect(of('stalled')).toEqual([]);
    isStoreAway = false;
    await until('the stall', () => of('stalled').length === 1);
  });
});
