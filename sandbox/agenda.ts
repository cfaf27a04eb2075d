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
  const entries = new TinyQueue<Entry>([], inOrder);
  let added = 0;
  let cancel: (() => void) | undefined;
  let armedFor = Infinity;
  let closed = false;

  const arm = () => {
    const next = entries.peek();
    if (closed || !next || next.timeMs >= armedFor) return;
    cancel?.();
    armedFor = next.timeMs;
    cancel = clock.after(next.timeMs - clock.now(), fire);
  };
  const fire = () => {
    armedFor = Infinity;
    cancel = undefined;
    // Closing empties the heap, which ends this loop too.
    for (let next = entries.peek(); next && next.timeMs <= clock.now(); next = entries.peek()) {
      entries.pop();
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
      entries.push({ timeMs, order: added++, run });
      arm();
    },
    get size() {
      return entries.length;
    },
    close() {
      closed = true;
      while (entries.pop());
      cancel?.();
    },
  };
}

const inOrder = (a: Entry, b: Entry) => a.timeMs - b.timeMs || a.order - b.order;
