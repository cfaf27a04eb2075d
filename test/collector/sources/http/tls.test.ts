import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTlsFiles } from '../../../../collector/sources/http/tls.ts';
import { httpConfigSchema } from '../../../../schemas/config-http.ts';
import { makeCertificate, type Certificate } from '../../../support/certificate.ts';
import { requestFrom } from '../../../support/http-from.ts';
import { hasOpenssl } from '../../../support/kafka-secure.ts';
import { startScene } from '../../../support/http-scene.ts';

describe.skipIf(!(await hasOpenssl()))('a listener with TLS', () => {
  let folder: string;
  let first: Certificate;
  let second: Certificate;
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'gatewatch-tls-'));
    first = makeCertificate(folder, 'first');
    second = makeCertificate(folder, 'second');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('takes callbacks over HTTPS, and shows a new certificate without a restart', async () => {
    const { server, deliveries } = await startScene({}, { tls: readTlsFiles(first) });
    const send = (ca: string) =>
      requestFrom(`${server.url}/callbacks/acme-eu`, { method: 'POST', body: '{"a":1}', ca });
    expect(server.url).toMatch(/^https:/);
    expect((await send(first.pem)).status).toBe(200);
    await expect(send(second.pem)).rejects.toThrow(/self-signed/);
    server.renewTls(readTlsFiles(second));
    expect((await send(second.pem)).status).toBe(200);
    await expect(send(first.pem)).rejects.toThrow(/self-signed/);
    expect(deliveries.map(({ body }) => Buffer.from(body).toString())).toEqual(['{"a":1}', '{"a":1}']);
    await server.stop(100);
  });

  it('bounds connections as one without', async () => {
    const limits = { maxConnectionsPerAddress: 1, maxConnections: 10 };
    const scene = await startScene(
      {},
      { tls: readTlsFiles(first), limits: httpConfigSchema.parse({ limits }).limits },
    );
    let release = () => {};
    scene.behind = () => new Promise<void>((resolve) => (release = resolve));
    const url = `${scene.server.url}/callbacks/acme-eu`;
    const waiting = requestFrom(url, { method: 'POST', body: '{}', ca: first.pem });
    await expect.poll(() => scene.received).toBe(1);
    await expect(requestFrom(url, { method: 'POST', body: '{}', ca: first.pem })).rejects.toThrow();
    release();
    expect((await waiting).status).toBe(200);
    await scene.server.stop(100);
  });

  it.each([
    ['a file that is not there', () => ({ cert: '/nowhere/cert', key: first.key }), /nowhere.*ENOENT/],
    ['the key of another', () => ({ cert: first.cert, key: second.key }), /not a certificate and its key/],
    ['no PEM at all', () => ({ cert: first.cert, key: text('no key') }), /not a certificate and its key/],
  ])('refuses %s and names the files', (_what, files, message) => {
    expect(() => readTlsFiles(files())).toThrow(message);
    expect(() => readTlsFiles(files())).not.toThrow(/no key/);
  });
  const text = (content: string) => {
    const file = path.join(folder, 'not-a-key');
    writeFileSync(file, content);
    return file;
  };
});
