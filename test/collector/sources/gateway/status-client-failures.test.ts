import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { RequestListener, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listen } from '../../../support/http-gateway.ts';
import { watchedOrder } from '../../../support/watched-order.ts';
import { body, useGateway } from './status-client-scene.ts';

const { gateway, client, read } = useGateway();

/** A response whose bytes are written by hand, so that it can be wrong. */
const raw = (text: string, end: (response: ServerResponse) => void) =>
  ((_request, response) => {
    response.socket?.write(text, () => end(response));
  }) satisfies RequestListener;

describe('no answer', () => {
  const nothing = (errorType: string) => ({
    httpStatus: null,
    outcome: 'unknown',
    errorType,
    body: null,
    bodyBytes: 0,
    retryAfterMs: null,
  });
  const poll = { deadlineMs: 300 };

  it.each<[string, string, RequestListener]>([
    ['before the headers', 'timeout', () => {}],
    ['in the headers', 'timeout', raw('HTTP/1.1 200 OK\r\nContent-', () => {})],
    ['in the body', 'timeout', raw('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{', () => {})],
  ])(
    'comes from a gateway that stops %s: the deadline covers all of it',
    async (_where, errorType, respond) => {
      const start = performance.now();
      expect(await read(respond, watchedOrder(), poll)).toEqual(nothing(errorType));
      expect(performance.now() - start).toBeLessThan(2000);
    },
  );

  it('comes from a gateway that drips: the deadline is one, not one for each byte', async () => {
    const start = performance.now();
    const drip: RequestListener = (_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(timer));
    };
    expect(await read(drip, watchedOrder(), poll)).toEqual(nothing('timeout'));
    expect(performance.now() - start).toBeLessThan(2000);
  });

  it('comes at the deadline also while the request waits for a connection, and is never sent then', async () => {
    const held: ServerResponse[] = [];
    gateway().respond = (_request, response) => void held.push(response);
    const one = client({ poll: { concurrency: 1, deadlineMs: 8000 } });
    const before = gateway().requests.length;
    const answers = await Promise.all([
      one.read(watchedOrder({ orderId: 'a' }), 1000),
      one.read(watchedOrder({ orderId: 'b' }), 100),
    ]);
    expect(answers).toEqual([nothing('timeout'), nothing('timeout')]);
    gateway().respond = body('{}');
    expect(await one.read(watchedOrder({ orderId: 'c' }))).toMatchObject({ outcome: 'ok' });
    const paths = gateway()
      .requests.slice(before)
      .map(({ url }) => url?.split('/').at(-2));
    expect(paths).toEqual(['a', 'c']);
    expect(held).toHaveLength(1);
  });

  it.each<[string, string, RequestListener]>([
    ['closes without a word', 'connection_closed', (_request, response) => response.socket?.end()],
    ['resets', 'connection_reset', (_request, response) => response.socket?.resetAndDestroy()],
    [
      'closes in the middle of a declared body',
      'truncated',
      raw('HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{"orderStatus"', (response) =>
        response.socket?.end(),
      ),
    ],
    [
      'closes in the middle of a chunked body',
      'truncated',
      raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"ord\r\n', (response) =>
        response.socket?.end(),
      ),
    ],
    ['speaks another protocol', 'protocol', raw('SSH-2.0-OpenSSH_9.2\r\n', () => {})],
    ['answers with nonsense for headers', 'protocol', raw('HTTP/1.1 200 OK\r\n: x\r\n\r\n', () => {})],
  ])('comes from a gateway that %s', async (_what, errorType, respond) => {
    expect(await read(respond)).toEqual(nothing(errorType));
  });

  it('comes from an address where nobody listens', async () => {
    const { port, stop } = await listen(createTcpServer());
    await stop();
    expect(await client({ secureUrl: `http://127.0.0.1:${port}` }).read(watchedOrder())).toEqual(
      nothing('connection_refused'),
    );
  });

  it('comes from a name that does not resolve', async () => {
    const answer = await client({ secureUrl: 'http://nowhere.invalid', poll: { deadlineMs: 8000 } }).read(
      watchedOrder(),
    );
    expect(answer).toEqual(nothing('dns'));
  });

  it('comes by TLS from a port that does not speak it', async () => {
    const answer = await client({ secureUrl: gateway().url.replace('http:', 'https:') }).read(watchedOrder());
    expect(answer).toEqual(nothing('tls'));
  });

  it.skipIf(spawnSync('openssl', ['version']).error !== undefined)(
    'comes from a server with a certificate that nobody vouches for, and it never sees the token',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'gatewatch-tls-'));
      const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
      const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
      const kind = [
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '2',
      ];
      execFileSync('openssl', ['req', ...kind, ...subject, '-keyout', key, '-out', cert], {
        stdio: 'ignore',
      });
      let seen = 0;
      const options = { key: readFileSync(key), cert: readFileSync(cert) };
      const server = await listen(
        createTlsServer(options, (_request, response) => ((seen += 1), response.end())),
      );
      const answer = await client({ secureUrl: `https://127.0.0.1:${server.port}` }).read(watchedOrder());
      expect({ answer, seen }).toEqual({ answer: nothing('tls'), seen: 0 });
      await server.stop();
      rmSync(folder, { recursive: true });
    },
  );

  it('is forgotten with the next answer: a broken connection is not used again', async () => {
    const one = client();
    gateway().respond = (_request, response) => response.socket?.resetAndDestroy();
    expect((await one.read(watchedOrder())).outcome).toBe('unknown');
    gateway().respond = body('{}');
    expect((await one.read(watchedOrder())).outcome).toBe('ok');
  });
});
