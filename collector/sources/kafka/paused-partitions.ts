import { partitionKey } from './membership.ts';

interface PausedPartition {
  readonly topic: string;
  readonly partition: number;
  readonly attempt: number;
  readonly unpause: () => void;
  /** Undefined once the pause is over and the same records are about to be offered again. */
  timer: NodeJS.Timeout | undefined;
}

/** Partitions that are paused because the store is down. */
export interface PausedPartitions {
  /** Begins a pause and returns which attempt in a row has failed. `unpause` runs when it is over. */
  pause(topic: string, partition: number, unpause: () => void, delayMs: (attempt: number) => number): Pause;
  /** The partition's records were handled: the next failure is a first one. */
  clear(topic: string, partition: number): void;
  /** Keeps the pauses of partitions still owned; ends the others. */
  retain(owns: (topic: string, partition: number) => boolean): void;
  isPaused(topic: string, partition: number): boolean;
  stop(): void;
}

export interface Pause {
  attempt: number;
  retryInMs: number;
}

export function createPausedPartitions(): PausedPartitions {
  const paused = new Map<string, PausedPartition>();

  return {
    pause(topic, partition, unpause, delayMs) {
      const key = partitionKey(topic, partition);
      const attempt = (paused.get(key)?.attempt ?? 0) + 1;
      const retryInMs = delayMs(attempt);
      const state: PausedPartition = { topic, partition, attempt, unpause, timer: undefined };
      state.timer = setTimeout(() => {
        state.timer = undefined;
        unpause();
      }, retryInMs);
      paused.set(key, state);
      return { attempt, retryInMs };
    },
    clear(topic, partition) {
      if (paused.size > 0) paused.delete(partitionKey(topic, partition));
    },
    retain(owns) {
      for (const [key, { topic, partition, timer, unpause }] of paused) {
        if (owns(topic, partition)) continue;
        // kafkajs remembers a pause beyond the assignment: left alone, the partition would come back paused.
        clearTimeout(timer);
        unpause();
        paused.delete(key);
      }
    },
    isPaused: (topic, partition) => paused.get(partitionKey(topic, partition))?.timer !== undefined,
    stop() {
      for (const { timer } of paused.values()) clearTimeout(timer);
      paused.clear();
    },
  };
}
