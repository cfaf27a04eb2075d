import type { Consumer, Kafka } from 'kafkajs';
import { settlesWithin } from '../../../schemas/deadline.ts';
import { type BatchContext, following, handleBatch } from './handle-batch.ts';
import { createPausedPartitions, type PausedPartitions } from './paused-partitions.ts';
import { createMembership, partitionKey, type Membership } from './membership.ts';
import type { KafkaRecord } from '../../../schemas/kafka.ts';
import type { HandleContext, KafkaEvent, ReadAgain } from './port.ts';
import type { Assignment, Progress } from './progress.ts';

export interface SessionOptions {
  kafka: Kafka;
  brokers: readonly string[];
  groupId: string;
  topics: readonly string[];
  handle(records: readonly KafkaRecord[], context: HandleContext): Promise<void>;
  emit(event: KafkaEvent): void;
  progress: Progress;
  sessionTimeoutMs: number;
  rebalanceTimeoutMs: number;
  maxBytesPerPartition: number;
  maxRecordsPerHandle: number;
  partitionsConcurrency: number;
  fromBeginning: boolean;
  /** Where reading begins in spite of what the group has committed. */
  readAgain: readonly ReadAgain[];
  retryDelayMs(attempt: number): number;
  /** The broker answered something. */
  onContact(): void;
  /** The group counts this member, as of when that request was sent (wall clock). */
  onConfirmed(sentWallMs: number): void;
  onState(state: 'joining' | 'stable' | 'rebalancing'): void;
}

export type SessionEnd =
  { reason: 'stopped' } | { reason: 'crashed'; error: unknown } | { reason: 'fatal'; error: Error };

export interface Session {
  /** Resolves when this member of the group is at its end, whatever the reason. Never rejects. */
  run(): Promise<SessionEnd>;
  /** Waits for running handlers up to `timeoutMs`, then gives up on them. True when none was given up. */
  stop(timeoutMs: number): Promise<boolean>;
}

/**
 * Partitions that may bring all they can at once. kafkajs handles a fetch to its end before it begins the
 * next of that broker, and the store stands still in between: with its own limit of 10 MB, a fifth of the
 * time.
 */
const FETCHED_PARTITIONS = 6;

/** How long kafkajs may take to leave the group once no handler runs. */
const LEAVE_TIMEOUT_MS = 2000;

/**
 * The life of one kafkajs consumer: from joining the group until it stops, crashes, or a handler fails for
 * good.
 */
export function createSession(options: SessionOptions): Session {
  const membership = createMembership();
  const paused = createPausedPartitions();
  const giveUp = new AbortController();
  /** The first one counts. */
  const ended = Promise.withResolvers<SessionEnd>();
  let closing = false;
  const heartbeatMs = Math.max(200, Math.floor(options.sessionTimeoutMs / 4));
  const consumer = createConsumer(options, heartbeatMs);
  observe(consumer, { options, membership, paused, end: ended.resolve });
  const context: BatchContext = {
    ...options,
    keepAliveLimits: { heartbeatMs, rebalanceGraceMs: options.rebalanceTimeoutMs / 2, giveUp: giveUp.signal },
    membership,
    paused,
    abandoned: new Map(),
    isClosing: () => closing,
    fail(error) {
      closing = true;
      membership.leave();
      ended.resolve({ reason: 'fatal', error: error instanceof Error ? error : new Error(String(error)) });
    },
  };

  return {
    async run() {
      try {
        options.onState('joining');
        await consumer.connect();
        await consumer.subscribe({ topics: [...options.topics], fromBeginning: options.fromBeginning });
        if (closing) return await ended.promise;
        await consumer.run({
          autoCommit: false,
          eachBatchAutoResolve: false,
          partitionsConsumedConcurrently: options.partitionsConcurrency,
          eachBatch: (payload) => handleBatch(payload, context),
        });
      } catch (error) {
        ended.resolve({ reason: 'crashed', error });
      }
      return ended.promise;
    },
    async stop(timeoutMs) {
      closing = true;
      const left = consumer.disconnect().catch(() => undefined);
      const clean = await settlesWithin(left, timeoutMs);
      if (!clean) {
        giveUp.abort();
        membership.leave();
        await settlesWithin(left, LEAVE_TIMEOUT_MS);
      }
      paused.stop();
      ended.resolve({ reason: 'stopped' });
      return clean;
    },
  };
}

