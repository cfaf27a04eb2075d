import { settlesWithin, sleep } from '../../../schemas/deadline.ts';
import type { KafkaSourceStatus } from '../../../schemas/kafka.ts';
import { createClient } from './client.ts';
import { describeFailure } from './failure.ts';
import type { KafkaEvent, KafkaSourceOptions, ReadAgain } from './port.ts';
import type { Progress } from './progress.ts';
import { createSession, type Session, type SessionEnd } from './session.ts';
import { isConnectionNews, type SourceChange, type SourceState } from './source-state.ts';
import { createTopicAdmin, missingTopicsError, type TopicAdmin } from './topic-admin.ts';

type Defaulted =
  | 'sessionTimeoutMs'
  | 'rebalanceTimeoutMs'
  | 'stallTimeoutMs'
  | 'stopTimeoutMs'
  | 'fromBeginning'
  | 'maxBytesPerPartition'
  | 'maxRecordsPerHandle'
  | 'partitionsConcurrency';

export type SourceSettings = KafkaSourceOptions & Required<Pick<KafkaSourceOptions, Defaulted>>;

/** A running source: what its sessions, one after the other, share. */
export interface RunningSource {
  readonly settings: SourceSettings;
  readonly progress: Progress;
  readonly stopping: AbortSignal;
  session: Session | undefined;
  state(): SourceState;
  change(change: SourceChange): void;
  status(): KafkaSourceStatus;
  emit(event: KafkaEvent): void;
  /** See `SessionOptions.onConfirmed`. */
  onConfirmed(sentWallMs: number): void;
  /** The wait before that attempt. */
  retryDelayMs(attempt: number): number;
}

const MISSING_TOPIC_RETRY_MS = 3000;
const LONGEST_REFRESH_MS = 15_000;

/** One session after the other, until stopped or a handler fails for good. */
export async function supervise(source: RunningSource): Promise<void> {
  while (!source.stopping.aborted) {
    source.change({ type: 'group', state: 'connecting' });
    const { kafka, admin } = connect(source);
    try {
      const topics = await listTopics(source, admin);
      if (topics.length === 0) {
        await sleep(MISSING_TOPIC_RETRY_MS, source.stopping);
        continue;
      }
      const readAgain = await findUnstored(source, admin, topics);
      if (source.stopping.aborted) break;
      source.session = createSession({ ...sessionOptions(source, kafka, topics), readAgain });
      const end = await runSession(source, source.session, admin, topics);
      source.progress.assign({});
      source.change({ type: 'leaving' });
      if (end.reason === 'fatal') {
        source.change({ type: 'fatal', error: end.error });
        source.emit({ type: 'fatal', error: end.error });
        return;
      }
      if (end.reason === 'crashed') await waitForRetry(source, 'crash', end.error);
    } catch (error) {
      await waitForRetry(source, 'unreachable', error);
    } finally {
      source.session = undefined;
      await settlesWithin(admin.close(), 1000);
    }
  }
}

type Client = ReturnType<typeof createClient>;

function connect({ settings, change, emit }: RunningSource): { kafka: Client; admin: TopicAdmin } {
  const kafka = createClient({
    ...settings,
    retry: { initialRetryTime: 100, maxRetryTime: 1000, retries: 1 },
    onLog: (level, message) => emit({ type: 'client_log', level, message }),
  });
  const { groupId, topics, fromBeginning, createTopics } = settings;
  const admin = createTopicAdmin({
    kafka,
    groupId,
    topics,
    fromBeginning,
    createTopics,
    onTopicsCreated: (created) => emit({ type: 'topic_created', topics: created }),
    onPartitions: (topic, count) => change({ type: 'partitions', topic, count }),
  });
  return { kafka, admin };
}

function sessionOptions(source: RunningSource, kafka: Client, topics: readonly string[]) {
  const { settings, change, emit, progress, retryDelayMs } = source;
  return {
    ...settings,
    kafka,
    topics,
    emit,
    progress,
    retryDelayMs,
    onContact: () => change({ type: 'contact' }),
    onConfirmed: source.onConfirmed,
    onState: (state: 'joining' | 'stable' | 'rebalancing') => change({ type: 'group', state }),
  };
}

