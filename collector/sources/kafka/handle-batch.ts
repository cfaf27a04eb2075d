import type { Batch, EachBatchPayload } from 'kafkajs';
import { sleep } from '../../../schemas/deadline.ts';
import { isRetryable } from '../../../schemas/errors.ts';
import { describeFailure, isLostMembership, isRebalance } from './failure.ts';
import type { PausedPartitions } from './paused-partitions.ts';
import { keepAlive, type Outcome, type KeepAliveLimits } from './keep-alive.ts';
import { type Membership, partitionKey, type Ticket } from './membership.ts';
import type { KafkaRecord } from '../../../schemas/kafka.ts';
import type { HandleContext, KafkaEvent } from './port.ts';
import type { OffsetGap, Progress } from './progress.ts';
import { toRecord } from './record.ts';

/** What the batches of one session share. */
export interface BatchContext {
  readonly brokers: readonly string[];
  readonly maxRecordsPerHandle: number;
  readonly keepAliveLimits: KeepAliveLimits;
  readonly membership: Membership;
  readonly progress: Progress;
  readonly paused: PausedPartitions;
  /** Handlers that outlived their assignment, so that no partition is handled twice at once. */
  readonly abandoned: Map<string, Promise<void>>;
  handle(records: readonly KafkaRecord[], context: HandleContext): Promise<void>;
  emit(event: KafkaEvent): void;
  retryDelayMs(attempt: number): number;
  isClosing(): boolean;
  /** A handler failed for good: the session ends. */
  fail(error: unknown): void;
}

/** Records that are handled, and then committed, together. */
export interface Slice {
  readonly records: readonly KafkaRecord[];
  readonly first: string;
  readonly last: string;
  /** The offset to commit: the next one to read. */
  readonly next: string;
}

/**
 * Slices of a partition under way at once: while the store takes in one, the next one is read. More of them
 * would only wait.
 */
const UNDER_WAY = 2;

/**
 * Hands over a batch slice by slice, in order; the offset of a slice is committed after its handler and those
 * of all before it have resolved, never before. Throws the error that makes kafkajs join the group again.
 */
export async function handleBatch(payload: EachBatchPayload, context: BatchContext): Promise<void> {
  const { batch } = payload;
  const { topic, partition } = batch;
  const ticket = context.membership.ticket(topic, partition);
  if (ticket === null || context.isClosing()) return;

  const earlier = context.abandoned.get(partitionKey(topic, partition));
  if (earlier !== undefined) {
    const waited = await keepAlive(earlier, payload.heartbeat, ticket, context.keepAliveLimits);
    if (waited.kind === 'lost') return rejoin(waited.error);
  }

  context.progress.watermark(topic, partition, { high: batch.highWatermark });
  reportGaps(batch, context);
  const underWay: Running[] = [];
  /** Waits for the first of them, until so few are left. False: the batch is at its end. */
  const concludeUntil = async (left: number): Promise<boolean> => {
    for (let [first] = underWay; first !== undefined && underWay.length > left; [first] = underWay) {
      if (!(await conclude(first, payload, ticket, context))) return false;
      underWay.shift();
    }
    return true;
  };
  try {
    for (const slice of slicesOf(batch, context.maxRecordsPerHandle)) {
      if (context.isClosing() || !payload.isRunning() || payload.isStale() || !ticket.isCurrent()) break;
      const running = runHandler(slice, payload, ticket, context);
      underWay.push(running);
      const isTaken = await Promise.race([running.taken.then(() => true), running.outcome.then(() => false)]);
      if (!(await concludeUntil(isTaken ? UNDER_WAY - 1 : 0))) return;
    }
    await concludeUntil(0);
  } finally {
    abandon(underWay, batch, context);
  }
}

/** Commits a slice that was handled. False: it was not, and what follows it must not be. */
async function conclude(
  { slice, outcome }: Running,
  payload: EachBatchPayload,
  ticket: Ticket,
  context: BatchContext,
): Promise<boolean> {
  const { topic, partition } = payload.batch;
  const ended = await outcome;
  switch (ended.kind) {
    case 'done':
      context.paused.clear(topic, partition);
      context.progress.advance(topic, partition, slice.next);
      payload.resolveOffset(slice.last);
      await commitOffset(payload, ticket, slice.next, context);
      return true;
    case 'failed':
      if (isRetryable(ended.error)) pausePartition(payload, slice.first, ended.error as Error, context);
      else context.fail(ended.error);
      return false;
    case 'lost':
      context.emit({ type: 'assignment_lost', topic, partition, offset: slice.first });
      rejoin(ended.error);
      return false;
  }
}

/** Made one at a time: the records of a batch that is left half way are never converted. */
export function* slicesOf(batch: Batch, maxRecords: number): Generator<Slice> {
  const { topic, partition, messages } = batch;
  for (let from = 0; from < messages.length; from += maxRecords) {
    const slice = messages.slice(from, from + maxRecords);
    const records = slice.map((message) => toRecord(topic, partition, message));
    const [first, last] = [records[0], records.at(-1)];
    if (first === undefined || last === undefined) return;
    const isEnd = from + slice.length === messages.length;
    // Control records, which need no handling, may follow the last message of a batch.
    const next = following(isEnd ? batch.lastOffset() : last.offset);
    yield { records, first: first.offset, last: last.offset, next };
  }
}

