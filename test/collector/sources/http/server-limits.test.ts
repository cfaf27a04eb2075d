import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { httpConfigSchema } from '../../../../schemas/config-http.ts';
import { requestFrom } from '../../../support/http-from.ts';
import { sendRaw } from '../../../support/http-raw.ts';
import { startScene, type HttpScene } from '../../../support/http-scene.ts';

const scenes: HttpScene[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(scenes.splice(0).map(({ server }) => server.stop(100)));
});

type Limits = Parameters<typeof httpConfigSchema.parse>[0] & object;
async function start(
  limits: Limits,
  options: Parameters<typeof startScene>[1] = {},
  gateway: Parameters<typeof startScene>[2] = {},
): Promise<HttpScene> {
  const scene = await startScene(
    {},
    { limits: httpConfigSchema.parse({ limits }).limits, ...options },
    gateway,
  );
  scenes.push(scene);
  return scene;
}

const send = (scene: HttpScene, from: string, headers: Record<string, string> = {}) =>
  requestFrom(`${scene.server.url}/callbacks/acme-eu`, { from, method: 'POST', body: '{}', headers });

/** A connection that says nothing by itself. */
async function open(scene: HttpScene, from: string): Promise<Socket & { closedYet: boolean }> {
  const { hostname, port } = new URL(scene.server.url);
  const socket = Object.assign(connect({ port: Number(port), host: hostname, localAddress: from }), {
    closedYet: false,
  });
  sockets.push(socket);
  // Whoever reads nothing does not see that the other end has closed.
  socket.resume();
  socket.on('error', () => undefined).on('close', () => (socket.closedYet = true));
  await new Promise((resolve) => socket.once('connect', resolve));
  return socket;
}

describe('requests of one address', () => {
  it('beyond the rate are answered 429 with the time to wait, and those of others are taken', async () => {
    const scene = await start({ requestsPerSecond: 1 });
    const statuses = [];
    for (let n = 0; n < 15; n += 1) statuses.push((await send(scene, '127.0.0.9')).status);
    expect(statuses).toEqual([...Array<number>(10).fill(200), ...Array<number>(5).fill(429)]);
    const answer = await send(scene, '127.0.0.9');
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect((await send(scene, '127.0.0.10')).status).toBe(200);
    // What no route takes counts as well.
    expect((await requestFrom(`${scene.server.url}/nothing`, { from: '127.0.0.9' })).status).toBe(429);
    expect(scene.refused).toEqual(Array(7).fill('rate_limit'));
  });

  it('that is the gateway’s are not counted', async () => {
    const isTrusted = (address: string) => address === '127.0.0.9';
    const scene = await start({ requestsPerSecond: 0.1 }, { isTrusted });
    for (let n = 0; n < 5; n += 1) expect((await send(scene, '127.0.0.9')).status).toBe(200);
    expect((await send(scene, '127.0.0.1')).status).toBe(200);
    expect((await send(scene, '127.0.0.1')).status).toBe(429);
  });

  it('are counted by the address that a trusted proxy names, and by no other’s word', async () => {
    const scene = await start({ requestsPerSecond: 0.1 }, { trustedProxies: ['127.0.0.9'] });
    const forwarded = (address: string) => ({ 'x-forwarded-for': address });
    for (const address of ['203.0.113.1', '203.0.113.2'])
      expect((await send(scene, '127.0.0.9', forwarded(address))).status).toBe(200);
    expect((await send(scene, '127.0.0.9', forwarded('203.0.113.1'))).status).toBe(429);
    expect((await send(scene, '127.0.0.1', forwarded('203.0.113.3'))).status).toBe(200);
    expect((await send(scene, '127.0.0.1', forwarded('203.0.113.4'))).status).toBe(429);
  });
});

describe('who may send callbacks', () => {
  it('is who comes from an address of the gateway, where there is a list', async () => {
    const scene = await start({}, {}, { callbackAddresses: ['127.0.0.8/30'] });
    expect((await send(scene, '127.0.0.9')).status).toBe(200);
    const stranger = await send(scene, '127.0.0.1');
    expect([stranger.status, stranger.headers['content-type']]).toEqual([
      403,
      'application/problem+json; charset=utf-8',
    ]);
    expect([scene.refused, scene.received]).toEqual([['foreign_address'], 1]);
  });
});

