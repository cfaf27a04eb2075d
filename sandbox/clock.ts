/** Time as the sandbox sees it. Everything that waits asks this, so that a test can move time by hand. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back once, `delayMs` from now. The returned function cancels it. */
  after(delayMs: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, run) {
    // A timer beyond 2^31 ms would fire at once.
    const timer = setTimeout(run, Math.min(Math.max(delayMs, 0), 2 ** 31 - 1));
    return () => clearTimeout(timer);
  },
};

/** A clock that stands still until asked to move. Waiting calls run in time order while it moves. */
export interface ManualClock extends Clock {
  advance(ms: number): void;
}

/** The clock for tests. */
export function createManualClock(startMs: number): ManualClock {
  let now = startMs;
  let waiting: { atMs: number; run: () => void }[] = [];
  return {
    now: () => now,
    after(delayMs, run) {
      const entry = { atMs: now + Math.max(delayMs, 0), run };
      waiting.push(entry);
      return () => {
        waiting = waiting.filter((other) => other !== entry);
      };
    },
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const next = waiting.filter((entry) => entry.atMs <= end).sort((a, b) => a.atMs - b.atMs)[0];
        if (!next) break;
        waiting = waiting.filter((entry) => entry !== next);
        now = Math.max(now, next.atMs);
        next.run();
      }
      now = end;
    },
  };
}
