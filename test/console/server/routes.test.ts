import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Console } from '../../../console/server/console.ts';
import { buildPage } from '../../../console/build-page.ts';
import { toPageFiles } from '../../../console/server/page-files.ts';
import { consoleRoutes } from '../../../console/server/routes.ts';
import { startHttpServer, type HttpServer } from '../../../collector/sources/http/server.ts';
import { sendRaw } from '../../support/http-raw.ts';

const page = toPageFiles(await buildPage());
/** A page that cannot be built, once it is set. */
let broken: Error | null = null;
const requests: unknown[] = [];
/** Of the panel that is never answered: whether its asker has gone. */
let asker: AbortSignal | undefined;
const answers: Console = {
  dashboards: () => [{ uid: 'one', title: 'One', description: '', tags: [] }],
  dashboard: (uid) => (uid === 'one' ? { uid } : null),
  panel: (request, signal) => {
    requests.push(request);
    if (request.panel === 9) {
      asker = signal;
      return new Promise(() => undefined);
    }
    return Promise.resolve(
      request.panel === 7
        ? { answer: { frames: [], intervalMs: 60_000, error: null } }
        : { status: 404, problem: 'no such panel' },
    );
  },
  variables: () => Promise.resolve({ answer: { options: {}, errors: {} } }),
  annotations: () => Promise.resolve({ answer: { annotations: [], errors: [] } }),
  alerts: () => Promise.resolve({ alerts: [], asOf: 0, ageMs: 0, error: null, timeZone: 'UTC' }),
  incidents: (days) =>
    Promise.resolve({ incidents: [], silences: [], asOf: days, timeZone: 'UTC', error: null }),
  silence: (input) => {
    requests.push(input);
    return Promise.resolve({ status: 400, problem: 'rule: expected another' });
  },
  unsilence: () => Promise.resolve({ status: 404, problem: 'no such silence' }),
  landing: () => Promise.resolve('/d/one'),
};

const log = pino({ level: 'silent' });
let server: HttpServer;
beforeAll(async () => {
  server = await startHttpServer({
    host: '127.0.0.1',
    port: 0,
    maxBodyBytes: 100_000,
    log,
    routes: (app) =>
      consoleRoutes(app, {
        console: answers,
        page: () => (broken === null ? Promise.resolve(page) : Promise.reject(broken)),
        log,
      }),
  });
});
afterAll(() => server.stop(100));

