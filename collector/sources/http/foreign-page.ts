import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { nameOfHost } from '../../../schemas/host.ts';

/** Why a request is turned back before its route sees it. */
export interface PageRefusal {
  /** 421: the name is not ours. 403: the page is not ours. */
  readonly status: 403 | 421;
  readonly detail: string;
}

/**
 * Refuses what a browser sends on behalf of a foreign page. The name in `Host` must be `localhost`, one of
 * `hosts` or an IP address: a name can be made to point here (DNS rebinding), an address in the address bar
 * cannot. What a browser marks as coming from another site, or from another port or name of this one, is
 * refused whatever it asks for. A machine sends none of these marks.
 *
 * @param hosts names of this listener, lower case
 * @returns `null` when the request may go on
 */
export function refusalOfForeignPage(
  headers: IncomingHttpHeaders,
  hosts: ReadonlySet<string>,
): PageRefusal | null {
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
