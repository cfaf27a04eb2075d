import { Agent, request } from 'undici';
import type { Clock } from './clock.ts';

/** A POST to make, and to repeat until it is answered with 2xx or the retries are used up. */
export interface Delivery {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface SenderOptions {
  readonly clock: Clock;
  /** Waits before each retry. */
  readonly retryDelaysMs: readonly number[];
  readonly timeoutMs: number;
  readonly maxQueued: number;
  /** Requests in flight. @default 32 */
  readonly concurrency?: number;
  readonly on: (
    /** `uncertain`: it may have been taken or not, and is retried. */
    event: 'sent' | 'acknowledged' | 'uncertain' | 'retried' | 'failed' | 'dropped',
    delivery: Delivery,
  ) => void;
}

export interface Sender {
  send(delivery: Delivery): void;
  /** Waiting, in flight or between retries. */
  readonly pending: number;
  /** Gives up what is left, and reports what became of every attempt before it resolves. */
  close(): Promise<void>;
}

/**
 * Sends deliveries in the order they were queued, several at once. The queue is bounded: when it is full the
 * oldest waiting delivery is dropped.
 */
export function createSender(options: SenderOptions): Sender {
  const agent = new Agent({ connections: 16, connect: { timeout: options.timeoutMs } });
  const concurrency = options.concurrency ?? 32;
  const queue: { delivery: Delivery; attempt: number }[] = [];
  const cancels = new Set<() => void>();
  const inFlight = new Set<Promise<void>>();
  let closed = false;

  const enqueue = (delivery: Delivery, attempt: number) => {
    if (closed) return;
    if (queue.length >= options.maxQueued) {
      const oldest = queue.shift();
      if (oldest) options.on('dropped', oldest.delivery);
    }
    queue.push({ delivery, attempt });
    pump();
  };
  const pump = () => {
    while (inFlight.size < concurrency) {
      const next = queue.shift();
      if (!next) return;
      const attempt = attemptOnce(next.delivery, next.attempt).finally(() => {
        inFlight.delete(attempt);
        pump();
      });
      inFlight.add(attempt);
    }
  };
  const attemptOnce = async (delivery: Delivery, attempt: number) => {
    options.on('sent', delivery);
    const answer = await post(agent, delivery, options.timeoutMs);
    if (answer === 'acknowledged') return options.on('acknowledged', delivery);
    if (answer === 'uncertain') options.on('uncertain', delivery);
    const delayMs = options.retryDelaysMs[attempt];
    if (closed || delayMs === undefined) return options.on('failed', delivery);
    options.on('retried', delivery);
    const cancel = options.clock.after(delayMs, () => {
      cancels.delete(cancel);
      enqueue(delivery, attempt + 1);
    });
    cancels.add(cancel);
  };

  return {
    send: (delivery) => enqueue(delivery, 0),
    get pending() {
      return queue.length + inFlight.size + cancels.size;
    },
    async close() {
      closed = true;
      queue.length = 0;
      for (const cancel of cancels) cancel();
      cancels.clear();
      await agent.destroy();
      await Promise.all(inFlight);
    },
  };
}

/**
 * `acknowledged` by 2xx in time; `uncertain` without an answer or with 5xx, which a merchant may give for
 * what it has taken. What the answer says is not read, and redirects are not followed.
 */
async function post(
  agent: Agent,
  delivery: Delivery,
  timeoutMs: number,
): Promise<'acknowledged' | 'refused' | 'uncertain'> {
  try {
    const { statusCode, body } = await request(delivery.url, {
      dispatcher: agent,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...delivery.headers },
      body: delivery.body,
      signal: AbortSignal.timeout(timeoutMs),
    });
    await body.dump();
    if (statusCode >= 500) return 'uncertain';
    return statusCode >= 200 && statusCode < 300 ? 'acknowledged' : 'refused';
  } catch {
    return 'uncertain';
  }
}
