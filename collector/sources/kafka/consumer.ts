import { settlesWithin, sleep } from '../../../schemas/deadline.ts';
import type { GatewatchError } from '../../../schemas/errors.ts';
import { createClient } from './client.ts';
import { describeFailure } from './failure.ts';
import type { GroupState, KafkaSourceStatus } from '../../../schemas/kafka.ts';
import type { KafkaEvent, KafkaSource, KafkaSourceOptions } from './port.ts';
import { createProgress } from './progress.ts';
import { createRewind } from './rewind.ts';
import { createSession, type Session, type SessionEnd } from './session.ts';
import { createTopicWatch, missingTopicsError, type TopicWatch } from './watch.ts';

const MISSING_TOPIC_RETRY_MS = 3000;
const LONGEST_REFRESH_MS = 15_000;

/**
 * A member of a consumer group that hands over records and commits their offsets after they are durable,
 * never before (at least once). It survives what brokers do: absence at start, restarts, rebalances, missing
 * topics.
 */
export function createKafkaSource(options: KafkaSourceOptions): KafkaSource {
  const now = options.clock === undefined ? () => performance.now() : () => options.clock!.now();
  const stallTimeoutMs = options.stallTimeoutMs ?? 60_000;
  const sessionTimeoutMs = options.sessionTimeoutMs ?? 10_000;
  const rebalanceTimeoutMs = options.rebalanceTimeoutMs ?? 30_000;
  const fromBeginning = options.fromBeginning ?? true;
  const backoff = options.backoff ?? { initialMs: 500, maxMs: 15_000 };
  const progress = createProgress(now, stallTimeoutMs);
  const stopping = new AbortController();
  let session: Session | undefined;
  let running: Promise<void> | undefined;
  let groupState: GroupState = 'stopped';
  let stateSinceMs = now();
  let lastContactAtMs = Number.NEGATIVE_INFINITY;
  let missingTopics: readonly string[] = [];
  let fatal: Error | null = null;
  let lastError: GatewatchError | null = null;
  let saidStalled = false;
  const rewind = createRewind(options, sessionTimeoutMs, now, emit);
  /** Of the last join: until the next one, it is the best that is known. */
  let assigned: Readonly<Record<string, readonly number[]>> | null = null;
  const partitionCounts = new Map<string, number>();
  /**
   * Since when sessions crash, one after the other, although the broker answers and nothing was committed.
   */
  let crashingSinceMs: number | undefined;

  return {
    async start() {
      running ??= supervise();
    },
    async stop() {
      const timeoutMs = options.stopTimeoutMs ?? 10_000;
      stopping.abort();
      const clean = (await session?.stop(timeoutMs)) ?? true;
      if (running !== undefined) await settlesWithin(running, 2000);
      setState('stopped');
      emit({ type: 'stopped', clean });
    },
    status,
    assignment(topic) {
      const of = partitionCounts.get(topic);
      return assigned === null || of === undefined ? null : { partitions: assigned[topic] ?? [], of };
    },
  };

  /** One session after the other, until stopped or a handler fails for good. */
  async function supervise(): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted;) {
      setState('connecting');
      const kafka = createClient({
        ...options,
        retry: { initialRetryTime: 100, maxRetryTime: 1000, retries: 1 },
        onLog: (level, message) => emit({ type: 'client_log', level, message }),
      });
      const watch = createTopicWatch({
        kafka,
        groupId: options.groupId,
        topics: options.topics,
        fromBeginning,
        createTopics: options.createTopics,
        onTopicsCreated: (topics) => emit({ type: 'topic_created', topics }),
        onPartitions: (topic, count) => void partitionCounts.set(topic, count),
      });
      try {
        const topics = await prepare(watch);
        if (topics.length === 0) {
          await sleep(MISSING_TOPIC_RETRY_MS, stopping.signal);
          continue;
        }
        await rewind(watch, topics);
        if (stopping.signal.aborted) break;
        session = createSession({
          ...options,
          kafka,
          topics,
          emit,
          progress,
          sessionTimeoutMs,
          rebalanceTimeoutMs,
          fromBeginning,
          maxBytesPerPartition: options.maxBytesPerPartition ?? 1024 * 1024,
          maxRecordsPerHandle: options.maxRecordsPerHandle ?? 5000,
          partitionsConcurrency: options.partitionsConcurrency ?? 8,
          retryDelayMs: delayMs,
          onContact: contact,
          onState(state) {
            if (state === 'stable') failures = 0;
            setState(state);
          },
        });
        const end = await runWatched(session, watch, topics);
        progress.assign({});
        if (end.reason === 'fatal') {
          fatal = end.error;
          setState('failed');
          emit({ type: 'fatal', error: end.error });
          return;
        }
        if (end.reason === 'crashed') {
          failures += 1;
          crashingSinceMs ??= now();
          await retry('crash', end.error, failures);
        }
      } catch (error) {
        failures += 1;
        crashingSinceMs = undefined;
        await retry('unreachable', error, failures);
      } finally {
        session = undefined;
        await settlesWithin(watch.close(), 1000);
      }
    }
  }

  async function prepare(watch: TopicWatch): Promise<string[]> {
    const { present, missing } = await watch.topics();
    if (lastContactAtMs === Number.NEGATIVE_INFINITY || lastError !== null) {
      emit({ type: 'connected', brokers: options.brokers });
    }
    lastError = null;
    contact();
    missingTopics = missing;
    if (missing.length > 0) {
      const error = missingTopicsError(missing, options.brokers);
      lastError = error;
      emit({ type: 'topic_missing', topics: missing, error, retryInMs: MISSING_TOPIC_RETRY_MS });
    }
    for (const lost of await watch.lostRecords(present)) emit({ type: 'offset_gap', ...lost });
    return present;
  }

  /**
   * Runs a session, looking at the broker beside it: for lag, for stalls, and for topics that were missing.
   */
  async function runWatched(
    current: Session,
    watch: TopicWatch,
    topics: readonly string[],
  ): Promise<SessionEnd> {
    const over = new AbortController();
    const run = current.run().finally(() => over.abort());
    const look = async (): Promise<void> => {
      while (!over.signal.aborted) {
        const pauseMs = missingTopics.length > 0 ? MISSING_TOPIC_RETRY_MS : LONGEST_REFRESH_MS;
        await sleep(Math.min(pauseMs, stallTimeoutMs / 4), over.signal);
        if (over.signal.aborted) return;
        if (options.isStoreAway?.() === true) progress.excuse();
        try {
          await watch.refresh(progress, topics);
          contact();
          if (status().lag === 0) crashingSinceMs = undefined;
          if (missingTopics.length > 0 && (await watch.topics()).present.length > topics.length) {
            await current.stop(options.stopTimeoutMs ?? 10_000);
          }
        } catch (error) {
          lastError = describeFailure(error, options.brokers);
        }
        sayStalled();
      }
    };
    const looking = look();
    const end = await run;
    // kafkajs' consumer is done for, but a fatal end leaves it connected and in the group.
    if (end.reason !== 'stopped') await current.stop(options.stopTimeoutMs ?? 10_000);
    await settlesWithin(looking, 1000);
    return end;
  }

  async function retry(type: 'crash' | 'unreachable', cause: unknown, failures: number): Promise<void> {
    const error = describeFailure(cause, options.brokers);
    const retryInMs = delayMs(failures);
    lastError = error;
    if (error.code === 'kafka_unreachable') lastContactAtMs = Number.NEGATIVE_INFINITY;
    setState('connecting');
    emit({ type, error, retryInMs });
    sayStalled();
    await sleep(retryInMs, stopping.signal);
  }

  function status(): KafkaSourceStatus {
    const partitions = progress.status();
    const connected = now() - lastContactAtMs <= sessionTimeoutMs;
    // A broker that is away is no stall: a new process would find it away as well.
    const joinLimitMs = stallTimeoutMs + rebalanceTimeoutMs;
    const unjoined =
      (groupState === 'joining' || groupState === 'rebalancing') && now() - stateSinceMs > joinLimitMs;
    const crashing = crashingSinceMs !== undefined && now() - crashingSinceMs >= stallTimeoutMs;
    const stalled = connected && (unjoined || crashing || partitions.some((partition) => partition.stalled));
    const lag = partitions.reduce((sum, partition) => sum + (partition.lag ?? 0), 0);
    return { connected, groupState, partitions, missingTopics, stalled, lag, fatal, lastError };
  }

  function sayStalled(): void {
    const { stalled, partitions } = status();
    if (stalled && !saidStalled)
      emit({ type: 'stalled', partitions: partitions.filter((one) => one.stalled) });
    saidStalled = stalled;
  }

  function contact(): void {
    lastContactAtMs = now();
  }

  function setState(state: GroupState): void {
    if (groupState !== state) stateSinceMs = now();
    groupState = state;
  }

  /** An observer's mistake must not end the consumer. */
  function emit(event: KafkaEvent): void {
    if (event.type === 'committed') crashingSinceMs = undefined;
    if (event.type === 'group_join') assigned = event.assignment;
    try {
      options.onEvent?.(event);
    } catch {
      // Nothing sensible can be done with it here.
    }
  }

  /**
   * Doubles from the first wait to the longest, with jitter so that many collectors do not come back at once.
   */
  function delayMs(attempt: number): number {
    const full = Math.min(backoff.maxMs, backoff.initialMs * 2 ** Math.min(attempt - 1, 20));
    return Math.round(full * (0.8 + Math.random() * 0.2));
  }
}