function createConsumer(options: SessionOptions, heartbeatMs: number): Consumer {
  return options.kafka.consumer({
    groupId: options.groupId,
    sessionTimeout: options.sessionTimeoutMs,
    rebalanceTimeout: options.rebalanceTimeoutMs,
    heartbeatInterval: heartbeatMs,
    maxBytesPerPartition: options.maxBytesPerPartition,
    maxBytes: FETCHED_PARTITIONS * options.maxBytesPerPartition,
    // Also how often a member whose partitions are all paused wakes up to heartbeat.
    maxWaitTimeInMs: Math.min(1000, heartbeatMs),
    allowAutoTopicCreation: false,
    metadataMaxAge: 60_000,
    // This product restarts consumers itself: kafkajs' own restart keeps what broke.
    retry: { initialRetryTime: 200, maxRetryTime: 3000, retries: 5, restartOnFailure: async () => false },
  });
}

/** What the events of a consumer change. */
interface SessionParts {
  readonly options: Pick<
    SessionOptions,
    'emit' | 'progress' | 'readAgain' | 'onContact' | 'onConfirmed' | 'onState'
  >;
  readonly membership: Membership;
  readonly paused: PausedPartitions;
  readonly end: (end: SessionEnd) => void;
}

function observe({ on, events, seek }: Consumer, parts: SessionParts): void {
  const { options, membership, end } = parts;
  /** Not committed yet: every join begins there again. */
  const readAgain = new Map(options.readAgain.map((one) => [partitionKey(one.topic, one.partition), one]));
  // An answer that lay in the socket while this process stood still says what held when it was asked for.
  let askedGroupAt = 0;
  on(events.REQUEST, ({ payload }) => {
    options.onContact();
    if (payload.apiName === 'Heartbeat' || payload.apiName === 'SyncGroup') askedGroupAt = payload.sentAt;
    // The answer to a join comes before kafkajs takes up the new generation: from here on no old ticket is
    // good.
    if (payload.apiName === 'JoinGroup') membership.leave();
  });
  on(events.REBALANCING, () => {
    membership.leave();
    options.onState('rebalancing');
    options.emit({ type: 'rebalance' });
  });
  on(events.HEARTBEAT, () => options.onConfirmed(askedGroupAt));
  on(events.GROUP_JOIN, ({ payload }) => {
    options.onConfirmed(askedGroupAt);
    joined(payload.memberId, payload.memberAssignment, parts);
    for (const [key, { topic, partition, from }] of readAgain) {
      // Those of other members are for them to read again.
      if (!membership.owns(topic, partition)) readAgain.delete(key);
      else {
        options.progress.begin(topic, partition, from);
        seek({ topic, partition, offset: from });
      }
    }
  });
  on(events.COMMIT_OFFSETS, ({ payload }) => {
    for (const { topic, partitions } of payload.topics)
      for (const { partition } of partitions) readAgain.delete(partitionKey(topic, Number(partition)));
  });
  on(events.END_BATCH_PROCESS, ({ payload }) => {
    const { topic, partition, batchSize, lastOffset } = payload;
    // Only control records or aborted transactions: kafkajs moves on without asking us.
    if (batchSize === 0 && lastOffset !== null)
      options.progress.advance(topic, partition, following(lastOffset));
  });
  on(events.CRASH, ({ payload }) => {
    membership.leave();
    end({ reason: 'crashed', error: payload.error });
  });
}

type JoinedParts = Pick<SessionParts, 'membership' | 'paused'> & {
  readonly options: Pick<SessionOptions, 'emit' | 'progress' | 'onState'>;
};

/** The group gave this member partitions: those that stay keep their pauses. */
export function joined(
  memberId: string,
  assignment: Assignment,
  { options: { progress, emit, onState }, membership, paused }: JoinedParts,
): void {
  membership.joined(assignment);
  progress.assign(assignment);
  paused.retain((topic, partition) => membership.owns(topic, partition));
  for (const { topic, partition } of progress.status()) {
    progress.pause(topic, partition, paused.isPaused(topic, partition));
  }
  onState('stable');
  emit({ type: 'group_join', memberId, generation: membership.generation(), assignment });
}
