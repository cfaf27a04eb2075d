import { partitionKey } from './membership.ts';
import type { PartitionStatus } from '../../../schemas/kafka.ts';

/** What is known of one assigned partition. */
export interface PartitionProgress {
  readonly topic: string;
  readonly partition: number;
  /** The next offset to be handled; null until known. */
  readonly position: bigint | null;
  /** The broker's next offset; null until known. */
  readonly highWatermark: bigint | null;
  /** Where records begin whose transaction has not ended, else as the watermark; null until known. */
  readonly stableOffset: bigint | null;
  /** Since when the stable offset stands although records lie behind it; null: none do. */
  readonly uncommittedSinceMs: number | null;
  readonly paused: boolean;
  /** Since when the same records are offered again and again; null: they were taken. */
  readonly heldSinceMs: number | null;
  readonly lastProgressAtMs: number;
}

export interface OffsetGap {
  expected: string;
  actual: string;
  missing: number | null;
}

export type Assignment = Readonly<Record<string, readonly number[]>>;
export type PartitionsProgress = ReadonlyMap<string, PartitionProgress>;

/** Replaces the assignment; what is known of partitions that stay is kept. */
export function assign(
  before: PartitionsProgress,
  assignment: Assignment,
  nowMs: number,
): PartitionsProgress {
  const next = new Map<string, PartitionProgress>();
  for (const [topic, numbers] of Object.entries(assignment)) {
    for (const partition of numbers) {
      const key = partitionKey(topic, partition);
      const fresh = {
        topic,
        partition,
        highWatermark: null,
        stableOffset: null,
        uncommittedSinceMs: null,
        paused: false,
        heldSinceMs: null,
      };
      // Another member may have had the partition in between: its position is asked for again.
      next.set(key, { ...fresh, ...before.get(key), position: null, lastProgressAtMs: nowMs });
    }
  }
  return next;
}

/** A record at `offset` is about to be handled. The gap: records that are missing before it. */
export function arrive(
  one: PartitionProgress,
  offset: string,
): { readonly next: PartitionProgress; readonly gap: OffsetGap | null } {
  const actual = BigInt(offset);
  const expected = one.position ?? actual;
  const next = { ...one, position: actual };
  if (expected === actual) return { next, gap: null };
  const missing = actual > expected ? Number(actual - expected) : null;
  return { next, gap: { expected: expected.toString(), actual: offset, missing } };
}

/** Everything before `position` is done with. */
export function advance(one: PartitionProgress, position: string, nowMs: number): PartitionProgress {
  return { ...one, position: BigInt(position), lastProgressAtMs: nowMs, heldSinceMs: null };
}

/** The group's committed offset, for a partition of which nothing was read yet. */
export function begin(one: PartitionProgress, position: string): PartitionProgress {
  return one.position === null ? { ...one, position: BigInt(position) } : one;
}

/** Where the log of a partition ends. */
export interface LogEnd {
  /** The broker's next offset. */
  readonly high: string;
  /** The last stable offset, where it was asked for. */
  readonly stable?: string;
}

export function raiseWatermark(
  one: PartitionProgress,
  { high, stable }: LogEnd,
  nowMs: number,
): PartitionProgress {
  const stableOffset = stable === undefined ? one.stableOffset : BigInt(stable);
  const next = { ...one, highWatermark: BigInt(high), stableOffset };
  // Silence while there was nothing to read is no stall: the time runs from the first unread record on.
  const begins = readable(one) === 0n && (readable(next) ?? 0n) > 0n;
  return {
    ...next,
    uncommittedSinceMs: stable === undefined ? one.uncommittedSinceMs : uncommittedSince(one, next, nowMs),
    lastProgressAtMs: begins ? nowMs : one.lastProgressAtMs,
  };
}

function uncommittedSince(before: PartitionProgress, next: PartitionProgress, nowMs: number): number | null {
  if (uncommitted(next) === 0n) return null;
  return (before.stableOffset === next.stableOffset ? before.uncommittedSinceMs : null) ?? nowMs;
}

