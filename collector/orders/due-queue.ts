/** Something that falls due. A later push with the same key replaces the earlier one. */
export interface DueQueue {
  push(key: string, dueMs: number): void;
  remove(key: string): void;
  /** The earliest entry, without taking it. */
  peek(): { key: string; dueMs: number } | undefined;
  pop(): { key: string; dueMs: number } | undefined;
  /** How many entries are due by then. Counts by looking at each: for reports, not for the hot path. */
  countDue(nowMs: number): number;
  readonly size: number;
}

interface Entry {
  key: string;
  dueMs: number;
}

/** So many replaced entries are no burden. */
const TOLERATED_STALE = 64;

/**
 * A binary heap by due time. Replaced entries stay in the heap until they surface and are skipped then, or
 * until they are more than the current ones.
 */
export function createDueQueue(): DueQueue {
  let heap: Entry[] = [];
  const current = new Map<string, Entry>();

  const before = (a: number, b: number) => (heap[a] as Entry).dueMs < (heap[b] as Entry).dueMs;
  const swap = (a: number, b: number) => {
    [heap[a], heap[b]] = [heap[b] as Entry, heap[a] as Entry];
  };
  function up(index: number): void {
    for (let i = index; i > 0;) {
      const parent = (i - 1) >> 1;
      if (!before(i, parent)) return;
      swap(i, parent);
      i = parent;
    }
  }
  function down(): void {
    for (let i = 0; ;) {
      let least = i;
      for (const child of [2 * i + 1, 2 * i + 2])
        if (child < heap.length && before(child, least)) least = child;
      if (least === i) return;
      swap(i, least);
      i = least;
    }
  }
  function dropFirst(): void {
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    heap[0] = last;
    down();
  }
  function first(): Entry | undefined {
    while (heap[0] !== undefined && current.get(heap[0].key) !== heap[0]) dropFirst();
    return heap[0];
  }

  function dropStale(): void {
    if (heap.length <= 2 * current.size + TOLERATED_STALE) return;
    // Sorted by due time, a list is a heap.
    heap = [...current.values()].sort((a, b) => a.dueMs - b.dueMs);
  }

  return {
    push(key, dueMs) {
      const entry = { key, dueMs };
      current.set(key, entry);
      heap.push(entry);
      up(heap.length - 1);
      dropStale();
    },
    remove(key) {
      if (current.delete(key)) dropStale();
    },
    peek: first,
    pop() {
      const entry = first();
      if (entry === undefined) return undefined;
      dropFirst();
      current.delete(entry.key);
      return entry;
    },
    countDue(nowMs) {
      let count = 0;
      for (const entry of current.values()) if (entry.dueMs <= nowMs) count += 1;
      return count;
    },
    get size() {
      return current.size;
    },
  };
}
