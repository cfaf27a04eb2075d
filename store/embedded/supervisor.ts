import { sleep, withDeadline } from '../../schemas/deadline.ts';
import type { Child } from './child-process.ts';
import { EmbeddedStoreError } from './errors.ts';
import type { EmbeddedStoreEvent } from './events.ts';

export interface SupervisorOptions {
  /**
   * Starts a replacement, and gives it up once `signal` is aborted; its rejection counts as one more failure.
   */
  readonly start: (signal: AbortSignal) => Promise<Child>;
  /** Failures in a row, without a minute of health between them, after which it gives up. */
  readonly maxRestarts: number;
  /** Called when the process had to be ended for a statement, before its replacement is started. */
  readonly onStuck: (statement: string) => void;
  /** Called when a replacement answers. */
  readonly onReplaced: (child: Child, restarts: number) => void;
  readonly log: (event: EmbeddedStoreEvent) => void;
}

/** Replaces the engine's process whenever it ends unasked. */
export interface Supervisor {
  readonly child: Child;
  readonly restarts: number;
  /** Resolves with the reason once no more replacement is tried. */
  readonly down: Promise<EmbeddedStoreError>;
  /** No more replacements; resolves to the process that is left to stop. */
  release(): Promise<Child>;
}

const healthyAfterMs = 60_000;
const firstBackoffMs = 100;
const longestBackoffMs = 5_000;

export function supervise(first: Child, options: SupervisorOptions): Supervisor {
  const down = Promise.withResolvers<EmbeddedStoreError>();
  const released = new AbortController();
  let child = first;
  let restarts = 0;
  const ended = watch();

  async function watch(): Promise<void> {
    let failures = 0;
    while (!released.signal.aborted) {
      const since = performance.now();
      const how = await withDeadline(child.exited, Infinity, () => 'released', released.signal);
      if (released.signal.aborted) return;
      const isFault = isFaultOfEngine(child, how, options);
      if (!isFault || performance.now() - since >= healthyAfterMs) failures = 0;
      const replaced = await replace(failures);
      if (replaced === null) return;
      failures = replaced;
    }
  }

  /** Tries until a replacement answers. @returns the failures so far, or `null` when there will be none */
  async function replace(failuresBefore: number): Promise<number | null> {
    for (let failures = failuresBefore + 1; failures <= options.maxRestarts; failures++) {
      const backoffMs = Math.min(firstBackoffMs * 2 ** (failures - 1), longestBackoffMs);
      await sleep(backoffMs, released.signal);
      if (released.signal.aborted) return null;
      try {
        child = await options.start(released.signal);
      } catch (error) {
        if (released.signal.aborted) return null;
        options.log({ level: 'error', msg: 'embedded ClickHouse did not restart', reason: reasonOf(error) });
        continue;
      }
      restarts++;
      options.onReplaced(child, restarts);
      return failures;
    }
    const message = `The embedded ClickHouse ended again and again; ${options.maxRestarts} restarts did not help.`;
    options.log({ level: 'error', msg: 'embedded ClickHouse is given up', reason: message });
    down.resolve(new EmbeddedStoreError('START_FAILED', message));
    return null;
  }

  return {
    get child() {
      return child;
    },
    get restarts() {
      return restarts;
    },
    down: down.promise,
    async release() {
      released.abort();
      await ended;
      return child;
    },
  };
}

/** Logs that the process has ended. A reader's statement is no fault that may have the store given up. */
function isFaultOfEngine(child: Child, how: string, { log, onStuck }: SupervisorOptions): boolean {
  const stuckOn = child.stuckOn();
  if (stuckOn === null)
    log({ level: 'error', msg: 'embedded ClickHouse ended unexpectedly', how, pid: child.pid });
  else onStuck(stuckOn);
  return stuckOn === null;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
