import type { Config } from '../schemas/config.ts';
import type { WatchMessage } from '../schemas/watch.ts';

/** What a running collector answered; null when none does. */
export interface CollectorReply {
  readonly status: number;
  readonly body: unknown;
}

const TIMEOUT_MS = 5000;

/** Where the configuration says that the collector listens, as this machine reaches it. */
export function collectorUrl(config: Pick<Config, 'http'>): string {
  const { host, port, tls } = config.http;
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `${tls === undefined ? 'http' : 'https'}://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/**
 * Asks the running collector. Null when nothing answers there, or something else does: the collector speaks
 * JSON, in refusals too (`application/problem+json`).
 */
export async function askCollector(
  base: string,
  path: string,
  post?: { readonly body: unknown },
  timeoutMs = TIMEOUT_MS,
): Promise<CollectorReply | null> {
  try {
    const response = await fetch(base + path, {
      signal: AbortSignal.timeout(timeoutMs),
      redirect: 'error',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      ...(post === undefined ? {} : { method: 'POST', body: JSON.stringify(post.body) }),
    });
    const type = response.headers.get('content-type') ?? '';
    const text = await response.text();
    if (response.ok && text === '') return { status: response.status, body: null };
    if (!/^application\/(problem\+)?json\b/.test(type)) return null;
    if (!response.ok && !type.startsWith('application/problem+json')) return null;
    return { status: response.status, body: JSON.parse(text) as unknown };
  } catch {
    return null;
  }
}

/** More would be too much for one request, with the longest ids. */
export const MESSAGES_A_REQUEST = 500;

/**
 * Asks the running collector to watch orders, in as many requests as it takes. Ends at the first request that
 * is not accepted, with the number of messages accepted before it.
 */
export async function postWatchMessages(
  base: string,
  messages: readonly WatchMessage[],
): Promise<{ readonly accepted: number; readonly failure: 'no_answer' | CollectorReply | null }> {
  for (let from = 0; from < messages.length; from += MESSAGES_A_REQUEST) {
    const body = messages.slice(from, from + MESSAGES_A_REQUEST);
    const reply = await askCollector(base, '/orders', { body });
    if (reply === null) return { accepted: from, failure: 'no_answer' };
    if (reply.status >= 300) return { accepted: from, failure: reply };
  }
  return { accepted: messages.length, failure: null };
}

/** What a refusal says to people. */
export function problemDetail(reply: CollectorReply): string {
  const { detail, title } = (reply.body ?? {}) as { detail?: unknown; title?: unknown };
  if (typeof detail === 'string') return detail;
  return typeof title === 'string' ? title : `HTTP status ${reply.status}`;
}
