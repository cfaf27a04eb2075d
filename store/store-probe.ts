import type { Clock } from '../schemas/clock.ts';

/** Asks the store again and again whether it answers, whoever else works with it. */
export interface StoreProbe {
  /** Why the store cannot be relied on at this moment; null while it answers. */
  problem(): string | null;
  stop(): void;
}

export interface StoreProbeOptions {
  /** A question that costs the store next to nothing. */
  readonly ask: () => Promise<unknown>;
  readonly clock: Clock;
}

/** Between the end of a question and the next one. */
const EVERY_MS = 3_000;
/** A store that takes longer for a trivial query is not ready for inserts. */
const DEADLINE_MS = 5_000;

export function createStoreProbe({ ask, clock }: StoreProbeOptions): StoreProbe {
  let askedMs: number | null = null;
  let failure: string | null = null;
  let stopped = false;
  let cancel = () => {};

  async function probe(): Promise<void> {
    askedMs = clock.monotonicMs();
    try {
      await ask();
      failure = null;
    } catch (error) {
      failure = error instanceof Error ? error.message : 'no answer';
    }
    askedMs = null;
    if (!stopped) cancel = clock.after(EVERY_MS, () => void probe());
  }
  void probe();

  return {
    problem() {
      const waitedMs = askedMs === null ? 0 : clock.monotonicMs() - askedMs;
      if (waitedMs < DEADLINE_MS) return failure;
      return `no answer to a query for ${Math.round(waitedMs / 1000)} s`;
    },
    stop() {
      stopped = true;
      cancel();
    },
  };
}
