import type { RowBundle } from '../../../schemas/rows.ts';
import { addProvenance, appendRows, countRows, emptyProvenance } from '../bundle.ts';
import type { Provenance } from '../port.ts';
import type { Collected } from './deliver.ts';

/** One call of `write` that waits for its acknowledgement. */
export interface PendingWrite {
  readonly bundle: RowBundle;
  readonly provenance: Provenance | undefined;
  readonly rowCount: number;
  readonly settle: (error?: unknown) => void;
}

/** Bundles taken together into one batch, and who waits for them. */
export interface Gathered extends Collected {
  readonly writes: readonly PendingWrite[];
}

export interface Queue {
  /** Rows waiting, those of callers who wait for room excluded. */
  rows(): number;
  isEmpty(): boolean;
  /** Resolves at once while there is room, else in turn as room comes. */
  add(write: PendingWrite): void;
  /** Whole bundles up to `maxRows` rows, at least one; null when nothing waits. */
  take(maxRows: number): Gathered | null;
  /** Everything that waits, taken out. */
  clear(): PendingWrite[];
}

/** A first-in first-out queue of bundles. A bundle is never split: its rows are acknowledged together. */
export function createQueue(): Queue {
  let waiting: PendingWrite[] = [];
  let rows = 0;

  return {
    rows: () => rows,
    isEmpty: () => waiting.length === 0,
    add(write) {
      waiting.push(write);
      rows += write.rowCount;
    },
    take(maxRows) {
      if (waiting.length === 0) return null;
      let taken = 0;
      let count = 0;
      for (const write of waiting) {
        if (count > 0 && taken + write.rowCount > maxRows) break;
        taken += write.rowCount;
        count += 1;
      }
      const writes = waiting.slice(0, count);
      waiting = waiting.slice(count);
      rows -= taken;
      return gather(writes);
    },
    clear() {
      const all = waiting;
      waiting = [];
      rows = 0;
      return all;
    },
  };
}

/** A call of `write`, with its promise. */
export function createPendingWrite(
  bundle: RowBundle,
  provenance: Provenance | undefined,
): { write: PendingWrite; done: Promise<void> } {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const settle = (error?: unknown): void => (error === undefined ? resolve() : reject(error as Error));
  return { write: { bundle, provenance, rowCount: countRows(bundle), settle }, done: promise };
}

function gather(writes: readonly PendingWrite[]): Gathered {
  const rows = new Map();
  const provenance = emptyProvenance();
  for (const write of writes) {
    appendRows(rows, write.bundle);
    addProvenance(provenance, write.provenance);
  }
  return { rows, provenance, writes };
}
