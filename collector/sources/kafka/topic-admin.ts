import type { Admin, Kafka } from 'kafkajs';
import { GatewatchError } from '../../../schemas/errors.ts';
import { LAST_STABLE } from './kafkajs-patches.ts';
import type { KafkaSourceOptions, Place, ReadAgain, StoredEnd } from './port.ts';
import type { Progress } from './progress.ts';

export interface TopicAdminOptions {
  kafka: Kafka;
  groupId: string;
  topics: readonly string[];
  fromBeginning: boolean;
  createTopics: { partitions: number } | undefined;
  onTopicsCreated(topics: readonly string[]): void;
  /** How many partitions a topic has. */
  onPartitions(topic: string, count: number): void;
}

type StoredEnds = NonNullable<KafkaSourceOptions['storedEnds']>;

export interface LostRecords {
  topic: string;
  partition: number;
  expected: string;
  actual: string;
  missing: number | null;
}

/** Asks the broker about topics and offsets on a connection apart from the consumer's, which may be stuck. */
export interface TopicAdmin {
  /** Creates missing topics if asked to, and says which exist. Throws when the broker does not answer. */
  topics(): Promise<{ present: string[]; missing: string[] }>;
  /** Records that the group has not read and never can: the log now begins behind its committed offset. */
  lostRecords(topics: readonly string[]): Promise<LostRecords[]>;
  /** What the group has committed and the store does not know. */
  unstored(topics: readonly string[], storedEnds: StoredEnds): Promise<ReadAgain[]>;
  /** Brings watermarks, and positions where none is known, up to date. */
  refresh(progress: Progress, topics: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** What the group has committed, by partition; '-1': nothing. */
export interface CommittedOffset {
  readonly partition: number;
  readonly offset: string;
}

/** Where the log of a partition begins and ends. */
export interface LogRange {
  readonly partition: number;
  readonly low: string;
  readonly high: string;
  /** Where records begin whose transaction has not ended; `high` where there are none. */
  readonly stable: string;
}

/** Where the logs of a topic begin and end, committed or not. */
export async function fetchLog(admin: Admin, topic: string): Promise<LogRange[]> {
  const stable = await admin.fetchTopicOffsetsByTimestamp(topic, LAST_STABLE);
  const stableOf = new Map(stable.map(({ partition, offset }) => [partition, offset]));
  const ends = await admin.fetchTopicOffsets(topic);
  return ends.map(({ partition, low, high }) => ({
    partition,
    low,
    high,
    stable: stableOf.get(partition) ?? high,
  }));
}

export function createTopicAdmin(options: TopicAdminOptions): TopicAdmin {
  const { groupId } = options;
  const { use, close } = createConnection(options.kafka);
  const committed = (topics: readonly string[]) => use((admin) => fetchCommitted(admin, groupId, topics));
  const logOf = async (topic: string): Promise<LogRange[]> => {
    const log = await use((admin) => fetchLog(admin, topic));
    options.onPartitions(topic, log.length);
    return log;
  };

  return {
    async topics() {
      const existing = new Set(await use((admin) => admin.listTopics()));
      const missing = options.topics.filter((topic) => !existing.has(topic));
      if (missing.length > 0 && options.createTopics !== undefined) {
        const { partitions } = options.createTopics;
        await use((admin) => createTopics(admin, missing, partitions));
        options.onTopicsCreated(missing);
        return { present: [...options.topics], missing: [] };
      }
      return { present: options.topics.filter((topic) => existing.has(topic)), missing };
    },
    async lostRecords(topics) {
      const lost: LostRecords[] = [];
      const offsets = await committed(topics);
      for (const topic of topics) lost.push(...lostIn(topic, await logOf(topic), offsets.get(topic) ?? []));
      return lost;
    },
    async unstored(topics, storedEnds) {
      // The group's offsets first: a collector beside this one stores before it commits.
      const offsets = [...(await committed(topics))].flatMap(([topic, partitions]) =>
        partitions.filter(({ offset }) => BigInt(offset) > 0n).map((one) => ({ ...one, topic })),
      );
      if (offsets.length === 0) return [];
      const ends = await storedEnds(offsets);
      const found: ReadAgain[] = [];
      for (const topic of topics) {
        const here = offsets.filter((one) => one.topic === topic);
        found.push(...unstoredIn(await logOf(topic), here, ends, options.fromBeginning));
      }
      return found;
    },
    async refresh(progress, topics) {
      const isUnknown = progress.status().some(({ position }) => position === null);
      const offsets = isUnknown ? await committed(topics) : undefined;
      for (const topic of topics) {
        for (const range of await logOf(topic)) {
          const { partition } = range;
          if (offsets !== undefined) {
            const start = startOf(range, offsets.get(topic) ?? [], options.fromBeginning);
            progress.begin(topic, partition, start);
          }
          progress.watermark(topic, partition, range);
        }
      }
    },
    close,
  };
}

async function fetchCommitted(
  admin: Admin,
  groupId: string,
  topics: readonly string[],
): Promise<Map<string, CommittedOffset[]>> {
  const offsets = await admin.fetchOffsets({ groupId, topics: [...topics] });
  return new Map(offsets.map(({ topic, partitions }) => [topic, partitions]));
}

/** A connection that failed is thrown away: kafkajs does not reliably bring one back. */
function createConnection(kafka: Kafka) {
  let admin: Admin | undefined;
  return {
    async use<T>(work: (admin: Admin) => Promise<T>): Promise<T> {
      const current = (admin ??= kafka.admin());
      try {
        await current.connect();
        return await work(current);
      } catch (error) {
        if (admin === current) admin = undefined;
        void current.disconnect().catch(() => undefined);
        throw error;
      }
    },
    async close(): Promise<void> {
      await admin?.disconnect().catch(() => undefined);
      admin = undefined;
    },
  };
}

async function createTopics(admin: Admin, topics: readonly string[], numPartitions: number): Promise<void> {
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
}

/** Compares what the group has committed with what the log still holds. */
export function lostIn(
  topic: string,
  log: readonly LogRange[],
  committed: readonly CommittedOffset[],
): LostRecords[] {
  return committed.flatMap(({ partition, offset }): LostRecords[] => {
    const range = log.find((one) => one.partition === partition);
    const expected = BigInt(offset);
    if (range === undefined || expected < 0n) return [];
    const place = { topic, partition, expected: offset, actual: range.low };
    const low = BigInt(range.low);
    if (low > expected) return [{ ...place, missing: Number(low - expected) }];
    return BigInt(range.high) < expected ? [{ ...place, missing: null }] : [];
  });
}

/**
 * What lies between the end of what is stored and what was committed, as far as the log has it. A partition
 * of which nothing is stored is read again from its beginning, unless groups begin at new records.
 */
export function unstoredIn(
  log: readonly LogRange[],
  committed: readonly (Place & CommittedOffset)[],
  ends: readonly StoredEnd[],
  fromBeginning: boolean,
): ReadAgain[] {
  return committed.flatMap(({ topic, partition, offset }): ReadAgain[] => {
    const range = log.find((one) => one.partition === partition);
    const end = ends.find((one) => one.topic === topic && one.partition === partition);
    // Beyond its end: the topic was created anew, and the group begins it anyway.
    if (range === undefined || BigInt(offset) > BigInt(range.high)) return [];
    if (end === undefined && !fromBeginning) return [];
    const stored = BigInt(end?.next ?? 0);
    const low = BigInt(range.low);
    const from = stored > low ? stored : low;
    return from < BigInt(offset) ? [{ topic, partition, from: String(from), committed: offset }] : [];
  });
}

/** Where the group reads a partition on: at its committed offset, or where one without any begins. */
export function startOf(
  { partition, low, stable }: LogRange,
  committed: readonly CommittedOffset[],
  fromBeginning: boolean,
): string {
  const offset = committed.find((one) => one.partition === partition)?.offset;
  if (offset !== undefined && BigInt(offset) >= 0n) return offset;
  return fromBeginning ? low : stable;
}

/** Names the topics and what to do about them. */
export function missingTopicsError(topics: readonly string[], brokers: readonly string[]): GatewatchError {
  const names = topics.map((topic) => `"${topic}"`).join(', ');
  const message =
    `Kafka at ${brokers.join(', ')} has no topic ${names}, or this user may not see it: ` +
    'create it (kafka-topics.sh --create --topic NAME), or let the collector create it.';
  return new GatewatchError(message, { code: 'kafka_topic_missing', retryable: true });
}
