import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpTransport } from '../../../../collector/sinks/otlp/http-transport.ts';

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

type Answer = Parameters<typeof createServer>[1];

/** A transport to a receiver that answers so. */
async function transportTo(answer: Answer, timeoutMs = 5000) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const transport = createHttpTransport({
    endpoint: `http://127.0.0.1:${port}/`,
    timeoutMs,
    contentType: 'application/x-protobuf',
  });
  cleanUps.push(
    () => transport.close(),
    () => server.closeAllConnections(),
    () => server.close(),
  );
  return transport;
}

const request = Uint8Array.of(1, 2, 3);

describe('OTLP over HTTP', () => {
  it('posts the request as it is and gives the answer', async () => {
    const transport = await transportTo(async (incoming, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const { method, url, headers } = incoming;
      const text = [method, url, headers['content-type'], Buffer.concat(chunks).join()];
      response.end(text.join(' '));
    });
    expect(Buffer.from(await transport.post(request)).toString()).toBe(
      'POST /v1/traces application/x-protobuf 1,2,3',
    );
  });

  it.each([
    [400, 'export_refused'],
    [413, 'export_refused'],
    [422, 'export_refused'],
    [401, 'export_failed'],
    [404, 'export_failed'],
    [429, 'export_failed'],
    [503, 'export_failed'],
  ])('takes %i for %s', async (status, code) => {
    const transport = await transportTo((_, response) => void response.writeHead(status).end('a secret'));
    const error: unknown = await transport.post(request).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code, retryAfterMs: null });
    expect(String(error)).not.toContain('secret');
  });

  it.each([
    ['7', 7000],
    ['soon', null],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ])('reads Retry-After: %s', async (text, wanted) => {
    const transport = await transportTo(
      (_, response) => void response.writeHead(503, { 'retry-after': text }).end(),
    );
    await expect(transport.post(request)).rejects.toMatchObject({ retryAfterMs: wanted });
  });

  it('gives up on a receiver that drips, after its time limit', async () => {
    const transport = await transportTo((_, response) => {
      const drip = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(drip));
    }, 200);
    await expect(transport.post(request)).rejects.toMatchObject({ code: 'export_failed', retryable: true });
  });

  it('reads no endless answer', async () => {
    const chunk = Buffer.alloc(65_536);
    const transport = await transportTo((_, response) => {
      const pour = (): void => {
        while (!response.destroyed && response.write(chunk));
        response.once('drain', pour);
      };
      pour();
    });
    expect(await transport.post(request)).toHaveLength(0);
  });

  it('fails in a way that can be repeated when nobody listens', async () => {
    const transport = createHttpTransport({ endpoint: 'http://127.0.0.1:1', contentType: 'text/plain' });
    await expect(transport.post(request)).rejects.toMatchObject({
      code: 'export_failed',
      message: expect.stringContaining('ECONNREFUSED') as string,
    });
  });
});
