import { describe, expect, it } from 'vitest';
import { fetchRecords } from '../../../../collector/sources/kafka/fetch-records.ts';
import type { KafkaRecord } from '../../../../schemas/kafka.ts';
import { useKafka } from '../../../support/kafka-broker.ts';
import { createTopic, produce, uniqueName, withAdmin } from '../../../support/kafka-topics.ts';

const kafka = await useKafka();

describe.skipIf(!kafka.available)('records that are read again from their places', () => {
  const brokers = kafka.available ? kafka.brokers : [];

  async function read(places: readonly { topic: string; partition: number; offset: number }[]) {
    const records: KafkaRecord[] = [];
    const { gone } = await fetchRecords({
      brokers,
      places,
      groupPrefix: uniqueName('redrive'),
      idleTimeoutMs: 15_000,
      handle: async (some) => void records.push(...some),
    });
    const found = records.map(
      ({ topic, partition, offset, value }) =>
        `${topic}/${partition}@${offset} ${Buffer.from(value ?? []).toString()}`,
    );
    return { found: found.toSorted(), gone };
  }

  it('are the ones asked for, of several topics and partitions, and no others', async () => {
    const one = await createTopic(brokers, uniqueName('one'), { partitions: 2 });
    const two = await createTopic(brokers, uniqueName('two'));
    for (const partition of [0, 1]) {
      await produce(
        brokers,
        one,
        Array.from({ length: 500 }, (_, i) => ({ value: `${partition}.${i}`, partition })),
      );
    }
    await produce(brokers, two, [{ value: 'a' }, { value: 'b' }]);
    const { found, gone } = await read([
      { topic: one, partition: 0, offset: 499 },
      { topic: one, partition: 0, offset: 3 },
      { topic: one, partition: 0, offset: 3 },
      { topic: one, partition: 1, offset: 250 },
      { topic: two, partition: 0, offset: 1 },
    ]);
    expect(found).toEqual(
      [`${one}/0@3 0.3`, `${one}/0@499 0.499`, `${one}/1@250 1.250`, `${two}/0@1 b`].toSorted(),
    );
    expect(gone).toEqual([]);
  });

  it('are distinguished from those that retention took, that never were, and whose topic is no more', async () => {
    const topic = await createTopic(brokers, uniqueName('short'));
    await produce(brokers, topic, [{ value: 'a' }, { value: 'b' }, { value: 'c' }]);
    await withAdmin(brokers, async (admin) => {
      await admin.fetchTopicOffsets(topic);
      await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '2' }] });
    });
    const missing = uniqueName('never');
    const { found, gone } = await read([
      { topic, partition: 0, offset: 0 },
      { topic, partition: 0, offset: 2 },
      { topic, partition: 0, offset: 3 },
      { topic: missing, partition: 0, offset: 0 },
    ]);
    expect(found).toEqual([`${topic}/0@2 c`]);
    expect(gone).toEqual([
      { topic, partition: 0, offset: 0 },
      { topic, partition: 0, offset: 3 },
      { topic: missing, partition: 0, offset: 0 },
    ]);
  });

  it('are not taken for gone while the ones before them are being handled', async () => {
    const topic = await createTopic(brokers, uniqueName('slow'), { partitions: 2 });
    await produce(
      brokers,
      topic,
      [0, 1].map((partition) => ({ value: `${partition}`, partition })),
    );
    const idleTimeoutMs = 5000;
    const handled: number[] = [];
    const { gone } = await fetchRecords({
      brokers,
      places: [0, 1].map((partition) => ({ topic, partition, offset: 0 })),
      groupPrefix: uniqueName('redrive'),
      idleTimeoutMs,
      async handle(records) {
        // As when the store is away for a while: longer than either side waits in silence.
        if (handled.length === 0) await new Promise((resolve) => setTimeout(resolve, 3 * idleTimeoutMs));
        for (const { partition } of records) handled.push(partition);
      },
    });
    expect(gone).toEqual([]);
    expect(handled.toSorted()).toEqual([0, 1]);
  });

  it('are given up with the reason, and nothing else, when the brokers take longer than they may', async () => {
    const topic = await createTopic(brokers, uniqueName('late'));
    await produce(brokers, topic, [{ value: 'a' }]);
    const reading = fetchRecords({
      brokers,
      places: [{ topic, partition: 0, offset: 0 }],
      groupPrefix: uniqueName('redrive'),
      idleTimeoutMs: 1,
      handle: async () => undefined,
    });
    await expect(reading).rejects.toMatchObject({ code: 'kafka_timeout' });
  });

  it('change no position of any group, and leave none behind', async () => {
    const topic = await createTopic(brokers, uniqueName('still'));
    await produce(brokers, topic, [{ value: 'a' }]);
    const before = await groups();
    await read([{ topic, partition: 0, offset: 0 }]);
    expect(
      (await groups()).filter((group) => !before.includes(group) && group.startsWith('redrive')),
    ).toEqual([]);
  });

  const groups = async () =>
    (await withAdmin(brokers, (admin) => admin.listGroups())).groups.map((group) => group.groupId);
});

it('cannot be read from a broker that is away, which is said', async () => {
  const reading = fetchRecords({
    brokers: ['127.0.0.1:1'],
    places: [{ topic: 't', partition: 0, offset: 0 }],
    groupPrefix: 'redrive',
    handle: async () => undefined,
  });
  await expect(reading).rejects.toMatchObject({ code: 'kafka_unreachable' });
});
