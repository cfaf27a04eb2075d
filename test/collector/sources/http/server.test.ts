import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHttpServer } from '../../../../collector/sources/http/server.ts';
import { sendRaw } from '../../../support/http-raw.ts';
import { post, startScene, type HttpScene } from '../../../support/http-scene.ts';

let scene: HttpScene;
let url: string;
beforeAll(async () => {
  scene = await startScene();
  url = scene.server.url;
});
afterAll(() => scene.server.stop(100));

describe('a web page of somebody else', () => {
  const every = [
    'GET /orders/order-1',
    'POST /orders',
    'POST /annotations',
    'POST /callbacks/acme-eu',
    'GET /healthz',
    'GET /readyz',
    'GET /metrics',
    'GET /',
    'GET /no-such-address',
  ];
  const ask = (line: string, headers: readonly string[], to = url) =>
    sendRaw(
      to,
      `${line} HTTP/1.1\r\nConnection: close\r\nContent-Length: 0\r\n${headers.join('\r\n')}\r\n\r\n`,
    );

  it.each<[string, string[], number]>([
    ['names another host, as after DNS rebinding', ['Host: evil.example'], 421],
    ['names another host as its own', ['Host: evil.example', 'Origin: http://evil.example'], 421],
    ['comes from another origin', ['Host: 127.0.0.1', 'Origin: https://evil.example'], 403],
    ['comes from no origin that can be named', ['Host: 127.0.0.1', 'Origin: null'], 403],
    ['comes from another port of this machine', ['Host: 127.0.0.1', 'Origin: http://127.0.0.1:3000'], 403],
    ['is marked as cross-site', ['Host: localhost', 'Sec-Fetch-Site: cross-site'], 403],
    ['is marked as same-site', ['Host: localhost', 'Sec-Fetch-Site: same-site'], 403],
  ])('is refused at every address when it %s', async (_how, headers, status) => {
    const { received } = scene;
    const answers = await Promise.all(every.map((line) => ask(line, headers)));
    expect(answers.map((answer) => answer.status)).toEqual(every.map(() => status));
    for (const { head } of answers) expect(head).toMatch(/content-type: application\/problem\+json/i);
    expect(scene.received).toBe(received);
  });

  it('is distinguished from our own page, and from a machine, on a listener that is reached by name', async () => {
    const open = await startScene({}, { hosts: ['Gatewatch.internal'] });
    const look = async (...headers: string[]) =>
      (await ask('GET /orders/a', headers, open.server.url)).status;
    const host = 'Host: gatewatch.internal:8080';
    expect(await look(host)).toBe(200);
    expect(await look(host, 'Origin: http://gatewatch.internal:8080')).toBe(200);
    expect(await look(host, 'Sec-Fetch-Site: same-origin')).toBe(200);
    expect(await look(host, 'Origin: http://gatewatch.internal')).toBe(403);
    expect(await look('Host: other.internal:8080')).toBe(421);
    await open.server.stop(100);
  });

  it('is none when a probe names the listener by its address', async () => {
    for (const host of ['10.0.0.7:8080', '[2001:db8::1]:8080', 'localhost:8080'])
      expect((await ask('GET /readyz', [`Host: ${host}`])).status).toBe(200);
  });
});

describe('a listener', () => {
  it('says which address is taken, and by what kind of trouble', async () => {
    const options = { host: '127.0.0.1', port: Number(new URL(url).port), maxBodyBytes: 1, log: pino() };
    await expect(startHttpServer({ ...options, routes: () => {} })).rejects.toMatchObject({
      code: 'http_listen_failed',
      retryable: false,
      message: expect.stringMatching(/127\.0\.0\.1:\d+ \(EADDRINUSE\): another process/) as string,
    });
  });

  it('stops while a request hangs, after its grace, and lets a running one end within it', async () => {
    const one = await startScene();
    let release = () => {};
    one.behind = () => new Promise<void>((resolve) => (release = resolve));
    const running = post(`${one.server.url}/callbacks/acme-eu`, '{}');
    await expect.poll(() => one.received).toBe(1);
    const stopped = one.server.stop(5000);
    release();
    expect((await running).status).toBe(200);
    await stopped;

    const two = await startScene();
    two.behind = () => new Promise<void>(() => {});
    const hanging = post(`${two.server.url}/callbacks/acme-eu`, '{}').catch(() => 'cut off');
    await expect.poll(() => two.received).toBe(1);
    const start = performance.now();
    await two.server.stop(100);
    expect(performance.now() - start).toBeLessThan(2000);
    expect(await hanging).toBe('cut off');
  });
});

describe('a probe in HTTP/1.0, which has no Host header', () => {
  it.each(['/healthz', '/readyz'])('is answered at %s', async (path) => {
    expect((await sendRaw(url, `GET ${path} HTTP/1.0\r\n\r\n`)).status).toBe(200);
  });

  it('is refused everywhere else', async () => {
    for (const path of ['/metrics', '/orders/order-1', '/healthz/x'])
      expect((await sendRaw(url, `GET ${path} HTTP/1.0\r\n\r\n`)).status).toBe(421);
  });
});
