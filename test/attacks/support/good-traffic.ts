import { createHash } from 'node:crypto';
import { Agent } from 'node:http';
import type { Sandbox } from '../../../sandbox/server.ts';
import type { Queryable } from '../../support/collector-process.ts';
import { requestFrom } from '../../support/http-from.ts';
import { spreadOf, type Spread } from './spread.ts';

export interface GoodTrafficOptions {
  /** Where callbacks are taken, e.g. `http://127.0.0.1:8080/callbacks/acme`. */
  readonly url: string;
  /** Callback key of that gateway. */
  readonly key: string;
  readonly perSecond: number;
  /** Id of the order that the next callback is about. */
  readonly nextOrder: () => string;
  /** A callback that is answered with 503 is sent so often at most. @default 1 */
  readonly mostTries?: number;
}

export interface GoodReport {
  /** Callbacks, each counted once. */
  readonly sent: number;
  /** Answers by status, to retries as well; 0 stands for none. */
  readonly answers: Readonly<Record<string, number>>;
  /** From the moment that a callback was due to its last answer, in milliseconds. */
  readonly latencyMs: Spread;
  /** Orders whose callback was answered with 200. */
  readonly acknowledged: readonly string[];
}

export interface GoodTraffic {
  /** Sends no more, and waits for the answers that are owed. */
  stop(): Promise<GoodReport>;
}

const RETRY_MS = 500;

/** A gateway as it should be: signed callbacks at an even rate, over connections that it keeps. */
export function startGoodTraffic(options: GoodTrafficOptions): GoodTraffic {
  const { url, key, perSecond, nextOrder, mostTries = 1 } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: 128 });
  const answers: Record<string, number> = {};
  const latencies: number[] = [];
  const acknowledged: string[] = [];
  const running = new Set<Promise<void>>();
  const startMs = performance.now();
  let sent = 0;

  async function send(dueMs: number): Promise<void> {
    const id = nextOrder();
    const { body, signature } = signed(id, key);
    const headers = { 'content-type': 'application/json', signature };
    const post = async (): Promise<number> => {
      const status = await requestFrom(url, { method: 'POST', body, headers, agent }).then(
        (answer) => answer.status,
        () => 0,
      );
      answers[status] = (answers[status] ?? 0) + 1;
      return status;
    };
    let status = await post();
    for (let tries = 1; status === 503 && tries < mostTries; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      status = await post();
    }
    latencies.push(performance.now() - dueMs);
    if (status === 200) acknowledged.push(id);
  }

  // By the clock and not by the tick: a busy sender catches up, and its delay counts.
  const timer = setInterval(() => {
    for (; sent < ((performance.now() - startMs) / 1000) * perSecond; sent += 1) {
      const work = send(startMs + (sent / perSecond) * 1000).finally(() => running.delete(work));
      running.add(work);
    }
  }, 10);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(running);
      agent.destroy();
      return { sent, answers, latencyMs: spreadOf(latencies), acknowledged };
    },
  };
}

/** Callbacks that were answered with 200 and are not in the store, of these orders. */
export async function countLost(collector: Queryable, acknowledged: readonly string[]): Promise<number> {
  const rows = await collector.query<{ external_id: string }>(
    "SELECT external_id FROM callbacks WHERE verdict = 'valid'",
  );
  const stored = new Set(rows.map(({ external_id }) => external_id));
  return acknowledged.filter((id) => !stored.has(id)).length;
}

/** An order that is paid: it is read a few times and no more. */
export function seedPaidOrder(sandbox: Sandbox): string {
  return sandbox.seedOrder({ status: 'Success', items: [{ action: '4.1.3.00', offsetMs: -5 }] }).externalId;
}

/** A callback's body and signature (interface document, section 6.3). */
export function signed(externalId: string, key: string): { body: string; signature: string } {
  const [status, amount, orderType] = ['Success', '100.00', 'Deposit'];
  const text = [externalId, status, amount, orderType, key].join(';');
  return {
    body: JSON.stringify({ externalId, status, amount, currency: 'EUR', orderType }),
    signature: createHash('sha256').update(text).digest('hex'),
  };
}
