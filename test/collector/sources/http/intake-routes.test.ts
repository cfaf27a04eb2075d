import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { GatewatchError } from '../../../../schemas/errors.ts';
import { rawPost, sendRaw } from '../../../support/http-raw.ts';
import { MAX_BODY, post, startScene, type HttpScene } from '../../../support/http-scene.ts';

let scene: HttpScene;
let url: string;
beforeAll(async () => {
  scene = await startScene();
  url = `${scene.server.url}/callbacks/acme-eu`;
});
afterAll(() => scene.server.stop(100));
beforeEach(() => {
  scene.deliveries.splice(0);
  scene.behind = async () => {};
});
const last = () => scene.deliveries.at(-1);

describe('a callback over HTTP', () => {
  it('is answered with 200 and nothing else, and handed on with an id of its own', async () => {
    const headers = { signature: 'abc', 'content-type': 'application/json' };
    const answers = [await post(url, '{"a":1}', headers), await post(url, '{"a":1}', headers)];
    expect(answers.map(({ status, text }) => ({ status, text }))).toEqual([
      { status: 200, text: '' },
      { status: 200, text: '' },
    ]);
    expect(last()).toMatchObject({ gateway: 'acme-eu', signatures: ['abc'] });
    expect(Buffer.from(last()?.body ?? []).toString()).toBe('{"a":1}');
    expect(new Set(scene.deliveries.map(({ deliveryId }) => deliveryId)).size).toBe(2);
  });

  it('arrives byte for byte, whatever the bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 2000 }), async (bytes) => {
        await post(url, new Uint8Array(bytes), { 'content-type': 'application/octet-stream' });
        expect(Buffer.compare(Buffer.from(last()?.body ?? []), Buffer.from(bytes))).toBe(0);
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    ['a JSON type', ['Content-Type: application/json; charset=utf-8']],
    ['a form', ['Content-Type: application/x-www-form-urlencoded']],
    ['text', ['Content-Type: text/plain']],
    ['parts', ['Content-Type: multipart/form-data; boundary=x']],
    ['no type', []],
    ['an empty type', ['Content-Type:']],
    ['a type that makes no sense', ['Content-Type: json']],
    ['a type that makes even less', ['Content-Type: ;;/"']],
  ])('is taken with %s', async (_kind, headers) => {
    expect((await sendRaw(url, rawPost('/callbacks/acme-eu', headers, '{"a":1}'))).status).toBe(200);
    expect(Buffer.from(last()?.body ?? []).toString()).toBe('{"a":1}');
  });

  it('that is compressed is unpacked, since its signature is over what it holds', async () => {
    const text = '{"externalId":"order-1"}';
    for (const [coding, packed] of [
      ['gzip', gzipSync(text)],
      ['br', brotliCompressSync(text)],
      ['deflate', deflateSync(text)],
      ['zstd', zstdCompressSync(text)],
    ] as const) {
      const answer = await post(url, packed, { 'content-encoding': coding });
      expect([coding, answer.status]).toEqual([coding, 200]);
      expect(Buffer.from(last()?.body ?? []).toString()).toBe(text);
    }
  });

  it('in a coding that is not known is refused with those that are', async () => {
    const answer = await post(url, 'x', { 'content-encoding': 'snappy' });
    expect(answer.status).toBe(415);
    expect(answer.headers.get('accept-encoding')).toBe('gzip, deflate, br, zstd');
    expect(scene.deliveries).toEqual([]);
  });

  it('that is not what its coding says goes on as it came, and a bomb stays small', async () => {
    const cut = gzipSync('{"externalId":"order-1"}').subarray(0, 20);
    expect((await post(url, cut, { 'content-encoding': 'gzip' })).status).toBe(200);
    expect(Buffer.compare(Buffer.from(last()?.body ?? []), cut)).toBe(0);
    const bomb = gzipSync('0'.repeat(1_000_000));
    expect((await post(url, bomb, { 'content-encoding': 'gzip' })).status).toBe(413);
    expect(scene.deliveries).toHaveLength(1);
  });

  it('is taken at an address with a slash at its end', async () => {
    expect((await post(`${url}/`, '{}')).status).toBe(200);
    expect(last()?.gateway).toBe('acme-eu');
  });

  it('keeps every Signature header, in any case, and bytes beyond ASCII', async () => {
    const headers = ['Signature: one', 'SIGNATURE: two', 'signature: caf\xe9'];
    await sendRaw(url, rawPost('/callbacks/acme-eu', headers, '{}'));
    expect(last()?.signatures).toEqual(['one', 'two', 'caf\xe9']);
    await sendRaw(url, rawPost('/callbacks/acme-eu', [], '{}'));
    expect(last()?.signatures).toEqual([]);
  });

  it('without a body is a delivery as well', async () => {
    expect((await sendRaw(url, rawPost('/callbacks/acme-eu', []))).status).toBe(200);
    expect(last()?.body.byteLength).toBe(0);
  });

  it('sent in chunks arrives whole', async () => {
    const chunked =
      'POST /callbacks/acme-eu HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n';
    expect((await sendRaw(url, `${chunked}3\r\n{"a\r\n4\r\n":1}\r\n0\r\n\r\n`)).status).toBe(200);
    expect(Buffer.from(last()?.body ?? []).toString()).toBe('{"a":1}');
  });

  it.each(['declared', 'chunked'])('that is too large (%s) is refused with 413', async (kind) => {
    const body = 'x'.repeat(MAX_BODY + 1);
    const answer =
      kind === 'declared'
        ? await sendRaw(url, rawPost('/callbacks/acme-eu', ['Content-Type: text/plain'], body))
        : await sendRaw(
            url,
            'POST /callbacks/acme-eu HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n' +
              `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
          );
    expect(answer.status).toBe(413);
    expect(answer.head).toMatch(/content-type: application\/problem\+json/i);
    expect(scene.deliveries).toEqual([]);
    expect((await post(url, 'x'.repeat(MAX_BODY))).status).toBe(200);
  });

  it.each(['nobody', 'acme-eu%20', 'ACME-EU', '..%2fadmin', '%00'])(
    'for the gateway %s is 404',
    async (name) => {
      const { received } = scene;
      const answer = await post(`${scene.server.url}/callbacks/${name}`, '{}');
      expect(answer.status).toBe(404);
      expect(answer.headers.get('content-type')).toContain('application/problem+json');
      expect(JSON.parse(answer.text)).toMatchObject({ type: 'about:blank', status: 404, title: 'Not Found' });
      expect(scene.received).toBe(received);
    },
  );

  it('is asked for again when nothing durable answers', async () => {
    scene.behind = async () => {
      throw new GatewatchError('the store at 10.0.0.7 is away', {
        code: 'store_unavailable',
        retryable: true,
      });
    };
    const answer = await post(url, '{}');
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    expect(JSON.parse(answer.text)).toMatchObject({ status: 503, title: 'Service Unavailable' });
    expect(answer.text).not.toContain('10.0.0.7');
  });

  it('is answered only when it is durable', async () => {
    let release = () => {};
    scene.behind = () => new Promise<void>((resolve) => (release = resolve));
    let answered = false;
    const answer = post(url, '{}').then(({ status }) => ((answered = true), status));
    await expect.poll(() => scene.received).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(answered).toBe(false);
    release();
    expect(await answer).toBe(200);
  });

  it('that hits a bug of ours is 500, is logged, and reveals nothing', async () => {
    scene.behind = async () => {
      throw new TypeError('cannot read secret-thing');
    };
    const answer = await post(url, '{"cardNumber":"4111111111111111"}');
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain('secret-thing');
    expect(scene.logged.at(-1)).toMatchObject({ level: 50, msg: 'a request failed' });
    expect(JSON.stringify(scene.logged)).not.toContain('4111111111111111');
  });

  it('is not taken by another method', async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) expect((await fetch(url, { method })).status).toBe(404);
  });
});
