import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crossSiteRefusal } from '../../../../collector/sources/http/guard.ts';
import { nameOfHost } from '../../../../schemas/host.ts';

const HOSTS = new Set(['gatewatch.internal']);
const statusOf = (headers: Record<string, string>) => crossSiteRefusal(headers, HOSTS)?.status ?? 200;

describe('whether a page is foreign', () => {
  it.each<[string, Record<string, string>, number]>([
    ['its own address', { host: '127.0.0.1:8080' }, 200],
    [
      'its own page',
      { host: 'localhost:8080', origin: 'http://localhost:8080', 'sec-fetch-site': 'same-origin' },
      200,
    ],
    ['its own page behind TLS', { host: 'gatewatch.internal', origin: 'https://gatewatch.internal' }, 200],
    ['a default port', { host: 'gatewatch.internal:443', origin: 'https://gatewatch.internal' }, 200],
    ['an address that somebody typed', { host: 'gatewatch.internal', 'sec-fetch-site': 'none' }, 200],
    ['a name in capitals with its final dot', { host: 'GateWatch.Internal.:8080' }, 200],
    ['an IPv6 address', { host: '[::1]:8080' }, 200],
    ['a name that was made to point here', { host: 'evil.example:8080' }, 421],
    ['a name that begins like ours', { host: 'gatewatch.internal.evil.example' }, 421],
    ['a name with a user before it', { host: 'gatewatch.internal@evil.example' }, 421],
    ['no name', {}, 421],
    ['an empty name', { host: '' }, 421],
    ['a page from elsewhere', { host: 'localhost:8080', origin: 'https://evil.example' }, 403],
    ['a page on another port', { host: 'localhost:8080', origin: 'http://localhost:3000' }, 403],
    ['a page of a file', { host: 'localhost:8080', origin: 'file://' }, 403],
    ['an origin that is none', { host: 'gatewatch.internal', origin: 'null' }, 403],
    ['an image on a page from elsewhere', { host: 'localhost:8080', 'sec-fetch-site': 'cross-site' }, 403],
    ['a fetch from a neighbouring name', { host: 'localhost:8080', 'sec-fetch-site': 'same-site' }, 403],
    ['a mark that nobody knows', { host: 'localhost:8080', 'sec-fetch-site': 'SAME-ORIGIN ' }, 403],
  ])('%s', (_what, headers, status) => {
    expect(statusOf(headers)).toBe(status);
  });

  it('lets no text pass as a host but the names it was given and IP addresses', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), (host) => {
        const name = nameOfHost(host);
        if (statusOf({ host }) === 200) expect(name).toMatch(/^(localhost|gatewatch\.internal|[0-9a-f:.]+)$/);
      }),
    );
  });
});
