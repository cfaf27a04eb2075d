import type { Clock } from './clock.ts';

/**
 * Things to do at given times, on one timer however many there are. Equal times run in the order they were
 * added.
 */
export interface Agenda {
  at(timeMs: number, run: () => void): void;
  readonly size: number;
  close(): void;
}

interface Entry {
  readonly timeMs: number;
  readonly order: number;
  readonly run: () => void;
}

/** A binary heap over one timer of `clock`. An entry that throws is passed to `onError`; the others go on. */
export function createAgenda(clock: Clock, onError: (error: unknown) => void): Agenda {
  const heap: Entry[] = [];
  let added = 0;
  let cancel: (() => void) | undefined;
  let armedFor = Infinity;
  let closed = false;

  const arm = () => {
    const next = heap[0];
    if (closed || !next || next.timeMs >= armedFor) return;
    cancel?.();
    armedFor = next.timeMs;
    cancel = clock.after(next.timeMs - clock.now(), fire);
  };
  const fire = () => {
    armedFor = Infinity;
    cancel = undefined;
    // Closing empties the heap, which ends this loop too.
    for (let next = heap[0]; next && next.timeMs <= clock.now(); next = heap[0]) {
      pop(heap);
      try {
        next.run();
      } catch (error) {
        onError(error);
      }
    }
    arm();
  };

  return {
    at(timeMs, run) {
      if (closed) return;
      push(heap, { timeMs, order: added++, run });
      arm();
    },
    get size() {
      return heap.length;
    },
    close() {
      closed = true;
      heap.length = 0;
      cancel?.();
    },
  };
}

const before = (a: Entry, b: Entry) => a.timeMs < b.timeMs || (a.timeMs === b.timeMs && a.order < b.order);

function push(heap: Entry[], entry: Entry): void {
  let i = heap.push(entry) - 1;
  while (i > 0) {
    const parent = (i - 1) >> 1;
    const above = heap[parent] as Entry;
    if (!before(entry, above)) break;
    heap[i] = above;
    i = parent;
  }
  heap[i] = entry;
}

function pop(heap: Entry[]): void {
  const last = heap.pop();
  if (!last || heap.length === 0) return;
  let i = 0;
  for (;;) {
    let child = 2 * i + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && before(heap[child + 1] as Entry, heap[child] as Entry)) child++;
    if (!before(heap[child] as Entry, last)) break;
    heap[i] = heap[child] as Entry;
    i = child;
  }
  heap[i] = last;
}
