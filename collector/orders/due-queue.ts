import TinyQueue from 'tinyqueue';

/** An entry with the time on the monotonic clock at which it is due. */
export interface DueEntry {
  readonly key: string;
  readonly dueMs: number;
}

/**
 * Entries by due time. A replaced entry stays in the heap until it reaches the top and is skipped, or until
 * replaced entries outnumber current ones and the heap is rebuilt.
 */
export interface DueQueue {
  heap: TinyQueue<DueEntry>;
  /** The current entry, by key. */
  readonly current: Map<string, DueEntry>;
}

/** Replaced entries that a heap may always hold: rebuilding a small one is not worth the work. */
const TOLERATED_STALE = 64;

const byDueTime = (a: DueEntry, b: DueEntry): number => a.dueMs - b.dueMs;

export function createDueQueue(): DueQueue {
  return { heap: new TinyQueue<DueEntry>([], byDueTime), current: new Map() };
}

/** Adds an entry, in the place of an earlier one with the same key. */
export function pushDue(queue: DueQueue, key: string, dueMs: number): void {
  const entry = { key, dueMs };
  queue.current.set(key, entry);
  queue.heap.push(entry);
  dropStale(queue);
}

export function removeDue(queue: DueQueue, key: string): void {
  if (queue.current.delete(key)) dropStale(queue);
}

/** The earliest entry, without taking it. */
export function peekDue({ heap, current }: DueQueue): DueEntry | undefined {
  for (;;) {
    const first = heap.peek();
    if (first === undefined || current.get(first.key) === first) return first;
    heap.pop();
  }
}

export function popDue(queue: DueQueue): DueEntry | undefined {
  const entry = peekDue(queue);
  if (entry === undefined) return undefined;
  queue.heap.pop();
  queue.current.delete(entry.key);
  return entry;
}

/** How many entries are due by then. Looks at each of them: for reports, not for the hot path. */
export function countDue({ current }: DueQueue, nowMs: number): number {
  let count = 0;
  for (const entry of current.values()) if (entry.dueMs <= nowMs) count += 1;
  return count;
}

function dropStale(queue: DueQueue): void {
  if (queue.heap.length <= 2 * queue.current.size + TOLERATED_STALE) return;
  queue.heap = new TinyQueue([...queue.current.values()], byDueTime);
}
