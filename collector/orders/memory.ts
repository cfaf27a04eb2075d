import type { Tenure } from '../../schemas/kafka.ts';
import type { WatchRef } from '../../schemas/watch.ts';
import { partitionOf, type Assignment } from './assignment.ts';

/**
 * Whether what this collector remembers of an order still counts. It does as long as nobody else can have
 * read the order meanwhile. A collector that was stopped or cut off for as long as its group waits may have
 * been replaced without knowing it: it goes on reading, by what the store says and not by its memory
 * (decision 42).
 */
export interface Memory {
  /** What is loaded from the store from now on is remembered under this number. */
  stamp(): number;
  counts(order: Omit<WatchRef, 'idKind'>, loadedIn: number | undefined): boolean;
}

/** No other collector reads from this gateway into this store. */
export const ALONE: Memory = { stamp: () => 0, counts: () => true };

/** The memory of a collector in a group; `tenure` is null while it has not joined. */
export function createMemory(assignment: () => Assignment, tenure: () => Tenure | null): Memory {
  return {
    stamp: () => tenure()?.joins ?? 0,
    counts(order, loadedIn) {
      const [assigned, held] = [assignment(), tenure()];
      if (assigned === null || held === null || !held.isConfirmed || loadedIn === undefined) return false;
      const since = held.since.get(partitionOf(order, assigned.of));
      return since !== undefined && since <= loadedIn;
    },
  };
}
