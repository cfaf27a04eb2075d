import type { Logger } from 'pino';

export interface Ending {
  readonly exitCode: number;
  readonly reason: string;
}

/**
 * Runs a process from start to end: whatever is started names how it is stopped, and all of it stops in
 * reverse.
 */
export interface Lifecycle {
  /** Aborted when the end begins. */
  readonly signal: AbortSignal;
  /** Resolves when everything has stopped. */
  readonly done: Promise<Ending>;
  /** How long the end has taken so far; 0 before it begins. */
  endingForMs(): number;
  /**
   * Adds a step of the end. Steps run one after another, the last added first; once the end has begun, at
   * once.
   */
  onStop(step: () => Promise<unknown> | undefined): void;
  /** Begins the end; safe to repeat. Resolves when everything has stopped. */
  stop(reason: string, exitCode?: number): Promise<void>;
  /** Something that cannot be mended here: ends with exit code 1, so that a supervisor starts us again. */
  fail(reason: string): void;
}

export function createLifecycle(log: Logger): Lifecycle {
  const stopping = new AbortController();
  const { promise: done, resolve: finish } = Promise.withResolvers<Ending>();
  let endingSinceMs: number | null = null;
  const steps: (() => Promise<unknown> | undefined)[] = [];

  async function run(step: () => Promise<unknown> | undefined): Promise<void> {
    try {
      await step();
    } catch (error) {
      log.error({ err: error }, 'a part could not be stopped');
    }
  }

  async function stop(reason: string, exitCode = 0): Promise<void> {
    if (!stopping.signal.aborted) {
      endingSinceMs = performance.now();
      stopping.abort();
      log.info({ reason }, 'stopping');
      for (const step of steps.toReversed()) await run(step);
      finish({ exitCode, reason });
    }
    await done;
  }

  return {
    signal: stopping.signal,
    done,
    endingForMs: () => (endingSinceMs === null ? 0 : performance.now() - endingSinceMs),
    onStop(step) {
      if (stopping.signal.aborted) void run(step);
      else steps.push(step);
    },
    stop,
    fail(reason) {
      if (stopping.signal.aborted) return;
      log.fatal({ reason }, 'cannot go on');
      void stop(reason, 1);
    },
  };
}
