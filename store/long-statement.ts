import { sleep } from '../schemas/deadline.ts';

/**
 * Waits for a statement that may take long, as long as the store answers others meanwhile: a copy of a large
 * table takes minutes, and a store that hangs would take for ever. Given up, the statement may still be
 * executed.
 */
export async function whileAnswering<T>(
  run: (signal: AbortSignal) => Promise<T>,
  ping: () => Promise<boolean>,
  everyMs: number,
): Promise<T> {
  const silence = new AbortController();
  const done = new AbortController();
  const watch = async (): Promise<void> => {
    for (;;) {
      await sleep(everyMs, done.signal);
      if (done.signal.aborted) return;
      if (await ping()) continue;
      silence.abort(new DOMException('The store does not answer any more', 'TimeoutError'));
      return;
    }
  };
  const watching = watch().catch(() => undefined);
  try {
    return await run(silence.signal);
  } finally {
    done.abort();
    await watching;
  }
}

/** Longer than any statement: what bounds it is that the store answers. */
export const LONG_STATEMENT_MS = 86_400_000;