describe('a slow sender', () => {
  const quick = { headersTimeoutMs: 300, requestTimeoutMs: 600, idleTimeoutMs: 300 };
  const head = 'POST /callbacks/acme-eu HTTP/1.1\r\nHost: 127.0.0.1\r\n';

  it.each([
    ['says nothing', ''],
    ['stops in the middle of the head', `${head}X-A: 1\r\nX-B: `],
    ['stops in the middle of the body', `${head}Content-Length: 100\r\n\r\n{"a":`],
    ['stops between two chunks', `${head}Transfer-Encoding: chunked\r\n\r\n3\r\n{"a\r\n`],
  ])('that %s is cut off', async (_how, text) => {
    const scene = await start(quick);
    const socket = await open(scene, '127.0.0.9');
    socket.write(text);
    await expect.poll(() => socket.closedYet).toBe(true);
    expect(scene.deliveries).toEqual([]);
  });

  it('that drips a byte now and then is cut off as well', async () => {
    const scene = await start(quick);
    const socket = await open(scene, '127.0.0.9');
    socket.write(`${head}Content-Length: 100000\r\n\r\n`);
    const drip = setInterval(() => socket.write('x'), 50);
    await expect.poll(() => socket.closedYet).toBe(true);
    clearInterval(drip);
    expect(scene.deliveries).toEqual([]);
  });

  it('that is done and asks for nothing more is cut off', async () => {
    const scene = await start(quick);
    const socket = await open(scene, '127.0.0.9');
    socket.write(`${head}Content-Length: 2\r\n\r\n{}`);
    await expect.poll(() => scene.deliveries.length).toBe(1);
    await expect.poll(() => socket.closedYet).toBe(true);
  });
});

describe('a head that is too large', () => {
  it.each([
    ['one header', `X-A: ${'x'.repeat(20_000)}\r\n`],
    ['many headers', Array.from({ length: 2000 }, (_, n) => `X-${n}: 1\r\n`).join('')],
  ])('by %s is refused with 431', async (_how, headers) => {
    const scene = await start({});
    const answer = await sendRaw(
      scene.server.url,
      `POST /callbacks/acme-eu HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n`,
    );
    expect([answer.status, scene.received]).toEqual([431, 0]);
  });
});

describe('open connections', () => {
  it('of one address are bounded: the one that has done nothing for longest gives way', async () => {
    const scene = await start({ maxConnectionsPerAddress: 3 });
    const [first, second, third] = [
      await open(scene, '127.0.0.9'),
      await open(scene, '127.0.0.9'),
      await open(scene, '127.0.0.9'),
    ];
    const other = await open(scene, '127.0.0.10');
    first.write('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    await new Promise((resolve) => first.once('data', resolve));
    await open(scene, '127.0.0.9');
    await expect.poll(() => second.closedYet).toBe(true);
    expect([first.closedYet, third.closedYet, other.closedYet]).toEqual([false, false, false]);
    expect(scene.refused).toEqual(['connections']);
  });

  it('in all are bounded: who has most of them loses one', async () => {
    const scene = await start({ maxConnections: 5 });
    const modest = await open(scene, '127.0.0.10');
    const greedy: Awaited<ReturnType<typeof open>>[] = [];
    for (let n = 0; n < 20; n += 1) greedy.push(await open(scene, '127.0.0.9'));
    await expect.poll(() => greedy.filter(({ closedYet }) => closedYet).length).toBe(16);
    expect(modest.closedYet).toBe(false);
  });

  it('whose request is being answered are not closed for others', async () => {
    const scene = await start({ maxConnectionsPerAddress: 2 });
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    scene.behind = () => released;
    const waiting = [send(scene, '127.0.0.9'), send(scene, '127.0.0.9')];
    await expect.poll(() => scene.received).toBe(2);
    const late = await open(scene, '127.0.0.9');
    await expect.poll(() => late.closedYet).toBe(true);
    release();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
  });

  it('of the gateway are its own affair', async () => {
    const isTrusted = (address: string) => address === '127.0.0.9';
    const scene = await start({ maxConnections: 1, maxConnectionsPerAddress: 1 }, { isTrusted });
    const own = [await open(scene, '127.0.0.9'), await open(scene, '127.0.0.9')];
    const strange = await open(scene, '127.0.0.1');
    await open(scene, '127.0.0.1');
    await expect.poll(() => strange.closedYet).toBe(true);
    expect(own.map(({ closedYet }) => closedYet)).toEqual([false, false]);
  });
});
