import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { signedCallback } from '../../integration/support/gateway.ts';

export interface GoodCallbacksOptions {
  readonly url: string;
  readonly key: string;
  /** Callbacks a second, sent when they are due and not when the last one was answered. */
  readonly rate: number;
  readonly seconds: number;
}

/** How a well-behaved gateway's callbacks were answered. */
export interface GoodCallbacks {
  readonly sent: number;
  /** Answered with 200. */
  readonly accepted: number;
  /** Answers other than 200, by status; `none` without an answer. */
  readonly others: Readonly<Record<string, number>>;
  /** From the moment it was due until it was answered, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Sends correctly signed callbacks at a steady rate, each for an order of its own. */
export async function sendGoodCallbacks(options: GoodCallbacksOptions): Promise<GoodCallbacks> {
  const agent = new Agent({ keepAlive: true });
  const tookMs: number[] = [];
  const others: Record<string, number> = {};
  const begunMs = performance.now();
  const sent = Math.round(options.rate * options.seconds);
  const answers: Promise<void>[] = [];
  for (let n = 0; n < sent; n += 1) {
    const dueMs = begunMs + (n * 1000) / options.rate;
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    answers.push(
      post(agent, options).then((status) => {
        if (status === '200') tookMs.push(performance.now() - dueMs);
        else others[status] = (others[status] ?? 0) + 1;
      }),
    );
  }
  await Promise.all(answers);
  agent.destroy();
  tookMs.sort((a, b) => a - b);
  const at = (share: number): number =>
    Math.round(tookMs[Math.min(tookMs.length - 1, Math.floor(tookMs.length * share))] ?? 0);
  return { sent, accepted: tookMs.length, others, p50: at(0.5), p99: at(0.99), max: at(1) };
}

function post(agent: Agent, { url, key }: GoodCallbacksOptions): Promise<string> {
  const { body, signature } = signedCallback({ externalId: randomUUID() }, key);
  const headers = { 'Content-Type': 'application/json', Signature: signature };
  return new Promise((resolve) => {
    const sent = request(url, { method: 'POST', headers, agent, timeout: 30_000 }, (reply) => {
      reply.resume();
      reply.on('end', () => resolve(String(reply.statusCode)));
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => resolve('none'));
    sent.end(body);
  });
}