/** A slice that is being handled. */
interface Running {
  readonly slice: Slice;
  /** What its handler returned. */
  readonly work: Promise<void>;
  /** Resolves when the handler says that the next slice may be handed over. */
  readonly taken: Promise<void>;
  /** Never rejects. */
  readonly outcome: Promise<Outcome>;
  readonly abort: AbortController;
}

/** Runs the handler while keeping the membership alive. */
function runHandler(
  slice: Slice,
  payload: EachBatchPayload,
  ticket: Ticket,
  { handle, keepAliveLimits }: BatchContext,
): Running {
  const { topic, partition } = payload.batch;
  const abort = new AbortController();
  const { promise: taken, resolve } = Promise.withResolvers<void>();
  const about = { signal: abort.signal, topic, partition, taken: resolve };
  const work = (async () => handle(slice.records, about))();
  return { slice, work, taken, outcome: keepAlive(work, payload.heartbeat, ticket, keepAliveLimits), abort };
}

/**
 * Handlers whose outcome cannot count any more: the partition is not handled again before they are through.
 */
function abandon(left: readonly Running[], { topic, partition }: Batch, { abandoned }: BatchContext): void {
  if (left.length === 0) return;
  for (const { abort } of left) abort.abort();
  const key = partitionKey(topic, partition);
  const over = Promise.allSettled(left.map(({ work }) => work)).then(() => void abandoned.delete(key));
  abandoned.set(key, over);
}

/**
 * The store is down: stop fetching this partition for a while, heartbeats go on, and offer the same again.
 */
function pausePartition(
  payload: EachBatchPayload,
  offset: string,
  error: Error,
  { progress, paused, emit, retryDelayMs }: BatchContext,
): void {
  const { topic, partition } = payload.batch;
  const resume = payload.pause();
  const unpause = (): void => {
    progress.pause(topic, partition, false);
    resume();
    emit({ type: 'resumed', topic, partition });
  };
  const pause = paused.pause(topic, partition, unpause, retryDelayMs);
  progress.pause(topic, partition, true);
  emit({ type: 'paused', topic, partition, offset, error, ...pause });
}

const COMMIT_ATTEMPTS = 4;
const FIRST_COMMIT_RETRY_MS = 200;

/**
 * Commits `offset` (the next one to read) for the partition of `payload`, if its `ticket` is still good. A
 * failure of the connection is tried again; one that means the group moved on is thrown, for kafkajs to join
 * again.
 */
async function commitOffset(
  payload: EachBatchPayload,
  ticket: Ticket,
  offset: string,
  { emit, brokers }: BatchContext,
): Promise<void> {
  const { topic, partition } = payload.batch;
  const offsets = { topics: [{ topic, partitions: [{ partition, offset }] }] };
  for (let attempt = 1; ; attempt += 1) {
    if (!ticket.isCurrent()) {
      emit({ type: 'assignment_lost', topic, partition, offset });
      return;
    }
    try {
      // kafkajs takes its generation in this very call, before anything else can run, so it is the ticket's:
      // if the group moves on meanwhile, the broker refuses the commit.
      await payload.commitOffsetsIfNecessary(offsets);
      emit({ type: 'committed', topic, partition, offset });
      return;
    } catch (error) {
      if (isLostMembership(error)) {
        emit({ type: 'assignment_lost', topic, partition, offset });
        throw error;
      }
      emit({ type: 'commit_failed', topic, partition, offset, error: describeFailure(error, brokers) });
      if (isRebalance(error) || attempt >= COMMIT_ATTEMPTS) throw error;
      await sleep(FIRST_COMMIT_RETRY_MS * 2 ** (attempt - 1));
    }
  }
}

function reportGaps(batch: Batch, { progress, emit }: BatchContext): void {
  const { topic, partition } = batch;
  const first = batch.firstOffset();
  if (first === null) return;
  const before = progress.arrive(topic, partition, first);
  if (before !== null) emit({ type: 'offset_gap', topic, partition, ...before });
  for (const inside of gapsInside(batch)) emit({ type: 'offset_gap', topic, partition, ...inside });
}

/** Offsets that are missing between the records of one fetch: compaction removed them. */
export function gapsInside(batch: Batch): OffsetGap[] {
  const first = batch.firstOffset();
  if (first === null) return [];
  // Not in kafkajs' types: all that was fetched, control records included, which `messages` leaves out.
  const { rawMessages } = batch as Batch & { rawMessages?: { offset: string }[] };
  if (rawMessages === undefined) return [];
  const begin = BigInt(first);
  const span = BigInt(batch.lastOffset()) - begin + 1n;
  if (span === BigInt(rawMessages.length)) return [];
  const gaps: OffsetGap[] = [];
  let expected = begin;
  for (const { offset } of rawMessages) {
    const actual = BigInt(offset);
    if (actual < begin) continue;
    if (actual > expected)
      gaps.push({ expected: `${expected}`, actual: offset, missing: Number(actual - expected) });
    expected = actual + 1n;
  }
  return gaps;
}

/** kafkajs joins again when it sees the error that says so. */
function rejoin(error: unknown): void {
  if (error !== undefined) throw error;
}

export function following(offset: string): string {
  return (BigInt(offset) + 1n).toString();
}
