import type { RequestListener } from 'node:http';
import { inspect } from 'node:util';
import { createServer } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classify } from '../../../../collector/sources/gateway/status-client.ts';
import { listen, startHttpGateway } from '../../../support/http-gateway.ts';
import { watchedOrder } from '../../../support/watched-order.ts';
import { body, TOKEN, useGateway } from './status-client-scene.ts';

const { gateway, client, read } = useGateway();

const status = (code: number, text = '', headers: Record<string, string> = {}) =>
  ((_request, response) => response.writeHead(code, headers).end(text)) satisfies RequestListener;

describe('a status request', () => {
  it.each([
    ['Deposit', 'external-id', '/api/v1/integration/deposit-order/order-1/status'],
    [
      'Deposit',
      'transaction-id',
      '/api/v1/integration/deposit-order/order-1/status-by-external-transaction-id',
    ],
    ['Withdrawal', 'external-id', '/api/v1/integration/withdrawal-order/order-1/status'],
    [
      'Withdrawal',
      'transaction-id',
      '/api/v1/integration/withdrawal-order/order-1/status-by-external-transaction-id',
    ],
  ] as const)('for a %s by %s goes to %s', async (orderType, idKind, path) => {
    await read(body('{}'), watchedOrder({ orderType, idKind }));
    expect(gateway().requests.map(({ method, url }) => ({ method, url }))).toEqual([
      { method: 'GET', url: path },
    ]);
  });

  it('carries the token in its header and nowhere else, and asks for a plain body', async () => {
    const one = client();
    const answer = await one.read(watchedOrder());
    const [request] = gateway().requests;
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      accept: expect.stringContaining('application/json'),
    });
    expect(request?.headers['accept-encoding']).toBe('identity');
    expect(request?.url).not.toContain(TOKEN);
    expect(inspect([answer, one], { depth: 9, showHidden: true })).not.toContain(TOKEN);
  });

  it('goes below the path of the address, with the prefix and paths of the settings', async () => {
    gateway().respond = body('{}');
    await client({
      secureUrl: `${gateway().url}/pay/`,
      pathPrefix: '/v9/',
      paths: { depositStatus: '/o/{id}/s' },
    }).read(watchedOrder());
    expect(gateway().requests[0]?.url).toBe('/pay/v9/o/order-1/s');
  });

  it('never leaves the base path, whatever the id', async () => {
    const one = client({ paths: { depositStatus: '/deposit-order/{id}/status' } });
    gateway().respond = body('{}');
    const nasty = fc.oneof(
      fc.string({ minLength: 1, maxLength: 40, unit: 'binary' }),
      fc
        .array(fc.constantFrom('..', '.', '/', '\\', '%2e', '%2f', '?', '#', '$&', '{id}', '\n', ' ', 'a'), {
          minLength: 1,
          maxLength: 6,
        })
        .map((parts) => parts.join('')),
    );
    await fc.assert(
      fc.asyncProperty(nasty, async (orderId) => {
        gateway().requests.splice(0);
        const answer = await one.read(watchedOrder({ orderId }));
        const sent = gateway().requests[0]?.url ?? null;
        const refused = answer.errorType === 'unsafe_id';
        expect(sent === null).toBe(refused);
        const path = sent ?? `/api/v1/integration/deposit-order/${encodeURIComponent('refused')}/status`;
        expect(path).toMatch(/^\/api\/v1\/integration\/deposit-order\/[^/?#\\]+\/status$/);
        const segment = decodeURIComponent(path.split('/')[5] ?? '');
        expect(refused || segment === orderId).toBe(true);
        // Also not for a server that decodes before it resolves dots.
        expect(segment.split(/[/\\]/)).not.toContain('..');
      }),
      { numRuns: 300 },
    );
  });

  it('uses its connections again', async () => {
    const before = gateway().connections();
    const one = client();
    const answers = [
      body('{"a":1}'),
      status(404, 'x'.repeat(5000)),
      status(204),
      status(500, 'no'),
      body('{}'),
    ];
    for (const respond of [...answers, ...answers, ...answers, ...answers]) {
      gateway().respond = respond;
      await one.read(watchedOrder());
    }
    // The pool may open a second one before it knows that the first is free again.
    expect(gateway().connections() - before).toBeLessThanOrEqual(2);
  });

  it('opens no more connections than the concurrency allows', async () => {
    const before = gateway().connections();
    gateway().respond = (_request, response) => void setTimeout(() => response.end('{}'), 20);
    const one = client({ poll: { concurrency: 3 } });
    await Promise.all(Array.from({ length: 12 }, () => one.read(watchedOrder())));
    expect(gateway().connections() - before).toBe(3);
  });
});