/** The topics that exist. Reports those that do not, and records that were lost. */
async function listTopics(source: RunningSource, admin: TopicAdmin): Promise<string[]> {
  const { brokers } = source.settings;
  const { present, missing } = await admin.topics();
  if (isConnectionNews(source.state())) source.emit({ type: 'connected', brokers });
  const error = missing.length === 0 ? null : missingTopicsError(missing, brokers);
  source.change({ type: 'topics', missing, error });
  if (error !== null) {
    source.emit({ type: 'topic_missing', topics: missing, error, retryInMs: MISSING_TOPIC_RETRY_MS });
  }
  for (const lost of await admin.lostRecords(present)) source.emit({ type: 'offset_gap', ...lost });
  return present;
}

/** What has to be read again, since the store lacks it. Reports it. */
async function findUnstored(
  { settings: { storedEnds }, emit }: RunningSource,
  admin: TopicAdmin,
  topics: readonly string[],
): Promise<ReadAgain[]> {
  if (storedEnds === undefined) return [];
  const partitions = await admin.unstored(topics, storedEnds);
  if (partitions.length > 0) emit({ type: 'read_again', partitions });
  return partitions;
}

/** Runs a session, refreshing at the broker beside it. */
async function runSession(
  source: RunningSource,
  session: Session,
  admin: TopicAdmin,
  topics: readonly string[],
): Promise<SessionEnd> {
  const over = new AbortController();
  const run = session.run().finally(() => over.abort());
  const refreshing = refreshBeside(source, session, admin, topics, over.signal);
  const end = await run;
  // kafkajs' consumer is done for, but a fatal end leaves it connected and in the group.
  if (end.reason !== 'stopped') await session.stop(source.settings.stopTimeoutMs);
  await settlesWithin(refreshing, 1000);
  return end;
}

/**
 * Refreshes lag and watermarks now and then, and reports stalls. Stops the session when a missing topic has
 * appeared: the next session subscribes to it.
 */
async function refreshBeside(
  source: RunningSource,
  session: Session,
  admin: TopicAdmin,
  topics: readonly string[],
  over: AbortSignal,
): Promise<void> {
  const { settings, progress, change } = source;
  const isMissingTopics = (): boolean => source.state().missingTopics.length > 0;
  while (!over.aborted) {
    const pauseMs = isMissingTopics() ? MISSING_TOPIC_RETRY_MS : LONGEST_REFRESH_MS;
    await sleep(Math.min(pauseMs, settings.stallTimeoutMs / 4), over);
    if (over.aborted) return;
    if (settings.isStoreAway?.() === true) progress.excuse();
    try {
      await admin.refresh(progress, topics);
      change({ type: 'contact' });
      const { lag, uncommitted } = source.status();
      if (lag <= uncommitted) change({ type: 'progress' });
      if (isMissingTopics() && (await admin.topics()).present.length > topics.length) {
        await session.stop(settings.stopTimeoutMs);
      }
    } catch (error) {
      change({ type: 'refresh_failed', error: describeFailure(error, settings.brokers) });
    }
    reportStall(source);
  }
}

async function waitForRetry(
  source: RunningSource,
  type: 'crash' | 'unreachable',
  cause: unknown,
): Promise<void> {
  const error = describeFailure(cause, source.settings.brokers);
  source.change({ type, error });
  const retryInMs = source.retryDelayMs(source.state().failures);
  source.emit({ type, error, retryInMs });
  reportStall(source);
  await sleep(retryInMs, source.stopping);
}

/** Reports a stall once. */
function reportStall(source: RunningSource): void {
  const { stalled, partitions } = source.status();
  if (stalled && !source.state().stallReported)
    source.emit({ type: 'stalled', partitions: partitions.filter((one) => one.stalled) });
  source.change({ type: 'stall', reported: stalled });
}
