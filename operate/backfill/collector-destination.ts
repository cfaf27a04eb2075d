import { sleep } from '../../schemas/deadline.ts';
import { GatewatchError } from '../../schemas/errors.ts';
import type { Problem } from '../../schemas/problem.ts';
import type { WatchMessage } from '../../schemas/watch.ts';
import type { Destination } from './destination.ts';

export interface CollectorDestinationOptions {
  /** The running collector's address. */
  readonly url: string;
  /** Wait while more orders than this are due to be polled. */
  readonly maxDue: number;
}

const PAUSE_MS = 250;
const QUIET_MS = 2000;
const REQUEST_TIMEOUT_MS = 30_000;

/** What the collector said to one request. */
type Answer = 'accepted' | 'busy' | { readonly errors: readonly ({ readonly index: number } & Problem)[] };

/** One chunk on its way to the collector. */
export interface Delivery {
  /** Places of the messages that are still to be accepted. */
  readonly places: readonly number[];
  readonly refused: ReadonlyMap<number, Problem>;
  /** Since when the collector has been busy; null: it answered last time. */
  readonly busySinceMs: number | null;
}

export function startDelivery(count: number): Delivery {
  return {
    places: Array.from({ length: count }, (_, index) => index),
    refused: new Map(),
    busySinceMs: null,
  };
}

/**
 * What an answer makes of a delivery: a request with bad messages is refused whole, and sent again without
 * them. null when the collector refuses without naming one of them.
 */
export function advanceDelivery(delivery: Delivery, answer: Answer, nowMs: number): Delivery | null {
  if (answer === 'busy') return { ...delivery, busySinceMs: delivery.busySinceMs ?? nowMs };
  if (answer === 'accepted') return { ...delivery, places: [], busySinceMs: null };
  const refused = new Map(delivery.refused);
  const bad = new Set(answer.errors.map((error) => error.index));
  for (const { index, field, received, expected } of answer.errors) {
    const place = delivery.places[index];
    if (place !== undefined) refused.set(place, { field, received, expected });
  }
  const places = delivery.places.filter((_place, index) => !bad.has(index));
  return places.length === delivery.places.length ? null : { places, refused, busySinceMs: null };
}

/** How long a collector that does not answer is waited for. */
const GIVE_UP_AFTER_MS = 60_000;

/**
 * Sends orders to the running collector, `POST /orders`, and waits while its poller is behind (`due` of
 * `/readyz`).
 */
export function createCollectorDestination(options: CollectorDestinationOptions): Destination {
  const { url, maxDue } = options;
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
    async send(messages, signal) {
      let delivery: Delivery = startDelivery(messages.length);
      while (delivery.places.length > 0) {
        signal.throwIfAborted();
        const some = delivery.places.map((place) => messages[place] as WatchMessage);
        const next = advanceDelivery(delivery, await post(url, some, signal), performance.now());
        if (next === null) throw takesNoMore(url);
        delivery = next;
        if (delivery.busySinceMs === null) continue;
        if (performance.now() - delivery.busySinceMs > GIVE_UP_AFTER_MS) throw takesNoMore(url);
        await sleep(PAUSE_MS, signal);
      }
      return delivery.refused;
    },
    close: async () => undefined,
  };
}

async function post(url: string, messages: readonly WatchMessage[], signal: AbortSignal): Promise<Answer> {
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
  if (response.ok) return 'accepted';
  if (response.status === 503) return 'busy';
  const { errors, detail } = parse(text);
  if (response.status === 400 && errors !== undefined) return { errors };
  throw new GatewatchError(
    `The collector at ${url} refuses, HTTP ${response.status}: ${detail ?? 'no reason given'}`,
    { code: 'internal' },
  );
}

/** How many orders are due to be polled; null when no collector answers. */
export async function readDue(url: string): Promise<number | null> {
  try {
    const response = await fetch(`${url}/readyz`, { redirect: 'error', signal: AbortSignal.timeout(5000) });
    const { due } = (await response.json()) as { due?: unknown };
    return typeof due === 'number' ? due : null;
  } catch {
    return null;
  }
}

interface Refusal {
  readonly errors?: readonly ({ readonly index: number } & Problem)[];
  readonly detail?: string;
}

function parse(text: string): Refusal {
  try {
    return (JSON.parse(text) ?? {}) as Refusal;
  } catch {
    return {};
  }
}

function takesNoMore(url: string): GatewatchError {
  const message = `The collector at ${url} takes no more orders. What it has taken is safe; run the command again to go on.`;
  return new GatewatchError(message, { code: 'internal', retryable: true });
}