const get = (path: string, headers: Record<string, string> = {}) => fetch(server.url + path, { headers });
const post = (body: unknown, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
  fetch(`${server.url}/console/api/query`, { method: 'POST', headers, body: JSON.stringify(body) });
const request = { dashboard: 'one', panel: 7, from: 1_000, to: 2_000 };

describe('the page', () => {
  it('is served for every dashboard under a policy without inline scripts, and has none', async () => {
    for (const path of ['/d/one', '/d/one/some-title']) {
      const reply = await get(path);
      const html = await reply.text();
      expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      const policy = reply.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).not.toContain('unsafe');
      expect(html).not.toMatch(/<script>|<style|\son\w+=|\sstyle=|\{\{/);
    }
  });

  it('names only files that are there, from nowhere else, and they may be kept for ever', async () => {
    const html = await (await get('/d/one')).text();
    const addresses = [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, address]) => address ?? '');
    const names = addresses.map((one) => one.replace(/^\/console\/assets\/\w+\//, ''));
    expect([...new Set(names)].toSorted()).toEqual([
      '/',
      'icon.svg',
      'lib/uplot.css',
      'main.js',
      'style.css',
      'theme-first.js',
    ]);
    for (const address of addresses.filter((one) => one !== '/')) {
      expect(address).toMatch(/^\/console\/assets\/[0-9a-f]{12}\//);
      const reply = await get(address);
      await reply.arrayBuffer();
      expect([address, reply.status]).toEqual([address, 200]);
      expect(reply.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it('has one script of its own, which loads no other', () => {
    const scripts = [...page.assets].filter(([name]) => name.endsWith('.js'));
    expect(scripts.map(([name]) => name)).toEqual(['main.js', 'theme-first.js']);
    for (const [, { body }] of scripts)
      expect(body).not.toMatch(/^import\b|[;}]import[\s{"'`]|\bimport\(|\bfrom\s*["'`]\.{0,2}\//);
  });

  it('answers 503 while it cannot be built, and says where the reason is', async () => {
    broken = new Error('a secret of the builder');
    try {
      for (const path of ['/d/one', '/console/assets/000000000000/main.js']) {
        const reply = await get(path);
        expect([reply.status, await reply.json()]).toEqual([
          503,
          expect.objectContaining({ detail: 'The page could not be built. The log says why.' }),
        ]);
      }
    } finally {
      broken = null;
    }
  });

  it('has old addresses of its files answered, but not kept', async () => {
    const reply = await get('/console/assets/000000000000/main.js');
    expect([reply.status, reply.headers.get('cache-control')]).toEqual([200, 'no-store']);
  });

  it.each([
    '/console/assets/x/../../package.json',
    '/console/assets/x/%2e%2e%2fpackage.json',
    '/console/assets/x/nothing.js',
  ])('gives out no other file: %s', async (path) => {
    expect(
      await sendRaw(server.url, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`),
    ).toMatchObject({ status: 404 });
  });
});

describe('the interface of the page', () => {
  it('answers questions by ids', async () => {
    expect(await (await get('/console/api/dashboards')).json()).toHaveLength(1);
    expect((await get('/console/api/dashboards/one')).status).toBe(200);
    expect((await get('/console/api/dashboards/two')).status).toBe(404);
    const reply = await post(request);
    expect([reply.status, reply.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(requests.at(-1)).toEqual({ ...request, maxDataPoints: 500, variables: {} });
    expect((await post({ ...request, panel: 8 })).status).toBe(404);
  });

  it.each([
    ['SQL', { ...request, rawSql: 'SELECT 1' }],
    ['a range that ends before it begins', { ...request, to: 500 }],
    ['a range of a hundred years', { ...request, to: 3.2e12 }],
    ['a time that is none', { ...request, from: 'now-1h' }],
    ['a variable that is no list', { ...request, variables: { gateway: 'a' } }],
    ['a variable’s name with more than letters', { ...request, variables: { 'a b': [] } }],
    ['a value without end', { ...request, variables: { gateway: ['x'.repeat(301)] } }],
    ['more points than a screen has', { ...request, maxDataPoints: 1e9 }],
    ['nothing', null],
  ])('refuses %s', async (_, body) => {
    const before = requests.length;
    const reply = await post(body);
    expect([reply.status, reply.headers.get('content-type')]).toEqual([
      400,
      'application/problem+json; charset=utf-8',
    ]);
    expect(requests).toHaveLength(before);
  });

  it('notices when the asker of a question has gone, and not before', async () => {
    const page = new AbortController();
    const asking = fetch(`${server.url}/console/api/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...request, panel: 9 }),
      signal: page.signal,
    });
    await expect.poll(() => asker).toBeDefined();
    // Another question on another connection, from beginning to end: time enough to be wrong.
    await (await post(request)).arrayBuffer();
    expect(asker?.aborted).toBe(false);
    page.abort();
    await expect(asking).rejects.toThrow('aborted');
    await expect.poll(() => asker?.aborted).toBe(true);
  });

  it('takes silences and gives incidents, with the reason where it does not', async () => {
    expect(await (await get('/console/api/incidents?days=7')).json()).toMatchObject({ asOf: 7 });
    for (const days of ['-1', '32', '1e9', "1' OR 1"]) {
      const reply = await get(`/console/api/incidents?days=${encodeURIComponent(days)}`);
      expect([reply.status, await reply.json()]).toEqual([
        400,
        expect.objectContaining({
          detail: expect.stringContaining('days: expected a whole number up to 31'),
        }),
      ]);
    }
    const silence = (body: unknown, headers: Record<string, string> = {}, path = '', method = 'POST') =>
      fetch(`${server.url}/console/api/silences${path}`, {
        method,
        headers: method === 'POST' ? { 'content-type': 'application/json', ...headers } : headers,
        ...(method === 'POST' ? { body: JSON.stringify(body) } : {}),
      });
    const refused = await silence({ rule: 'A' });
    expect([refused.status, await refused.json()]).toEqual([
      400,
      expect.objectContaining({ detail: 'rule: expected another' }),
    ]);
    expect(requests.at(-1)).toEqual({ rule: 'A' });
    const before = requests.length;
    expect((await silence({}, { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await silence({}, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await silence({ reason: 'x'.repeat(200_000) })).status).toBe(413);
    expect(requests).toHaveLength(before);
    expect((await silence(null, {}, '/abc', 'DELETE')).status).toBe(404);
    expect((await silence(null, { 'sec-fetch-site': 'cross-site' }, '/abc', 'DELETE')).status).toBe(403);
  });

  it('takes JSON only, which a foreign page cannot send unasked', async () => {
    expect((await post(request, { 'content-type': 'text/plain' })).status).toBe(415);
  });

  it.each([
    ['a foreign origin', { origin: 'https://evil.example' }],
    ['a foreign site', { 'sec-fetch-site': 'cross-site' }],
  ])('refuses %s', async (_, headers) => {
    expect((await post(request, { 'content-type': 'application/json', ...headers })).status).toBe(403);
  });

  it('refuses a host name that was made to point here', async () => {
    const reply = await sendRaw(
      server.url,
      'GET /d/one HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
    );
    expect(reply.status).toBe(421);
  });
});
