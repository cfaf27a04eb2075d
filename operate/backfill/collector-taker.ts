import { sleep } from '../../schemas/deadline.ts';
import type { WatchMessage } from '../../schemas/watch.ts';
import type { Problem } from '../../schemas/problem.ts';
import { GatewatchError } from '../../schemas/errors.ts';
import type { Taker } from './taker.ts';

export interface CollectorTakerOptions {
  /** The running collector's address. */
  readonly url: string;
  /** Wait while more orders than this are due to be polled. */
  readonly maxDue: number;
  /** How long a collector that does not answer is waited for. @default 60000 */
  readonly patienceMs?: number;
}

const PAUSE_MS = 250;
const QUIET_MS = 2000;
const REQUEST_TIMEOUT_MS = 30_000;

interface Refusal {
  readonly errors?: readonly ({ index: number } & Problem)[];
  readonly detail?: string;
}

/**
 * Hands orders to the running collector, `POST /orders`, and waits while its poller is behind (`due` of
 * `/readyz`).
 */
export function createCollectorTaker(options: CollectorTakerOptions): Taker {
  const { url, maxDue, patienceMs = 60_000 } = options;

  async function post(
    messages: readonly WatchMessage[],
    signal: AbortSignal,
  ): Promise<Refusal | 'busy' | null> {
    let response: Response;
    try {
      response = await fetch(`${url}/orders`, {
        method: 'POST',
        redirect: 'error',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(messages),
        signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
      });
    } catch {
      return 'busy';
    }
    const text = await response.text();
    if (response.ok) return null;
    if (response.status === 503) return 'busy';
    const refusal = parse(text) as Refusal | undefined;
    if (response.status === 400 && refusal?.errors !== undefined) return refusal;
    throw new GatewatchError(
      `The collector at ${url} refuses, HTTP ${response.status}: ${refusal?.detail ?? 'no reason given'}`,
      { code: 'internal' },
    );
  }

  return {
    name: `the collector at ${url}`,
    async ready(signal, onWaiting) {
      const startedMs = performance.now();
      while (!signal.aborted) {
        const due = (await readDue(url)) ?? 0;
        if (due <= maxDue) return;
        if (performance.now() - startedMs > QUIET_MS) onWaiting(due);
        await sleep(PAUSE_MS, signal);
      }
    },
    async take(messages, signal) {
      const refused = new Map<number, Problem>();
      /** Places of the messages that are still to be taken. */
      let places = messages.map((_message, index) => index);
      let waitingSinceMs: number | null = null;
      while (places.length > 0) {
        signal.throwIfAborted();
        const answer = await post(
          places.map((place) => messages[place] as WatchMessage),
          signal,
        );
        if (answer === null) break;
        if (answer === 'busy') {
          waitingSinceMs ??= performance.now();
          if (performance.now() - waitingSinceMs > patienceMs) throw gone(url);
          await sleep(PAUSE_MS, signal);
          continue;
        }
        waitingSinceMs = null;
        const wrong = new Set(answer.errors?.map((error) => error.index));
        for (const { index, field, received, expected } of answer.errors ?? []) {
          const place = places[index];
          if (place !== undefined) refused.set(place, { field, received, expected });
        }
        const left = places.filter((_place, index) => !wrong.has(index));
        if (left.length === places.length) throw gone(url);
        places = left;
      }
      return refused;
    },
    close: async () => undefined,
  };
}

/** How many orders are due to be polled; null when nobody says. */
export async function readDue(url: string): Promise<number | null> {
  try {
    const response = await fetch(`${url}/readyz`, { redirect: 'error', signal: AbortSignal.timeout(5000) });
    const { due } = (await response.json()) as { due?: unknown };
    return typeof due === 'number' ? due : null;
  } catch {
    return null;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function gone(url: string): GatewatchError {
  const message = `The collector at ${url} takes no more orders. What it has taken is safe; run the command again to go on.`;
  return new GatewatchError(message, { code: 'internal', retryable: true });
}
