import type { Admin, Kafka } from 'kafkajs';
import { GatewatchError } from '../../../schemas/errors.ts';
import type { Progress } from './progress.ts';

export interface TopicWatchOptions {
  kafka: Kafka;
  groupId: string;
  topics: readonly string[];
  fromBeginning: boolean;
  createTopics: { partitions: number } | undefined;
  onTopicsCreated(topics: readonly string[]): void;
  /** How many partitions a topic has. */
  onPartitions(topic: string, count: number): void;
}

export interface LostRecords {
  topic: string;
  partition: number;
  expected: string;
  actual: string;
  missing: number | null;
}

/** What the broker says of itself, asked on a connection apart from the consumer's, which may be stuck. */
export interface TopicWatch {
  /** Creates missing topics if asked to, and says which exist. Throws when the broker does not answer. */
  topics(): Promise<{ present: string[]; missing: string[] }>;
  /** Records that the group has not read and never can: the log now begins behind its committed offset. */
  lostRecords(topics: readonly string[]): Promise<LostRecords[]>;
  /** Makes the group begin at the oldest records. Throws while it has members. */
  rewind(topics: readonly string[]): Promise<void>;
  /** Brings watermarks, and positions where none is known, up to date. */
  refresh(progress: Progress, topics: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export function createTopicWatch(options: TopicWatchOptions): TopicWatch {
  let admin: Admin | undefined;

  /** A connection that failed is thrown away: kafkajs does not reliably bring one back. */
  async function use<T>(work: (admin: Admin) => Promise<T>): Promise<T> {
    const current = (admin ??= options.kafka.admin());
    try {
      await current.connect();
      return await work(current);
    } catch (error) {
      if (admin === current) admin = undefined;
      void current.disconnect().catch(() => undefined);
      throw error;
    }
  }

  async function committed(
    topics: readonly string[],
  ): Promise<Map<string, { partition: number; offset: string }[]>> {
    const offsets = await use((admin) =>
      admin.fetchOffsets({ groupId: options.groupId, topics: [...topics] }),
    );
    return new Map(offsets.map(({ topic, partitions }) => [topic, partitions]));
  }

  async function logOf(topic: string) {
    const log = await use((admin) => admin.fetchTopicOffsets(topic));
    options.onPartitions(topic, log.length);
    return log;
  }

  return {
    async topics() {
      const existing = new Set(await use((admin) => admin.listTopics()));
      const missing = options.topics.filter((topic) => !existing.has(topic));
      if (missing.length > 0 && options.createTopics !== undefined) {
        await create(missing, options.createTopics.partitions);
        options.onTopicsCreated(missing);
        return { present: [...options.topics], missing: [] };
      }
      return { present: options.topics.filter((topic) => existing.has(topic)), missing };
    },
    async lostRecords(topics) {
      const lost: LostRecords[] = [];
      const groupOffsets = await committed(topics);
      for (const topic of topics) {
        const log = await logOf(topic);
        for (const { partition, offset } of groupOffsets.get(topic) ?? []) {
          const found = log.find((one) => one.partition === partition);
          const expected = BigInt(offset);
          if (found === undefined || expected < 0n) continue;
          const low = BigInt(found.low);
          const place = { topic, partition, expected: offset, actual: found.low };
          if (low > expected) lost.push({ ...place, missing: Number(low - expected) });
          else if (BigInt(found.high) < expected) lost.push({ ...place, missing: null });
        }
      }
      return lost;
    },
    async rewind(topics) {
      for (const topic of topics)
        await use((admin) => admin.resetOffsets({ groupId: options.groupId, topic, earliest: true }));
    },
    async refresh(progress, topics) {
      const unknown = progress.status().some(({ position }) => position === null);
      const groupOffsets = unknown ? await committed(topics) : undefined;
      for (const topic of topics) {
        const log = await logOf(topic);
        for (const { partition, low, high } of log) {
          const offset = groupOffsets?.get(topic)?.find((one) => one.partition === partition)?.offset;
          const start = options.fromBeginning ? low : high;
          if (groupOffsets !== undefined) {
            progress.begin(topic, partition, offset === undefined || BigInt(offset) < 0n ? start : offset);
          }
          progress.watermark(topic, partition, high);
        }
      }
    },
    async close() {
      await admin?.disconnect().catch(() => undefined);
      admin = undefined;
    },
  };

  async function create(topics: readonly string[], numPartitions: number): Promise<void> {
    await use(async (admin) => {
      try {
        await admin.createTopics({
          topics: topics.map((topic) => ({ topic, numPartitions })),
          waitForLeaders: true,
        });
      } catch (error) {
        // Another collector may have been faster.
        const existing = new Set(await admin.listTopics());
        if (!topics.every((topic) => existing.has(topic))) throw error;
      }
    });
  }
}

/** Names the topics and what to do about them. */
export function missingTopicsError(topics: readonly string[], brokers: readonly string[]): GatewatchError {
  const names = topics.map((topic) => `"${topic}"`).join(', ');
  const message =
    `Kafka at ${brokers.join(', ')} has no topic ${names}, or this user may not see it: ` +
    'create it (kafka-topics.sh --create --topic NAME), or let the collector create it.';
  return new GatewatchError(message, { code: 'kafka_topic_missing', retryable: true });
}
