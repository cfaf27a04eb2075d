/** What `/readyz` said over a time. */
export interface Readiness {
  readonly asked: number;
  /** Answers that were not 200, or did not come. */
  readonly notReady: number;
  readonly slowestMs: number;
}

const EVERY_MS = 250;
const DEADLINE_MS = 15_000;

/** Asks again and again, one request at a time, until stopped. */
export function lookAtReadiness(url: string): { readonly stop: () => Promise<Readiness> } {
  const seen = { asked: 0, notReady: 0, slowestMs: 0 };
  const ended = new AbortController();
  const looking = (async () => {
    while (!ended.signal.aborted) {
      const begunMs = performance.now();
      const isReady = await fetch(url, { signal: AbortSignal.timeout(DEADLINE_MS) }).then(
        async (reply) => reply.ok && (await reply.text()) !== '',
        () => false,
      );
      seen.asked += 1;
      if (!isReady) seen.notReady += 1;
      seen.slowestMs = Math.max(seen.slowestMs, Math.round(performance.now() - begunMs));
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  })();
  return {
    async stop() {
      ended.abort();
      await looking;
      return seen;
    },
  };
}
