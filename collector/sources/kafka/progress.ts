import { partitionKey } from './membership.ts';
import type { PartitionStatus } from '../../../schemas/kafka.ts';

interface Partition {
  readonly topic: string;
  readonly partition: number;
  position: bigint | null;
  highWatermark: bigint | null;
  paused: boolean;
  /** Since when the same records are offered again and again. */
  heldSinceMs: number | null;
  lastProgressAtMs: number;
}

export interface OffsetGap {
  expected: string;
  actual: string;
  missing: number | null;
}

export interface Progress {
  /** Replaces the assignment; what is known of partitions that stay is kept. */
  assign(assignment: Readonly<Record<string, readonly number[]>>): void;
  /** A record at `offset` is about to be handled: says which ones are missing before it, if any. */
  arrive(topic: string, partition: number, offset: string): OffsetGap | null;
  /** Everything before `next` is done with. */
  advance(topic: string, partition: number, next: string): void;
  /** The group's committed offset, for a partition of which nothing was read yet. */
  begin(topic: string, partition: number, position: string): void;
  /** The broker's next offset. */
  watermark(topic: string, partition: number, next: string): void;
  /** Waiting for the store is not a stall: the time begins again when it ends. */
  pause(topic: string, partition: number, paused: boolean): void;
  /** The same for all partitions, those included whose records are being handled or wait for their turn. */
  excuse(): void;
  status(): PartitionStatus[];
}

/**
 * Where each assigned partition is, and since when it has not moved. Pure but for `now` (milliseconds,
 * monotonic).
 */
export function createProgress(now: () => number, stallTimeoutMs: number): Progress {
  let partitions = new Map<string, Partition>();

  const find = (topic: string, partition: number): Partition | undefined =>
    partitions.get(partitionKey(topic, partition));

  const toStatus = (state: Partition): PartitionStatus => {
    const { position, highWatermark, paused, lastProgressAtMs } = state;
    const known = position !== null && highWatermark !== null;
    const lag = known ? Number(highWatermark > position ? highWatermark - position : 0n) : null;
    const silent = now() - lastProgressAtMs >= stallTimeoutMs;
    return {
      topic: state.topic,
      partition: state.partition,
      position: position?.toString() ?? null,
      highWatermark: highWatermark?.toString() ?? null,
      lag,
      paused,
      heldMs: state.heldSinceMs === null ? null : now() - state.heldSinceMs,
      lastProgressAtMs,
      stalled: silent && !paused && lag !== null && lag > 0,
    };
  };

  return {
    assign(assignment) {
      const next = new Map<string, Partition>();
      for (const [topic, numbers] of Object.entries(assignment)) {
        for (const partition of numbers) {
          const key = partitionKey(topic, partition);
          const fresh = {
            topic,
            partition,
            position: null,
            highWatermark: null,
            paused: false,
            heldSinceMs: null,
          };
          // A partition may have been elsewhere in between: its position is asked for again.
          const kept = partitions.get(key);
          next.set(key, { ...fresh, ...kept, position: null, lastProgressAtMs: now() });
        }
      }
      partitions = next;
    },
    arrive(topic, partition, offset) {
      const state = find(topic, partition);
      const actual = BigInt(offset);
      if (state === undefined) return null;
      const expected = state.position ?? actual;
      state.position = actual;
      if (expected === actual) return null;
      const missing = actual > expected ? Number(actual - expected) : null;
      return { expected: expected.toString(), actual: offset, missing };
    },
    advance(topic, partition, next) {
      const state = find(topic, partition);
      if (state === undefined) return;
      state.position = BigInt(next);
      state.lastProgressAtMs = now();
      state.heldSinceMs = null;
    },
    begin(topic, partition, position) {
      const state = find(topic, partition);
      if (state !== undefined) state.position ??= BigInt(position);
    },
    watermark(topic, partition, next) {
      const state = find(topic, partition);
      if (state === undefined) return;
      const offset = BigInt(next);
      const before = state.highWatermark;
      // Silence while there was nothing to read is no stall: the time runs from the first unread record on.
      const caughtUp = state.position !== null && before !== null && before <= state.position;
      if (caughtUp && offset > before) state.lastProgressAtMs = now();
      state.highWatermark = offset;
    },
    pause(topic, partition, paused) {
      const state = find(topic, partition);
      if (state === undefined) return;
      state.paused = paused;
      if (paused) state.heldSinceMs ??= now();
      state.lastProgressAtMs = now();
    },
    excuse() {
      for (const state of partitions.values()) state.lastProgressAtMs = now();
    },
    status: () => [...partitions.values()].map(toStatus),
  };
}
