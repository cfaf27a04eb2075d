import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCertificate } from '../support/certificate.ts';
import { type CollectorProcess, startCollectorProcess } from '../support/collector-process.ts';
import { requestFrom } from '../support/http-from.ts';
import { hasOpenssl } from '../support/kafka-secure.ts';
import { until } from '../support/until.ts';
import { FAST_POLL, signedCallback } from './support/gateway.ts';

const KEYS = ['s3cret key number one', 's3cret key number two'] as const;
const PATHS = ['s3cret-path-one-of-the-gateway', 's3cret-path-two-of-the-gateway'] as const;

describe.skipIf(!(await hasOpenssl()))('SIGHUP', () => {
  let folder: string;
  let gateway: Server;
  let collector: CollectorProcess;
  let ca: string;
  const bearers = new Set<string>();
  const sent: string[] = [];

  const put = (name: string, text: string) => writeFile(path.join(folder, name), text);
  const certificate = () => (ca = makeCertificate(folder, 'intake').pem);
  const file = (name: string) => `\${file:${path.join(folder, name)}}`;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'gatewatch-reload-'));
    gateway = createServer((request, response) => {
      bearers.add(request.headers.authorization ?? '');
      response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await Promise.all([put('token', 's3cret-token-1'), put('key', KEYS[0]), put('path', PATHS[0])]);
    certificate();
    collector = await startCollectorProcess({
      folder,
      config: {
        gateways: [
          {
            name: 'acme',
            secureUrl: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
            token: file('token'),
            callbackKeys: [file('key')],
            callbackPathSecret: file('path'),
            poll: { ...FAST_POLL, delaysS: [0.5], rereadsS: [1] },
          },
        ],
        http: {
          intake: {
            host: '127.0.0.1',
            port: 0,
            tls: { cert: path.join(folder, 'intake.crt'), key: path.join(folder, 'intake.key') },
          },
        },
      },
    });
  });
  afterAll(async () => {
    await collector?.[Symbol.asyncDispose]();
    gateway?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function send(key: string, pathSecret: string): Promise<number> {
    const externalId = randomUUID();
    const { body, signature } = signedCallback({ externalId }, key);
    const { status } = await requestFrom(`${collector.intake}/callbacks/acme/${pathSecret}`, {
      method: 'POST',
      body,
      headers: { Signature: signature },
      ca,
    });
    if (status === 200) sent.push(externalId);
    return status;
  }
  const verdictOfLast = async () =>
    (await collector.query(`SELECT verdict FROM callbacks WHERE external_id = '${sent.at(-1)}'`))[0];
  async function hangUp(line: string): Promise<Record<string, unknown> | undefined> {
    const before = collector.logged(line).length;
    process.kill(collector.pid, 'SIGHUP');
    const logged = () => collector.logged(line);
    return (await until('the log to report it', logged, ({ length }) => length > before)).at(-1);
  }
  const RENEWED = 'secrets and certificates were read again';
  const REFUSED = 'the configuration was read again and is wrong; all stays as it was';

  it('renews token, keys, path secret and certificate', async () => {
    expect(await send(KEYS[0], PATHS[0])).toBe(200);
    expect(await verdictOfLast()).toEqual({ verdict: 'valid' });
    await until(
      'a read with the first token',
      () => [...bearers],
      (seen) => seen.includes('Bearer s3cret-token-1'),
    );

    await Promise.all([put('token', 's3cret-token-2'), put('key', KEYS[1]), put('path', PATHS[1])]);
    certificate();
    expect(await hangUp(RENEWED)).toMatchObject({
      renewed: ['gateways.acme.token', 'gateways.acme.callbackKeys', 'gateways.acme.callbackPathSecret'],
      needsRestart: false,
    });
    expect(await send(KEYS[1], PATHS[0])).toBe(404);
    expect(await send(KEYS[1], PATHS[1])).toBe(200);
    expect(await verdictOfLast()).toEqual({ verdict: 'valid' });
    expect(await send(KEYS[0], PATHS[1])).toBe(200);
    expect(await verdictOfLast()).toEqual({ verdict: 'mismatch' });
    await until(
      'a read with the second token',
      () => [...bearers],
      (seen) => seen.includes('Bearer s3cret-token-2'),
    );
  });

  it.each([
    ['a key that is too short', 'key', 's3cret'],
    ['a path secret that is none', 'path', 's3cret path'],
    ['a certificate that is none', 'intake.crt', 's3cret certificate'],
  ])('keeps all as it was over %s, and says so', async (_what, name, text) => {
    const good = { key: KEYS[1], path: PATHS[1] }[name];
    await put(name, text);
    await put('token', 's3cret-token-3');
    await hangUp(REFUSED);
    expect(await send(KEYS[1], PATHS[1])).toBe(200);
    expect(await verdictOfLast()).toEqual({ verdict: 'valid' });
    expect([...bearers]).not.toContain('Bearer s3cret-token-3');
    await put('token', 's3cret-token-2');
    if (good === undefined) certificate();
    else await put(name, good);
    await hangUp(RENEWED);
  });

  it('loses nothing that comes meanwhile, and shows no secret', async () => {
    const before = sent.length;
    const traffic = Array.from({ length: 8 }, async () => {
      for (let n = 0; n < 8; n += 1) expect(await send(KEYS[1], PATHS[1])).toBe(200);
    });
    for (let n = 0; n < 5; n += 1) await hangUp(RENEWED);
    await Promise.all(traffic);
    expect(sent.length).toBe(before + 64);
    const [row] = await collector.query<{ n: number }>('SELECT uniqExact(external_id) AS n FROM callbacks');
    expect(row?.n).toBe(sent.length);
    expect(collector.output()).not.toContain('s3cret');
  });
});
