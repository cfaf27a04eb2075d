import { randomUUID } from 'node:crypto';
import type { Consumer, EachBatchPayload } from 'kafkajs';
import { settlesWithin } from '../../../schemas/deadline.ts';
import { GatewatchError } from '../../../schemas/errors.ts';
import { createClient } from './client.ts';
import { describeFailure } from './failure.ts';
import { partitionKey } from './membership.ts';
import type { KafkaRecord } from '../../../schemas/kafka.ts';
import type { KafkaConnectionOptions } from './port.ts';
import { toRecord } from './record.ts';

/** Where one record lies. */
export interface RecordPlace {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

export interface FetchRecordsOptions extends KafkaConnectionOptions {
  readonly places: readonly RecordPlace[];
  /** Prefix of the temporary group that the reader joins, for brokers that allow only certain groups. */
  readonly groupPrefix: string;
  /** Called with records of one partition in offset order; the next ones are read when it has resolved. */
  handle(records: readonly KafkaRecord[]): Promise<void>;
  /** After so long without an answer about any place that is left, they are given up. @default 30000 */
  readonly idleTimeoutMs?: number;
}

/** The outcome of reading records again. */
export interface FetchedRecords {
  /** No longer on the broker: removed by retention, compaction or with their topic. */
  readonly gone: readonly RecordPlace[];
}

const SESSION_MS = 10_000;
const HEARTBEAT_MS = 2_500;

/** Offsets that are still wanted, in order, by partition. */
type Wanted = Map<string, { topic: string; partition: number; offsets: number[] }>;

/**
 * Reads single records again by topic, partition and offset. Commits nothing: no group's position changes.
 * @throws GatewatchError when the brokers do not answer
 */
export async function fetchRecords(options: FetchRecordsOptions): Promise<FetchedRecords> {
  const kafka = createClient({
    ...options,
    retry: { initialRetryTime: 200, maxRetryTime: 2000, retries: 5 },
  });
  const gone: RecordPlace[] = [];
  const admin = kafka.admin();
  try {
    await admin.connect();
    const wanted = groupPlaces(options.places);
    for (const topic of new Set([...wanted.values()].map((one) => one.topic))) {
      const ranges = await readRanges(admin, topic);
      for (const [key, { topic: of, partition, offsets }] of wanted) {
        if (of !== topic) continue;
        const { low, high } = ranges.get(partition) ?? { low: 0, high: 0 };
        const there = offsets.filter((offset) => offset >= low && offset < high);
        const lost = offsets.filter((offset) => offset < low || offset >= high);
        gone.push(...lost.map((offset) => ({ topic, partition, offset })));
        if (there.length === 0) wanted.delete(key);
        else wanted.set(key, { topic, partition, offsets: there });
      }
    }
    if (wanted.size > 0) {
      const groupId = `${options.groupPrefix}-${randomUUID().slice(0, 8)}`;
      await readWanted(kafka, groupId, wanted, options, gone);
      // Brokers drop an empty group after a while anyway; not every user is allowed to.
      await settlesWithin(admin.deleteGroups([groupId]), 2000);
    }
    return { gone };
  } catch (error) {
    throw describeFailure(error, options.brokers);
  } finally {
    await settlesWithin(admin.disconnect(), 1000);
  }
}

function groupPlaces(places: readonly RecordPlace[]): Wanted {
  const wanted: Wanted = new Map();
  for (const { topic, partition, offset } of places) {
    const key = partitionKey(topic, partition);
    const entry = wanted.get(key) ?? { topic, partition, offsets: [] };
    if (!entry.offsets.includes(offset)) entry.offsets.push(offset);
    wanted.set(key, entry);
  }
  for (const { offsets } of wanted.values()) offsets.sort((a, b) => a - b);
  return wanted;
}

type KafkaClient = ReturnType<typeof createClient>;

async function readRanges(
  admin: ReturnType<KafkaClient['admin']>,
  topic: string,
): Promise<Map<number, { low: number; high: number }>> {
  if (!(await admin.listTopics()).includes(topic)) return new Map();
  const offsets = await admin.fetchTopicOffsets(topic);
  return new Map(
    offsets.map(({ partition, low, high }) => [partition, { low: Number(low), high: Number(high) }]),
  );
}

const NO_ANSWER =
  'Kafka lets this reader join no group, or gives it no records: check the brokers and their ACLs.';

/** kafkajs reads partitions only as a member of a group: a temporary one is used. */
async function readWanted(
  kafka: KafkaClient,
  groupId: string,
  wanted: Wanted,
  options: FetchRecordsOptions,
  gone: RecordPlace[],
): Promise<void> {
  const consumer = kafka.consumer({
    groupId,
    allowAutoTopicCreation: false,
    maxWaitTimeInMs: 500,
    sessionTimeout: SESSION_MS,
    heartbeatInterval: HEARTBEAT_MS,
    retry: { initialRetryTime: 200, maxRetryTime: 2000, retries: 5, restartOnFailure: async () => false },
  });
  const { promise: ended, resolve: end, reject: fail } = Promise.withResolvers<void>();
  // It may reject before anything awaits it.
  ended.catch(() => undefined);
  let answers = 0;
  const idle = idleTimer(options.idleTimeoutMs ?? 30_000, () =>
    answers > 0 ? end() : fail(new GatewatchError(NO_ANSWER, { code: 'kafka_timeout', retryable: true })),
  );
  consumer.on(consumer.events.FETCH, () => (answers += 1));
  consumer.on(consumer.events.CRASH, ({ payload }) => fail(payload.error));
  try {
    await consumer.connect();
    await consumer.subscribe({ topics: distinctTopics(wanted), fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: async (payload) => {
        try {
          if (await takeBatch(payload, consumer, wanted, options, gone, idle)) idle.reset();
          if (wanted.size === 0) end();
        } catch (error) {
          fail(error);
        }
      },
    });
    for (const { topic, partition, offsets } of wanted.values()) {
      consumer.seek({ topic, partition, offset: String(offsets[0] ?? 0) });
    }
    await ended;
    // Fetched without a record: the last offsets of a compacted partition hold none.
    for (const { topic, partition, offsets } of wanted.values()) {
      gone.push(...offsets.map((offset) => ({ topic, partition, offset })));
    }
  } finally {
    idle.stop();
    await settlesWithin(consumer.disconnect(), 5000);
  }
}

/**
 * Hands over what is wanted of a batch, and goes on to the next place. True when a wanted place was passed.
 */
async function takeBatch(
  payload: EachBatchPayload,
  consumer: Consumer,
  wanted: Wanted,
  options: FetchRecordsOptions,
  gone: RecordPlace[],
  idle: IdleTimer,
): Promise<boolean> {
  const { topic, partition, messages } = payload.batch;
  const key = partitionKey(topic, partition);
  const entry = wanted.get(key);
  const last = messages.at(-1);
  if (entry === undefined) {
    consumer.pause([{ topic, partitions: [partition] }]);
    return false;
  }
  if (last === undefined || payload.isStale()) return false;
  const passed = entry.offsets.filter((offset) => offset <= Number(last.offset));
  if (passed.length > 0) {
    const byOffset = new Map(messages.map((message) => [Number(message.offset), message]));
    const found = passed.flatMap((offset) => byOffset.get(offset) ?? []);
    gone.push(
      ...passed.filter((offset) => !byOffset.has(offset)).map((offset) => ({ topic, partition, offset })),
    );
    if (found.length > 0) {
      // A slow store must not count as silence of the brokers, and these expect heartbeats meanwhile.
      idle.stop();
      const beating = setInterval(() => void payload.heartbeat().catch(() => undefined), HEARTBEAT_MS);
      try {
        await options.handle(found.map((message) => toRecord(topic, partition, message)));
      } finally {
        clearInterval(beating);
      }
    }
    await payload.heartbeat();
  }
  const left = entry.offsets.slice(passed.length);
  payload.resolveOffset(last.offset);
  if (left[0] === undefined) {
    wanted.delete(key);
    consumer.pause([{ topic, partitions: [partition] }]);
  } else {
    wanted.set(key, { topic, partition, offsets: left });
    if (left[0] > Number(last.offset) + 1) consumer.seek({ topic, partition, offset: String(left[0]) });
  }
  return passed.length > 0;
}

function distinctTopics(wanted: Wanted): string[] {
  return [...new Set([...wanted.values()].map(({ topic }) => topic))];
}

interface IdleTimer {
  reset(): void;
  stop(): void;
}

function idleTimer(timeoutMs: number, onIdle: () => void): IdleTimer {
  let timer = setTimeout(onIdle, timeoutMs);
  return {
    reset() {
      clearTimeout(timer);
      timer = setTimeout(onIdle, timeoutMs);
    },
    stop: () => clearTimeout(timer),
  };
}
