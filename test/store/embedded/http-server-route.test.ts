import { describe, expect, it } from 'vitest';
import { routeOf } from '../../../store/embedded/http-server.ts';

const route = (method: string, url: string, headers: Record<string, string> = {}) =>
  routeOf({ method, url, headers: { host: '127.0.0.1:8123', ...headers } });

describe('a request, by its head alone', () => {
  it.each([
    ['GET', '/ping'],
    ['HEAD', '/replicas_status'],
    ['GET', '/'],
    ['GET', '/query?database=gatewatch'],
  ])('%s %s is answered at once', (method, url) => {
    expect(route(method, url)).toEqual({ kind: 'text', status: 200, text: 'Ok.' });
  });

  it.each([
    ['GET', '/?query=SELECT+1'],
    ['POST', '/'],
    ['POST', '/query?query=SELECT+1'],
  ])('%s %s is a statement', (method, url) => {
    const found = route(method, url);
    expect(found.kind).toBe('statement');
    if (found.kind === 'statement') expect(found.search).toBeInstanceOf(URLSearchParams);
  });

  it.each([
    ['another handle', 'GET', '/play', {}, 'text', 404],
    ['another method', 'DELETE', '/', {}, 'refused', 405],
    ['an address that cannot be read', 'GET', 'http://[', {}, 'refused', 400],
    ['another host', 'POST', '/', { host: 'evil.example' }, 'refused', 403],
    ['a web page', 'POST', '/', { origin: 'http://127.0.0.1:8123' }, 'refused', 403],
  ])('%s gets an answer that says so', (_what, method, url, headers, kind, status) => {
    expect(route(method, url, headers)).toMatchObject({ kind, status });
  });
});