/** Records that can be read and were not; null until known. */
function readable({ position, highWatermark, stableOffset }: PartitionProgress): bigint | null {
  const end = stableOffset ?? highWatermark;
  if (position === null || end === null) return null;
  return end > position ? end - position : 0n;
}

/** Records that nobody can read before their transaction has ended, or one that began before them. */
function uncommitted({ highWatermark, stableOffset }: PartitionProgress): bigint {
  if (highWatermark === null || stableOffset === null) return 0n;
  return highWatermark > stableOffset ? highWatermark - stableOffset : 0n;
}

/** Waiting for the store is not a stall: the time begins again when it ends. */
export function pause(one: PartitionProgress, paused: boolean, nowMs: number): PartitionProgress {
  const heldSinceMs = paused ? (one.heldSinceMs ?? nowMs) : one.heldSinceMs;
  return { ...one, paused, heldSinceMs, lastProgressAtMs: nowMs };
}

export function statusOf(one: PartitionProgress, nowMs: number, stallTimeoutMs: number): PartitionStatus {
  const { topic, partition, position, highWatermark, paused, heldSinceMs, lastProgressAtMs } = one;
  const { uncommittedSinceMs } = one;
  const known = position !== null && highWatermark !== null;
  const lag = known ? Number(highWatermark > position ? highWatermark - position : 0n) : null;
  const silent = nowMs - lastProgressAtMs >= stallTimeoutMs;
  return {
    topic,
    partition,
    position: position?.toString() ?? null,
    highWatermark: highWatermark?.toString() ?? null,
    lag,
    uncommitted: Number(uncommitted(one)),
    uncommittedMs: uncommittedSinceMs === null ? 0 : nowMs - uncommittedSinceMs,
    paused,
    heldMs: heldSinceMs === null ? null : nowMs - heldSinceMs,
    lastProgressAtMs,
    stalled: silent && !paused && (readable(one) ?? 0n) > 0n,
  };
}

/** Holds the progress of all assigned partitions; what is said of others is ignored. */
export interface Progress {
  assign(assignment: Assignment): void;
  arrive(topic: string, partition: number, offset: string): OffsetGap | null;
  advance(topic: string, partition: number, next: string): void;
  begin(topic: string, partition: number, position: string): void;
  watermark(topic: string, partition: number, end: LogEnd): void;
  pause(topic: string, partition: number, paused: boolean): void;
  /** As `pause` for all partitions, those included whose records are being handled or wait for their turn. */
  excuse(): void;
  status(): PartitionStatus[];
}

/** @param now milliseconds, monotonic */
export function createProgress(now: () => number, stallTimeoutMs: number): Progress {
  let partitions = new Map<string, PartitionProgress>();

  function change(
    topic: string,
    partition: number,
    transition: (one: PartitionProgress) => PartitionProgress,
  ): void {
    const key = partitionKey(topic, partition);
    const one = partitions.get(key);
    if (one !== undefined) partitions.set(key, transition(one));
  }

  return {
    assign: (assignment) => void (partitions = new Map(assign(partitions, assignment, now()))),
    arrive(topic, partition, offset) {
      let gap: OffsetGap | null = null;
      change(topic, partition, (one) => {
        const arrived = arrive(one, offset);
        gap = arrived.gap;
        return arrived.next;
      });
      return gap;
    },
    advance: (topic, partition, next) => change(topic, partition, (one) => advance(one, next, now())),
    begin: (topic, partition, position) => change(topic, partition, (one) => begin(one, position)),
    watermark: (topic, partition, end) => change(topic, partition, (one) => raiseWatermark(one, end, now())),
    pause: (topic, partition, paused) => change(topic, partition, (one) => pause(one, paused, now())),
    excuse() {
      for (const [key, one] of partitions) partitions.set(key, { ...one, lastProgressAtMs: now() });
    },
    status: () => [...partitions.values()].map((one) => statusOf(one, now(), stallTimeoutMs)),
  };
}
