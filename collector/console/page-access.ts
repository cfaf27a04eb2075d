import type { IncomingHttpHeaders } from 'node:http';
import { refusalOfForeignPage } from '../embedded/access.ts';

/**
 * Refuses what a foreign web page makes a browser send. On loopback the names of host and origin must be loopback's; on an
 * address that was opened to others on purpose, the origin must be the address itself.
 *
 * @returns the reason, or `null` when the request may go on
 */
export function refusalOfPageRequest(headers: IncomingHttpHeaders, loopbackOnly: boolean): string | null {
  if (loopbackOnly) return refusalOfForeignPage(headers);
  const { origin, host } = headers;
  const foreign = origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host);
  const crossSite = headers['sec-fetch-site'] === 'cross-site' && headers['sec-fetch-mode'] !== 'navigate';
  return foreign || crossSite ? 'Requests from other web pages are refused.' : null;
}

/** Is this the name or address of the machine itself, which others cannot reach? */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}
