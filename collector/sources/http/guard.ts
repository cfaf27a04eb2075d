import rateLimit from '@fastify/rate-limit';
import { type IncomingHttpHeaders, STATUS_CODES } from 'node:http';
import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { nameOfHost } from '../../../schemas/host.ts';
import { sendProblem } from '../../../schemas/http-problem.ts';

/** Why a request or connection was refused unread: the label of a metric. */
export type Refused =
  'foreign_host' | 'foreign_page' | 'rate_limit' | 'connections' | 'foreign_address' | 'unknown_gateway';

export interface GuardOptions {
  /** Names that requests may be for, beside `localhost` and IP addresses. @default none */
  readonly hosts?: readonly string[];
  /** Requests of one address a second. @default 1000 */
  readonly requestsPerSecond?: number;
  /** Addresses that this does not hold for. @default none */
  readonly isTrusted?: (address: string) => boolean;
  readonly onRefused?: (reason: Refused) => void;
}

/** What load balancers ask, some of them in HTTP/1.0. */
const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz']);
/** Requests are counted over ten seconds, so that short bursts pass. */
const WINDOW_MS = 10_000;
/** Addresses whose requests are counted; the least recently seen is dropped first. */
const MAX_ADDRESSES = 10_000;

/**
 * Refuses requests before any route sees them: too many from one address, for a foreign host name, or sent by
 * a browser for another site.
 */
export async function guardRequests(app: FastifyInstance, options: GuardOptions): Promise<void> {
  const { isTrusted = () => false, onRefused = () => undefined } = options;
  const max = Math.max(1, Math.round((options.requestsPerSecond ?? 1_000) * (WINDOW_MS / 1000)));
  const allowList = (request: { readonly ip: string }) => isTrusted(request.ip);
  await app.register(rateLimit, {
    global: false,
    max,
    timeWindow: WINDOW_MS,
    cache: MAX_ADDRESSES,
    allowList,
  });
  const count = app.createRateLimit();
  const hosts = new Set((options.hosts ?? []).map((name) => name.toLowerCase()));

  app.addHook('onRequest', async (request, reply) => {
    const rate = await count(request);
    if (!rate.isAllowed && rate.isExceeded) {
      onRefused('rate_limit');
      const detail = 'Too many requests from this address. Try again later.';
      return sendProblem(reply, {
        status: 429,
        title: 'Too Many Requests',
        detail,
        retryAfterS: rate.ttlInSeconds,
      });
    }
    // HTTP/1.0 has no Host header; browsers always send one, so that no page can ask this way.
    if (request.headers.host === undefined && PROBES.has(request.url)) return undefined;
    const refusal = crossSiteRefusal(request.headers, hosts);
    if (refusal === null) return undefined;
    onRefused(refusal.status === 421 ? 'foreign_host' : 'foreign_page');
    return sendProblem(reply, { ...refusal, title: STATUS_CODES[refusal.status] ?? 'Error' });
  });
}

/** The answer to a request that is refused before its route sees it. */
export interface CrossSiteRefusal {
  /** 421: the host name is not ours. 403: another site's page sent it. */
  readonly status: 403 | 421;
  readonly detail: string;
}

/**
 * Refuses what a browser sends for a page of another site. `Host` must be `localhost`, one of `hosts` or an
 * IP address: a foreign name can be made to resolve to us (DNS rebinding), an address cannot. Requests that a
 * browser marks as coming from another site, or another port or name of this one (`Origin`,
 * `Sec-Fetch-Site`), are refused whatever they ask for. Other clients do not send these headers.
 *
 * @param hosts names of this listener, lower case
 * @returns `null` when the request may go on
 */
export function crossSiteRefusal(
  headers: IncomingHttpHeaders,
  hosts: ReadonlySet<string>,
): CrossSiteRefusal | null {
  const name = nameOfHost(headers.host);
  if (name === null || (name !== 'localhost' && !hosts.has(name) && isIP(name) === 0))
    return { status: 421, detail: 'The Host header names none of the hosts of this listener (http.hosts).' };
  const { origin, host = '' } = headers;
  const site = headers['sec-fetch-site'];
  const isOwnSite = site === undefined || site === 'same-origin' || site === 'none';
  if (isOwnSite && (origin === undefined || isSameOrigin(origin, host))) return null;
  return { status: 403, detail: 'Requests from other web pages are refused.' };
}

/** The scheme is not compared: TLS may end at a proxy. */
function isSameOrigin(origin: string, host: string): boolean {
  if (!/^https?:\/\//i.test(origin) || !URL.canParse(origin)) return false;
  const { protocol, host: from } = new URL(origin);
  const own = `${protocol}//${host}`;
  return URL.canParse(own) && new URL(own).host === from;
}

/** Each reason is logged at most this often, however many requests are refused for it. */
const LOG_EVERY_MS = 60_000;

/** Counts refusals, and logs their number now and then. The log line has nothing of a request. */
export function createRefusals(
  log: Logger,
  count: (reason: Refused) => void,
  monotonicMs: () => number,
): (reason: Refused) => void {
  const logged = new Map<Refused, { atMs: number; since: number }>();
  return (reason) => {
    count(reason);
    const last = logged.get(reason) ?? { atMs: -Infinity, since: 0 };
    last.since += 1;
    logged.set(reason, last);
    if (monotonicMs() - last.atMs < LOG_EVERY_MS) return;
    log.warn({ reason, times: last.since }, 'requests were refused unread');
    logged.set(reason, { atMs: monotonicMs(), since: 0 });
  };
}
