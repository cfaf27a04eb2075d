import type { IHeaders } from 'kafkajs';
import { testClient, uniqueName, withAdmin } from '../../support/kafka-topics.ts';

export interface TopicRecord {
  readonly partition: number;
  readonly offset: string;
  readonly value: Buffer | null;
  readonly headers: IHeaders;
}

/** Every record that a topic holds now. */
export async function readTopic(brokers: readonly string[], topic: string): Promise<TopicRecord[]> {
  const ends = await withAdmin(brokers, (admin) => admin.fetchTopicOffsets(topic));
  const wanted = ends.reduce((sum, { high, low }) => sum + Number(high) - Number(low), 0);
  const records: TopicRecord[] = [];
  if (wanted === 0) return records;
  const consumer = testClient(brokers).consumer({ groupId: uniqueName('reads-it-all') });
  const { promise: complete, resolve } = Promise.withResolvers<void>();
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await consumer.run({
    async eachMessage({ partition, message }) {
      records.push({
        partition,
        offset: message.offset,
        value: message.value,
        headers: message.headers ?? {},
      });
      if (records.length >= wanted) resolve();
    },
  });
  await complete;
  await consumer.disconnect();
  return records;
}
