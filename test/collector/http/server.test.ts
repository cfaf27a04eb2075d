import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHttpServer } from '../../../collector/http/server.ts';
import { sendRaw } from '../../support/http-raw.ts';
import { post, startScene, type HttpScene } from './scene.ts';

let scene: HttpScene;
let url: string;
beforeAll(async () => {
  scene = await startScene();
  url = scene.server.url;
});
afterAll(() => scene.server.stop(100));

describe('a web page of somebody else', () => {
  it.each([
    ['names another host, as after DNS rebinding', ['Host: evil.example']],
    ['comes from another origin', ['Host: 127.0.0.1', 'Origin: https://evil.example']],
    ['is marked as cross-site', ['Host: localhost', 'Sec-Fetch-Site: cross-site']],
  ])('is refused what people see and do when it %s', async (_how, headers) => {
    const ask = (line: string) =>
      sendRaw(
        url,
        `${line} HTTP/1.1\r\nConnection: close\r\nContent-Length: 0\r\n${headers.join('\r\n')}\r\n\r\n`,
      );
    expect((await ask('GET /orders/order-1')).status).toBe(403);
    expect((await ask('POST /orders')).status).toBe(403);
    expect((await ask('POST /annotations')).status).toBe(403);
    expect((await ask('GET /healthz')).status).toBe(200);
  });

  it('is told by its origin alone on a listener that others may reach by name', async () => {
    const open = await startScene({ loopbackOnly: false });
    const ask = (headers: string) =>
      sendRaw(open.server.url, `GET /orders/a HTTP/1.1\r\nConnection: close\r\n${headers}\r\n\r\n`);
    expect((await ask('Host: gatewatch.internal:8080')).status).toBe(200);
    expect(
      (await ask('Host: gatewatch.internal:8080\r\nOrigin: http://gatewatch.internal:8080')).status,
    ).toBe(200);
    expect((await ask('Host: gatewatch.internal:8080\r\nOrigin: https://evil.example')).status).toBe(403);
    await open.server.stop(100);
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
