import TinyQueue from 'tinyqueue';
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

/** A heap over one timer of `clock`. An entry that throws is passed to `onError`; the others go on. */
export function createAgenda(clock: Clock, onError: (error: unknown) => void): Agenda {
  let heap = emptyHeap();
  let added = 0;
  let cancel: (() => void) | undefined;
  let armedFor = Infinity;
  let closed = false;

  const arm = () => {
    const next = heap.peek();
    if (closed || !next || next.timeMs >= armedFor) return;
    cancel?.();
    armedFor = next.timeMs;
    cancel = clock.after(next.timeMs - clock.now(), fire);
  };
  const fire = () => {
    armedFor = Infinity;
    cancel = undefined;
    // Closing empties the heap, which ends this loop too.
    for (let next = heap.peek(); next && next.timeMs <= clock.now(); next = heap.peek()) {
      heap.pop();
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
      heap.push({ timeMs, order: added++, run });
      arm();
    },
    get size() {
      return heap.length;
    },
    close() {
      closed = true;
      heap = emptyHeap();
      cancel?.();
    },
  };
}

const emptyHeap = () => new TinyQueue<Entry>([], (a, b) => a.timeMs - b.timeMs || a.order - b.order);
