import type { RowBundle } from '../../../schemas/rows.ts';
import { addProvenance, appendRows, countRows, emptyProvenance } from '../bundle.ts';
import type { Provenance } from '../../../schemas/sink.ts';
import type { Collected } from './deliver.ts';
import type { Takes } from './sink-state.ts';
import { MAX_WEEKS, weekOf } from './weeks.ts';

/** One call of `write` that waits for its acknowledgement. */
export interface PendingWrite {
  readonly bundle: RowBundle;
  readonly provenance: Provenance | undefined;
  readonly rowCount: number;
  /** The gateway whose reply it is; '' for everything else. Each has a queue of its own. */
  readonly gateway: string;
  /** Weeks of history that it writes to. */
  readonly weeks: ReadonlySet<number>;
  /** Whoever sent it waits for the acknowledgement. */
  readonly isAwaited: boolean;
  /** When it came, on the monotonic clock. */
  readonly sinceMs: number;
  /** Resolves the caller's promise; with an error, rejects it. */
  readonly resolveWrite: (error?: unknown) => void;
}

/** Bundles taken together into one batch, and the writes that wait for them. */
export interface Gathered extends Collected {
  readonly writes: readonly PendingWrite[];
}

export interface Queue {
  /** Rows waiting. */
  rows(): number;
  isEmpty(): boolean;
  /** Does somebody wait for one of the bundles? */
  isAwaited(): boolean;
  add(write: PendingWrite): void;
  /**
   * Whole bundles up to `maxRows` rows and MAX_WEEKS weeks, at least one; null when nothing waits.
   *
   * @param takes only those that somebody waits for, or all
   */
  take(maxRows: number, takes: Takes): Gathered | null;
  /** Takes out everything that waits. */
  clear(): PendingWrite[];
}

interface GatewayQueue {
  readonly gateway: string;
  waiting: PendingWrite[];
  /** How many of them the batch being gathered has taken. */
  taken: number;
}

/**
 * A fair queue of bundles: first in, first out for each gateway, and gateways in turn, so that one with long
 * histories delays only itself. What somebody waits for may overtake the rest: rows of one order have times
 * that rise, so it does not matter which of them is stored first. A bundle is never split: its rows are
 * acknowledged together.
 */
export function createQueue(): Queue {
  /** In the order in which they may begin a batch. */
  const queues: Queues = new Map();
  let rows = 0;
  let awaited = 0;

  return {
    rows: () => rows,
    isEmpty: () => queues.size === 0,
    isAwaited: () => awaited > 0,
    add(write) {
      const { gateway, rowCount, isAwaited } = write;
      rows += rowCount;
      if (isAwaited) awaited += 1;
      const queue = queues.get(gateway);
      if (queue === undefined) queues.set(gateway, { gateway, waiting: [write], taken: 0 });
      else queue.waiting.push(write);
    },
    take(maxRows, takes) {
      const [first] = queues.values();
      if (first === undefined) return null;
      const batch = createBatch(maxRows);
      if (takes === 'awaited' && awaited > 0) takeAwaited(queues, batch);
      else takeAll(queues, first, batch);
      rows -= batch.rows();
      awaited -= batch.writes.filter(({ isAwaited }) => isAwaited).length;
      return gather(batch.writes);
    },
    clear() {
      const all = [...queues.values()].flatMap(({ waiting }) => waiting);
      queues.clear();
      rows = 0;
      awaited = 0;
      return all;
    },
  };
}

type Queues = Map<string, GatewayQueue>;

/**
 * Takes from all gateways in turn. The one that starts this batch moves to the end (round robin), so that
 * large bundles, which fit into no batch of others, cannot starve.
 */
function takeAll(queues: Queues, first: GatewayQueue, batch: Batch): void {
  let candidates = [...queues.values()];
  while (candidates.length > 0) {
    candidates = candidates.filter((queue) => {
      const write = queue.waiting[queue.taken];
      if (write === undefined || !batch.takes(write)) return false;
      queue.taken += 1;
      return true;
    });
  }
  queues.delete(first.gateway);
  queues.set(first.gateway, first);
  for (const queue of queues.values()) {
    queue.waiting.splice(0, queue.taken);
    queue.taken = 0;
    if (queue.waiting.length === 0) queues.delete(queue.gateway);
  }
}

function takeAwaited(queues: Queues, batch: Batch): void {
  for (const queue of queues.values()) {
    queue.waiting = queue.waiting.filter((write) => !(write.isAwaited && batch.takes(write)));
    if (queue.waiting.length === 0) queues.delete(queue.gateway);
  }
}

/** A reply that is a batch by itself: others would wait for all its rows. An order has a few dozen items. */
const LARGE_ROWS = 1_000;

const isLarge = ({ gateway, rowCount }: PendingWrite): boolean => gateway !== '' && rowCount > LARGE_ROWS;

type Batch = ReturnType<typeof createBatch>;

function createBatch(maxRows: number) {
  const writes: PendingWrite[] = [];
  const weeks = new Set<number>();
  let rows = 0;
  return {
    writes,
    rows: () => rows,
    /** Adds it, if there is room; the first one always has. */
    takes(write: PendingWrite): boolean {
      const [first] = writes;
      if (first !== undefined) {
        if (isLarge(first) || isLarge(write)) return false;
        const more = [...write.weeks].filter((week) => !weeks.has(week)).length;
        if (rows + write.rowCount > maxRows || (more > 0 && weeks.size + more > MAX_WEEKS)) return false;
      }
      writes.push(write);
      rows += write.rowCount;
      for (const week of write.weeks) weeks.add(week);
      return true;
    },
  };
}

/** A call of `write`, with its promise. */
export function createPendingWrite(
  bundle: RowBundle,
  provenance: Provenance | undefined,
  sinceMs: number,
): { write: PendingWrite; done: Promise<void> } {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const resolveWrite = (error?: unknown): void => (error === undefined ? resolve() : reject(error as Error));
  const gateway = bundle.polls?.[0]?.gateway ?? '';
  const weeks = new Set<number>();
  for (const { event_time } of bundle.historyEvents ?? []) weeks.add(weekOf(event_time));
  const isAwaited = hasSenderWaiting(bundle, provenance);
  const rowCount = countRows(bundle);
  const write = { bundle, provenance, rowCount, gateway, weeks, isAwaited, sinceMs, resolveWrite };
  return { write, done: promise };
}

/** What came over HTTP is answered when it is stored; Kafka, replies and reports have time. */
function hasSenderWaiting(
  { annotations }: RowBundle,
  { httpDeliveries, watchRequests }: Provenance = {},
): boolean {
  return (httpDeliveries ?? 0) > 0 || (watchRequests ?? 0) > 0 || annotations !== undefined;
}

/** Calls of `write` whose promises are still pending, in the order of the calls. */
export interface PendingWrites {
  rows(): number;
  /** When the oldest was called; null when none is pending. */
  oldestSinceMs(): number | null;
  add(write: PendingWrite): void;
  /** Resolves their promises; with an error, rejects them. */
  resolve(writes: readonly PendingWrite[], error?: unknown): void;
}

export function createPendingWrites(): PendingWrites {
  const writes = new Set<PendingWrite>();
  let rows = 0;
  return {
    rows: () => rows,
    oldestSinceMs() {
      const [oldest] = writes;
      return oldest?.sinceMs ?? null;
    },
    add(write) {
      writes.add(write);
      rows += write.rowCount;
    },
    resolve(some, error) {
      for (const write of some) {
        writes.delete(write);
        rows -= write.rowCount;
        write.resolveWrite(error);
      }
    },
  };
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
