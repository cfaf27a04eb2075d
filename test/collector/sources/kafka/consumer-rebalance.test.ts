import { afterEach, describe, expect, it } from 'vitest';
import { useKafka } from '../../../support/kafka-broker.ts';
import {
  committedOffsets,
  createTopic,
  produce,
  type TestMessage,
  uniqueName,
} from '../../../support/kafka-topics.ts';
import { collect, stopAll, texts, until } from '../../../support/kafka-source.ts';

const kafka = await useKafka();
const brokers = kafka.available ? kafka.brokers : [];

function oneEach(value: string): TestMessage[] {
  return [0, 1].map((partition) => ({ value: `${value}${partition}`, partition }));
}

describe.skipIf(!kafka.available)('a Kafka source in a group', () => {
  afterEach(stopAll);

  it('lets a running handler finish and commit before it joins a rebalance', async () => {
    const topic = await createTopic(brokers, uniqueName('polite'), { partitions: 2 });
    const groupId = uniqueName('g');
    await produce(brokers, topic, [
      { value: 'a', partition: 0 },
      { value: 'b', partition: 1 },
    ]);
    const gate = Promise.withResolvers<void>();
    const first = collect({ brokers, topics: [topic], groupId, handle: () => gate.promise });
    await first.source.start();
    await until('the lag to be seen', () => first.source.status().lag === 2);
    const second = collect({ brokers, topics: [topic], groupId });
    await second.source.start();
    // The second member waits in its join for the first one, whose heartbeats go on meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect(first.of('committed')).toEqual([]);
    gate.resolve();
    await until(
      'both to have joined',
      () => first.of('group_join').length === 2 && second.of('group_join').length === 1,
    );
    expect(first.of('assignment_lost')).toEqual([]);
    expect(texts(first.records).toSorted()).toEqual(['a', 'b']);
    expect(second.records).toEqual([]);
    expect(await committedOffsets(brokers, groupId, topic)).toEqual(
      new Map([
        [0, 1],
        [1, 1],
      ]),
    );
  });

  it('never rewinds the group when a handler outlives its assignment', async () => {
    const topic = await createTopic(brokers, uniqueName('rewind'), { partitions: 2 });
    const groupId = uniqueName('g');
    await produce(brokers, topic, oneEach('a'));
    // Half of it is the stuck handler's grace: the rest must suffice to notice its end and to join again.
    const rebalanceTimeoutMs = 10_000;
    const gate = Promise.withResolvers<void>();
    const stuck = collect({
      brokers,
      topics: [topic],
      groupId,
      rebalanceTimeoutMs,
      handle: () => gate.promise,
    });
    await stuck.source.start();
    await until('the lag to be seen', () => stuck.source.status().lag === 2);

    const other = collect({ brokers, topics: [topic], groupId, rebalanceTimeoutMs });
    await other.source.start();
    await until('the partitions to be shared', () => other.of('group_join').length > 0);
    await produce(brokers, topic, oneEach('b'));
    await until('the other to read its half', () => other.records.length === 2);
    const taken = other.records[0]!.partition;
    await until('its commit', async () => (await committedOffsets(brokers, groupId, topic)).get(taken) === 2);

    gate.resolve();
    const kept = 1 - taken;
    await until('the rest', async () => (await committedOffsets(brokers, groupId, topic)).get(kept) === 2);
    expect((await committedOffsets(brokers, groupId, topic)).get(taken)).toBe(2);
    expect(stuck.of('assignment_lost').map(({ partition }) => partition)).toContain(taken);
    expect(stuck.of('committed').filter(({ partition }) => partition === taken)).toEqual([]);
  });

  it('reads every record while members come and go, and offsets only grow', async () => {
    const partitions = [0, 1, 2, 3];
    const topic = await createTopic(brokers, uniqueName('churn'), { partitions: partitions.length });
    const groupId = uniqueName('g');
    const member = () =>
      collect({
        brokers,
        topics: [topic],
        groupId,
        rebalanceTimeoutMs: 3000,
        maxRecordsPerHandle: 7,
        handle: () => new Promise((resolve) => setTimeout(resolve, Math.random() * 60)),
      });
    const members = [member()];
    await members[0]!.source.start();
    const highest = new Map<number, number>();
    const rewinds: string[] = [];
    const look = async (): Promise<void> => {
      for (const [partition, offset] of await committedOffsets(brokers, groupId, topic)) {
        const before = highest.get(partition) ?? -1;
        if (offset < before) rewinds.push(`${partition}: ${before} -> ${offset}`);
        highest.set(partition, offset);
      }
    };
    const sent: string[] = [];
    for (let round = 0; round < 12; round += 1) {
      const values = Array.from({ length: 60 }, (_, index) => `${round}-${index}`);
      sent.push(...values);
      await produce(
        brokers,
        topic,
        values.map((value, index) => ({ value, partition: index % partitions.length })),
      );
      if (round % 3 === 1) {
        members.push(member());
        await members.at(-1)!.source.start();
      }
      if (round % 4 === 3) await members[round === 3 ? 0 : 1]!.source.stop();
      await look();
    }
    const end = (sent.length / partitions.length) as number;
    await until('every commit', async () => {
      await look();
      return partitions.every((partition) => highest.get(partition) === end);
    });
    expect(rewinds).toEqual([]);
    const seen = new Set(members.flatMap(({ records }) => texts(records)));
    expect(seen).toEqual(new Set(sent));
  });
});
