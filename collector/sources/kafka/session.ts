import type { Batch, Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import { settlesWithin } from '../../../schemas/deadline.ts';
import { isRetryable } from '../../../schemas/errors.ts';
import { commitOffset } from './commit.ts';
import { gapsInside } from './gaps.ts';
import { createHoldBack } from './hold-back.ts';
import { keepAlive, type Outcome } from './keep-alive.ts';
import { createMembership, partitionKey, type Ticket } from './membership.ts';
import type { KafkaRecord } from '../../../schemas/kafka.ts';
import type { HandleContext, KafkaEvent } from './port.ts';
import type { Progress } from './progress.ts';
import { toRecord } from './record.ts';

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
  retryDelayMs(attempt: number): number;
  /** The broker answered something. */
  onContact(): void;
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

/** How long kafkajs may take to leave the group once no handler runs. */
const LEAVE_TIMEOUT_MS = 2000;

/**
 * The life of one kafkajs consumer: from joining the group until it stops, crashes, or a handler fails for
 * good.
 */
export function createSession(options: SessionOptions): Session {
  const { emit, progress } = options;
  const membership = createMembership();
  /** Handlers that outlived their assignment, so that no partition is handled twice at once. */
  const abandoned = new Map<string, Promise<void>>();
  const holdBack = createHoldBack();
  const giveUp = new AbortController();
  const heartbeatMs = Math.max(200, Math.floor(options.sessionTimeoutMs / 4));
  const patience = { heartbeatMs, rebalanceGraceMs: options.rebalanceTimeoutMs / 2, giveUp: giveUp.signal };
  let end!: (end: SessionEnd) => void;
  const ended = new Promise<SessionEnd>((resolve) => (end = resolve));
  let closing = false;

  const consumer = options.kafka.consumer({
    groupId: options.groupId,
    sessionTimeout: options.sessionTimeoutMs,
    rebalanceTimeout: options.rebalanceTimeoutMs,
    heartbeatInterval: heartbeatMs,
    maxBytesPerPartition: options.maxBytesPerPartition,
    // Also how often a member whose partitions are all paused wakes up to heartbeat.
    maxWaitTimeInMs: Math.min(1000, heartbeatMs),
    allowAutoTopicCreation: false,
    metadataMaxAge: 60_000,
    // This product restarts consumers itself: kafkajs' own restart keeps what broke.
    retry: { initialRetryTime: 200, maxRetryTime: 3000, retries: 5, restartOnFailure: async () => false },
  });
  observe(consumer);

  return {
    async run() {
      try {
        options.onState('joining');
        await consumer.connect();
        await consumer.subscribe({ topics: [...options.topics], fromBeginning: options.fromBeginning });
        if (closing) return await ended;
        await consumer.run({
          autoCommit: false,
          eachBatchAutoResolve: false,
          partitionsConsumedConcurrently: options.partitionsConcurrency,
          eachBatch,
        });
      } catch (error) {
        end({ reason: 'crashed', error });
      }
      return ended;
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
      holdBack.stop();
      end({ reason: 'stopped' });
      return clean;
    },
  };

  function observe({ on, events }: Consumer): void {
    on(events.REQUEST, ({ payload }) => {
      options.onContact();
      // The answer to a join comes before kafkajs takes up the new generation: from here on no old ticket is
      // good.
      if (payload.apiName === 'JoinGroup') membership.leave();
    });
    on(events.REBALANCING, () => {
      membership.leave();
      options.onState('rebalancing');
      emit({ type: 'rebalance' });
    });
    on(events.GROUP_JOIN, ({ payload }) => {
      const assignment = payload.memberAssignment;
      membership.joined(assignment);
      progress.assign(assignment);
      holdBack.retain((topic, partition) => membership.owns(topic, partition));
      for (const { topic, partition } of progress.status()) {
        progress.pause(topic, partition, holdBack.isWaiting(topic, partition));
      }
      options.onState('stable');
      emit({
        type: 'group_join',
        memberId: payload.memberId,
        generation: membership.generation(),
        assignment,
      });
    });
    on(events.END_BATCH_PROCESS, ({ payload }) => {
      const { topic, partition, batchSize, lastOffset } = payload;
      // Only control records or aborted transactions: kafkajs moves on without asking us.
      if (batchSize === 0 && lastOffset !== null) progress.advance(topic, partition, following(lastOffset));
    });
    on(events.CRASH, ({ payload }) => {
      membership.leave();
      end({ reason: 'crashed', error: payload.error });
    });
  }

  async function eachBatch(payload: EachBatchPayload): Promise<void> {
    const { batch } = payload;
    const { topic, partition } = batch;
    const key = partitionKey(topic, partition);
    const ticket = membership.ticket(topic, partition);
    if (ticket === null || closing) return;

    const earlier = abandoned.get(key);
    if (earlier !== undefined) {
      const waited = await keepAlive(earlier, payload.heartbeat, ticket, patience);
      if (waited.kind === 'lost') return rejoin(waited.error);
    }

    progress.watermark(topic, partition, batch.highWatermark);
    reportGaps(batch);
    for (let from = 0; from < batch.messages.length; from += options.maxRecordsPerHandle) {
      if (closing || !payload.isRunning() || payload.isStale() || !ticket.isCurrent()) return;
      const slice = batch.messages.slice(from, from + options.maxRecordsPerHandle);
      const records = slice.map((message) => toRecord(topic, partition, message));
      const [first, last] = [records[0], records.at(-1)];
      if (first === undefined || last === undefined) return;
      const isEnd = from + slice.length === batch.messages.length;
      // Behind the last message of a batch may come control records, which need no handling.
      const next = following(isEnd ? batch.lastOffset() : last.offset);

      const outcome = await offer(records, payload, ticket);
      if (outcome.kind === 'done') {
        holdBack.clear(topic, partition);
        progress.advance(topic, partition, next);
        payload.resolveOffset(last.offset);
        await commitOffset(payload, ticket, next, { emit, brokers: options.brokers });
      } else if (outcome.kind === 'failed') {
        if (isRetryable(outcome.error)) return wait(payload, first.offset, outcome.error as Error);
        return fail(outcome.error);
      } else {
        emit({ type: 'assignment_lost', topic, partition, offset: first.offset });
        return rejoin(outcome.error);
      }
    }
  }

  /**
   * Runs the handler while keeping the membership alive; it is abandoned when its outcome cannot count any
   * more.
   */
  async function offer(
    records: readonly KafkaRecord[],
    payload: EachBatchPayload,
    ticket: Ticket,
  ): Promise<Outcome> {
    const { topic, partition } = payload.batch;
    const abort = new AbortController();
    const work = (async () => options.handle(records, { signal: abort.signal, topic, partition }))();
    const outcome = await keepAlive(work, payload.heartbeat, ticket, patience);
    if (outcome.kind === 'lost') {
      abort.abort();
      const key = partitionKey(topic, partition);
      const over = work.catch(() => undefined).finally(() => abandoned.delete(key));
      abandoned.set(key, over);
    }
    return outcome;
  }

  /**
   * The store is down: stop fetching this partition for a while, heartbeats go on, and offer the same again.
   */
  function wait(payload: EachBatchPayload, offset: string, error: Error): void {
    const { topic, partition } = payload.batch;
    const resume = payload.pause();
    const unpause = (): void => {
      progress.pause(topic, partition, false);
      resume();
      emit({ type: 'resumed', topic, partition });
    };
    const hold = holdBack.hold(topic, partition, unpause, options.retryDelayMs);
    progress.pause(topic, partition, true);
    emit({ type: 'paused', topic, partition, offset, error, ...hold });
  }

  function fail(error: unknown): void {
    closing = true;
    membership.leave();
    end({ reason: 'fatal', error: error instanceof Error ? error : new Error(String(error)) });
  }

  function reportGaps(batch: Batch): void {
    const { topic, partition } = batch;
    const first = batch.firstOffset();
    if (first === null) return;
    const gap = progress.arrive(topic, partition, first);
    if (gap !== null) emit({ type: 'offset_gap', topic, partition, ...gap });
    for (const within of gapsInside(batch)) emit({ type: 'offset_gap', topic, partition, ...within });
  }
}

/** kafkajs joins again when it sees the error that says so; without one there is nothing to tell it. */
function rejoin(error: unknown): void {
  if (error !== undefined) throw error;
}

function following(offset: string): string {
  return (BigInt(offset) + 1n).toString();
}
