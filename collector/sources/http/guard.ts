import rateLimit from '@fastify/rate-limit';
import { STATUS_CODES } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { refusalOfForeignPage } from './foreign-page.ts';
import { sendProblem } from '../../../schemas/http-problem.ts';

/** Why a request or connection was turned back unread: the label of a metric. */
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

/** A burst may use up what ten seconds allow. */
const WINDOW_MS = 10_000;
/** Addresses that are remembered; the one that was heard of longest ago is forgotten first. */
const MAX_ADDRESSES = 10_000;

/**
 * Turns requests back before any route sees them: too many of one address, for another host, from another
 * page.
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
    const refusal = refusalOfForeignPage(request.headers, hosts);
    if (refusal === null) return undefined;
    onRefused(refusal.status === 421 ? 'foreign_host' : 'foreign_page');
    return sendProblem(reply, { ...refusal, title: STATUS_CODES[refusal.status] ?? 'Error' });
  });
}