describe('an answer', () => {
  it('gives its body as it came', async () => {
    const text = '{"orderStatus":"Success","name":"Ünïcödé"}';
    expect(await read(body(text))).toEqual({
      httpStatus: 200,
      outcome: 'ok',
      errorType: '',
      body: text,
      bodyBytes: Buffer.byteLength(text),
      retryAfterMs: null,
    });
  });

  it.each([204, 205, 200])('without a body and with status %i is left to the decoder', async (code) => {
    expect(await read(status(code))).toMatchObject({
      httpStatus: code,
      outcome: 'ok',
      body: '',
      bodyBytes: 0,
    });
  });

  it('is the reply itself, not the early hints before it', async () => {
    const answer = await read((_request, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' }, () => response.end('{}'));
    });
    expect(answer).toMatchObject({ httpStatus: 200, outcome: 'ok', body: '{}' });
  });

  describe('that is compressed although nobody asked for it', () => {
    const text = '{"orderStatus":"Success"}';
    it.each([
      ['gzip', gzipSync(text)],
      ['x-gzip', gzipSync(text)],
      ['deflate', deflateSync(text)],
      ['deflate', deflateRawSync(text)],
      ['br', brotliCompressSync(text)],
      ['zstd', zstdCompressSync(text)],
      ['identity, GZIP', gzipSync(text)],
      ['br, gzip', gzipSync(brotliCompressSync(text))],
    ])('with %s is read', async (coding, packed) => {
      const answer = await read(body(packed, { 'content-encoding': coding }));
      expect(answer).toMatchObject({ outcome: 'ok', body: text, bodyBytes: packed.byteLength });
    });

    it('with a coding that nobody knows, or is not what it says, says so', async () => {
      expect(await read(body(text, { 'content-encoding': 'snappy' }))).toMatchObject({
        outcome: 'invalid_response',
        errorType: 'coding_unknown',
        httpStatus: 200,
        body: null,
      });
      const cut = gzipSync(text).subarray(0, 20);
      expect(await read(body(cut, { 'content-encoding': 'gzip' }))).toMatchObject({
        outcome: 'invalid_response',
        errorType: 'coding_damaged',
      });
    });

    it('is not unpacked beyond the size limit', async () => {
      const bomb = gzipSync('0'.repeat(5_000_000));
      const answer = await read(body(bomb, { 'content-encoding': 'gzip' }), watchedOrder(), {
        maxReplyBytes: 100_000,
      });
      expect(answer).toMatchObject({ outcome: 'invalid_response', errorType: 'too_large', body: null });
    });
  });

  it.each([
    ['100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['103 Early Hints', 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n'],
    ['both', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n'],
  ])('that %s comes before is read', async (_what, before) => {
    const saying = await listen(
      createServer((socket) => {
        const reply = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}';
        socket.on('data', () => void socket.write(before + reply));
        socket.on('error', () => undefined);
      }),
    );
    const one = client({ secureUrl: `http://127.0.0.1:${saying.port}` });
    for (let n = 0; n < 3; n += 1)
      expect(await one.read(watchedOrder())).toMatchObject({ outcome: 'ok', body: '{}' });
    expect(saying.connections()).toBeLessThanOrEqual(2);
    await saying.stop();
  });

  it.each([
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [423, 'locked'],
    [429, 'rate_limited'],
    [400, 'client_error'],
    [422, 'client_error'],
    [498, 'client_error'],
    [499, 'unknown'],
    [500, 'unknown'],
    [503, 'unknown'],
    [599, 'unknown'],
    [302, 'unknown'],
    [304, 'unknown'],
  ] as const)('with status %i is %s, whatever its body says', async (code, outcome) => {
    const answer = await read(status(code, code === 304 ? '' : '{"orderStatus":"Success"}'));
    expect(answer).toMatchObject({ httpStatus: code, outcome, errorType: `http_${code}`, body: null });
  });

  it('of any status is ok from 200 to 299 only, and unknown from 499 on', () => {
    for (let code = 200; code <= 999; code += 1) {
      expect(classify(code).outcome === 'ok').toBe(code < 300);
      expect(classify(code).outcome === 'unknown').toBe((code >= 300 && code < 400) || code >= 499);
    }
  });

  it('that redirects is not followed: the token goes nowhere else', async () => {
    const elsewhere = await startHttpGateway((_request, response) => response.end('{}'));
    const answer = await read(status(302, '', { location: `${elsewhere.url}/x` }));
    expect(answer).toMatchObject({ httpStatus: 302, outcome: 'unknown' });
    expect([gateway().requests.length, elsewhere.requests.length]).toEqual([1, 0]);
    await elsewhere.stop();
  });

  it.each([
    ['120', 120_000],
    ['0', 0],
    ['Sat, 21 Nov 2026 10:16:30 GMT', 60_000],
    ['Sat, 21 Nov 2026 10:14:30 GMT', 0],
    ['-5', null],
    ['soon', null],
    ['1e9', null],
    ['', null],
  ])('with Retry-After %j asks to wait %j ms, by the clock of the gateway', async (header, expected) => {
    const headers = { 'retry-after': header, date: 'Sat, 21 Nov 2026 10:15:30 GMT' };
    expect(await read(status(429, '', headers))).toMatchObject({ retryAfterMs: expected });
  });

  it('larger than the cap is refused, declared or not, and the connection is closed', async () => {
    const poll = { maxReplyBytes: 1000 };
    for (const chunked of [false, true]) {
      const answer = await read(
        (_request, response) => {
          if (!chunked) response.setHeader('content-length', 5000);
          response.write('x'.repeat(2500));
          response.end('x'.repeat(2500));
        },
        watchedOrder(),
        poll,
      );
      expect(answer).toMatchObject({ outcome: 'invalid_response', errorType: 'too_large', body: null });
    }
    expect(await read(body('x'.repeat(1000)), watchedOrder(), poll)).toMatchObject({ outcome: 'ok' });
  });

  it.each(['too large', 'cut off', 'endless'])(
    'that refuses us is no less a refusal when its body is %s',
    async (kind) => {
      const answer = await read(
        (_request, response) => {
          response.writeHead(401, { 'content-length': '50000' });
          response.write('x'.repeat(2000));
          if (kind === 'too large') response.end('x'.repeat(48_000));
          if (kind === 'cut off') setTimeout(() => response.destroy(), 20);
        },
        watchedOrder(),
        { maxReplyBytes: 10_000, deadlineMs: 300 },
      );
      expect(answer).toMatchObject({ httpStatus: 401, outcome: 'unauthorized', errorType: 'http_401' });
    },
  );
});
