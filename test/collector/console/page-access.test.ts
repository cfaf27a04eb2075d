import { describe, expect, it } from 'vitest';
import { isLoopback, refusalOfPageRequest } from '../../../collector/console/page-access.ts';

describe('who may open the console', () => {
  it.each([
    ['its own address', { host: '127.0.0.1:8080' }, true],
    [
      'its own page',
      { host: 'localhost:8080', origin: 'http://localhost:8080', 'sec-fetch-site': 'same-origin' },
      true,
    ],
    ['a name that was made to point here', { host: 'evil.example:8080' }, false],
    ['a page from elsewhere', { host: 'localhost:8080', origin: 'https://evil.example' }, false],
    ['an image on a page from elsewhere', { host: 'localhost:8080', 'sec-fetch-site': 'cross-site' }, false],
  ])('on loopback: %s', (_, headers, allowed) => {
    expect(refusalOfPageRequest(headers, true) === null).toBe(allowed);
  });

  it.each([
    ['any name', { host: 'gatewatch.internal' }, true],
    [
      'a link from elsewhere',
      { host: 'gatewatch.internal', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
      true,
    ],
    ['a page from elsewhere', { host: 'gatewatch.internal', origin: 'https://evil.example' }, false],
    ['an origin that is none', { host: 'gatewatch.internal', origin: 'null' }, false],
    [
      'a fetch from elsewhere',
      { host: 'gatewatch.internal', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
      false,
    ],
  ])('on an address opened to others: %s', (_, headers, allowed) => {
    expect(refusalOfPageRequest(headers, false) === null).toBe(allowed);
  });

  it.each([
    ['127.0.0.1', true],
    ['::1', true],
    ['localhost', true],
    ['0.0.0.0', false],
    ['10.0.0.1', false],
  ])('%s is this machine alone: %s', (host, expected) => {
    expect(isLoopback(host)).toBe(expected);
  });
});
