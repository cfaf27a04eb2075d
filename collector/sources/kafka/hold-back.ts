import { partitionKey } from './membership.ts';

interface Held {
  readonly topic: string;
  readonly partition: number;
  readonly attempt: number;
  readonly unpause: () => void;
  /** Undefined once the wait is over and the records are about to be offered again. */
  timer: NodeJS.Timeout | undefined;
}

export interface HoldBack {
  /** Begins a wait and returns which attempt in a row has failed. `unpause` runs when it is over. */
  hold(topic: string, partition: number, unpause: () => void, delayMs: (attempt: number) => number): Hold;
  /** The partition's records were handled: the next failure is a first one. */
  clear(topic: string, partition: number): void;
  /** Keeps the waits of partitions still owned; ends the others. */
  retain(owns: (topic: string, partition: number) => boolean): void;
  isWaiting(topic: string, partition: number): boolean;
  stop(): void;
}

export interface Hold {
  attempt: number;
  retryInMs: number;
}

/** Partitions that wait because the store is down. */
export function createHoldBack(): HoldBack {
  const held = new Map<string, Held>();

  return {
    hold(topic, partition, unpause, delayMs) {
      const key = partitionKey(topic, partition);
      const attempt = (held.get(key)?.attempt ?? 0) + 1;
      const retryInMs = delayMs(attempt);
      const state: Held = { topic, partition, attempt, unpause, timer: undefined };
      state.timer = setTimeout(() => {
        state.timer = undefined;
        unpause();
      }, retryInMs);
      held.set(key, state);
      return { attempt, retryInMs };
    },
    clear(topic, partition) {
      if (held.size > 0) held.delete(partitionKey(topic, partition));
    },
    retain(owns) {
      for (const [key, { topic, partition, timer, unpause }] of held) {
        if (owns(topic, partition)) continue;
        // kafkajs remembers a pause beyond the assignment: left alone, the partition would come back paused.
        clearTimeout(timer);
        unpause();
        held.delete(key);
      }
    },
    isWaiting: (topic, partition) => held.get(partitionKey(topic, partition))?.timer !== undefined,
    stop() {
      for (const { timer } of held.values()) clearTimeout(timer);
      held.clear();
    },
  };
}
