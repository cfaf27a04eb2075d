import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { MerchantEndpoint } from './options.ts';

/** Who is calling, or the error of section 5, item 2. */
export type Credential =
  | { readonly endpoint: MerchantEndpoint; readonly error: null }
  | { readonly endpoint: null; readonly error: 'UNAUTHORIZED' | 'FORBIDDEN_IP' };

/**
 * Reads `Authorization: Bearer <ACCESS_TOKEN>` and compares the caller's address with the endpoint's list.
 */
export function credentialOf(request: FastifyRequest, endpoints: readonly MerchantEndpoint[]): Credential {
  const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const endpoint = endpoints.find(
    (candidate) => token !== undefined && equal(token, candidate.token.reveal()),
  );
  if (!endpoint) return { endpoint: null, error: 'UNAUTHORIZED' };
  const address = addressOf(request);
  if (endpoint.allowedIps && !endpoint.allowedIps.includes(address))
    return { endpoint: null, error: 'FORBIDDEN_IP' };
  return { endpoint, error: null };
}

/** The caller's address, IPv4 in its plain form. */
export function addressOf(request: FastifyRequest): string {
  return (request.socket.remoteAddress ?? '').replace(/^::ffff:/, '');
}

export function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}

const digest = (text: string) => createHash('sha256').update(text).digest();

function equal(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}
