import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createManualClock, type ManualClock } from '../../sandbox/clock.ts';
import type { SandboxOptions } from '../../sandbox/options.ts';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import { PATIENCE_MS } from '../support/until.ts';

/** A Saturday morning; any fixed moment would do. */
export const START_MS = Date.UTC(2026, 10, 21, 10, 15, 30, 250);
export const PATH = '/api/v1/integration/deposit-order';
export const PAYOUT_PATH = '/api/v1/integration/withdrawal-order';

/** A sandbox on a free port whose time moves only by hand. */
export async function sandboxWithClock(
  options: SandboxOptions = {},
): Promise<{ sandbox: Sandbox; clock: ManualClock; [Symbol.asyncDispose](): Promise<void> }> {
  const clock = createManualClock(START_MS);
  const sandbox = await createSandbox({ clock, ...options });
  return { sandbox, clock, [Symbol.asyncDispose]: () => sandbox.stop() };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: unknown;
}

/** One request with a bearer token. Pass null for none. */
export async function call(
  method: string,
  url: string,
  options: {
    token?: string | null;
    body?: unknown;
    raw?: string;
    headers?: Record<string, string>;
    signal?: AbortSignal;
  } = {},
): Promise<Answer> {
  const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
  const response = await fetch(url, {
    method,
    headers: {
      ...(options.token ? { authorization: `Bearer ${options.token}` } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      accept: 'text/plain',
      ...options.headers,
    },
    ...(body === undefined ? {} : { body }),
    ...(options.signal ? { signal: options.signal } : {}),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parse(text) };
}

export const create = (sandbox: Sandbox, body: unknown, token = sandbox.token, base = sandbox.secureUrl) =>
  call('POST', `${base}${PATH}/`, { token, body });

export const status = (sandbox: Sandbox, id: string, token: string | null = sandbox.token) =>
  call('GET', `${sandbox.secureUrl}${PATH}/${id}/status`, { token });

/** A body that a create request needs at least. */
export const deposit = (externalTransactionId: string, more: object = {}) => ({
  amount: 100,
  currency: 'EUR',
  externalTransactionId,
  ...more,
});

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/**
 * A merchant's callback address. `answers` is the status of each reply in turn, `none` for silence; the last
 * one stays.
 */
export async function receiver(
  answers: readonly (number | 'none')[] = [200],
): Promise<{ url: string; received: Received[]; [Symbol.asyncDispose](): Promise<void> }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const answer = answers[Math.min(received.length, answers.length - 1)] ?? 200;
      received.push({
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      });
      if (answer === 'none') return;
      response.statusCode = answer;
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callbacks`,
    received,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Waits for a condition of the real network. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`did not happen: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
