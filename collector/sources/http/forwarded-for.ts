import { isIP } from 'node:net';

/**
 * The addresses of `X-Forwarded-For` that can be read, in the forms that proxies write: bare, with a port, an
 * IPv6 address in brackets, in quotes (RFC 7239, section 6). What stands before a hop that is no address was
 * said by nobody who can be named, and is left out.
 */
export function forwardedAddresses(header: string): string[] {
  const hops = header.split(',').map(addressOf);
  return hops.slice(hops.lastIndexOf(null) + 1).filter((address) => address !== null);
}

const BRACKETED = /^\[([^\]]*)\](?::\d{1,5})?$/;
const WITH_PORT = /^([\d.]+):\d{1,5}$/;

function addressOf(hop: string): string | null {
  const text = hop.trim().replace(/^"(.*)"$/, '$1');
  const address = BRACKETED.exec(text)?.[1] ?? WITH_PORT.exec(text)?.[1] ?? text;
  return isIP(address) === 0 ? null : address;
}
