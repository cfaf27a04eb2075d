import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, request as httpRequest, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Finding } from '../../../operate/doctor/check.ts';
import { startHttpProxy } from '../../support/http-proxy.ts';
import { createSandbox, type Sandbox } from '../../../sandbox/server.ts';
import { cli } from './support/cli.ts';
import { migratedStore, type MigratedStore } from './support/seeded-order.ts';

let sandbox: Sandbox;
let db: MigratedStore;
let folder: string;
let env: Record<string, string>;
const servers: Server[] = [];

beforeAll(async () => {
  [sandbox, db] = await Promise.all([createSandbox({ token: 's3cret-token' }), migratedStore()]);
  folder = mkdtempSync(join(tmpdir(), 'gatewatch-doctor-test-'));
  env = {
    GATEWATCH_GATEWAY_NAME: 'acme-eu',
    GATEWATCH_GATEWAY_URL: sandbox.secureUrl,
    GATEWATCH_GATEWAY_TOKEN: 's3cret-token',
    GATEWATCH_CALLBACK_KEY: 's3cret-callback-key',
    GATEWATCH_DATA_DIR: db.embedded.dataDir,
    GATEWATCH_HTTP_PORT: '0',
    GATEWATCH_EMBEDDED_PORT: '0',
  };
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});
afterAll(async () => {
  await Promise.all([sandbox.stop(), db.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

async function listen<T extends Server>(server: T): Promise<number> {
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

async function examine(
  change: Record<string, string> = {},
  cwd?: string,
): Promise<{
  code: number | null;
  findings: readonly Finding[];
  find: (check: string) => Finding | undefined;
}> {
  const result = await cli(['doctor', '--json'], {
    env: { ...env, ...change },
    ...(cwd === undefined ? {} : { cwd }),
  });
  expect(result.stdout + result.stderr).not.toContain('s3cret');
  expect(result.stderr).toBe('');
  const { ok, findings } = JSON.parse(result.stdout) as { ok: boolean; findings: Finding[] };
  expect(ok).toBe(result.code === 0);
  return {
    code: result.code,
    findings,
    find: (check) => findings.find((finding) => finding.check === check),
  };
}

describe('doctor, when all is well', () => {
  test('finds nothing wrong, exits with 0 and prints what it looked at', async () => {
    const { code, stdout, stderr } = await cli(['doctor'], { env });
    expect(stderr).toBe('');
    expect(stdout).not.toContain('s3cret');
    expect(stdout).toMatch(/^ok {4}configuration: From the environment: gateways acme-eu;/m);
    expect(stdout).toMatch(/^ok {4}node: Node\.js 24\./m);
    expect(stdout).toMatch(/^ok {4}signatures: The worked example verifies\./m);
    expect(stdout).toMatch(/^ok {4}store: The embedded ClickHouse answers: version \d.*served at http/m);
    expect(stdout).toMatch(/^ok {4}store: schema: Up to date/m);
    expect(stdout).toMatch(
      /^ok {4}store: reader: gatewatch_reader can read and cannot write; its password is/m,
    );
    if (process.platform === 'linux') expect(stdout).toMatch(/^ok {4}store: walls: .*\(Landlock \d+\)\.$/m);
    expect(stdout).toMatch(/gateway acme-eu: status request: The gateway answers 404 in \d+ ms/);
    expect(stdout).toMatch(/^ok {4}gateway acme-eu: clock/m);
    expect(stdout).toMatch(/0 failed\.\n$/);
    expect(code).toBe(0);
  });

  test('proves the engine without leaving anything where nothing was', async () => {
    const { code, find } = await examine({ GATEWATCH_DATA_DIR: join(folder, 'new') }, folder);
    expect(code).toBe(0);
    expect(find('store')?.message).toContain('started for this check');
    expect(find('store: schema')?.message).toContain('the first run makes the tables');
    expect(find('disk')?.status).toBe('ok');
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('doctor about the configuration', () => {
  test('lists every problem, and still examines the store', async () => {
    const { code, find } = await examine({ GATEWATCH_GATEWAY_URL: 'nowhere', GATEWATCH_GATEWAY_NAME: 'A' });
    expect(code).toBe(1);
    expect(find('configuration')).toMatchObject({ status: 'fail' });
    expect(find('configuration')?.message).toContain(
      'gateways.0.secureUrl: expected an http or https address',
    );
    expect(find('configuration')?.message).toContain('gateways.0.name: expected lower-case letters');
    expect(find('store')?.status).toBe('ok');
  });

  test('warns of a missing callback key and refuses a short one', async () => {
    const missing = await examine({ GATEWATCH_CALLBACK_KEY: '' });
    expect(missing.find('gateway acme-eu: configuration')).toMatchObject({ status: 'warn' });
    expect(missing.code).toBe(0);
    const short = await examine({ GATEWATCH_CALLBACK_KEY: 's3cret' });
    expect(short.find('configuration')).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('at least 16 bytes') as string,
    });
    expect(JSON.stringify(short.find('configuration'))).not.toContain('s3cret');
  });
});

describe('doctor about a gateway', () => {
  const check = 'gateway acme-eu: status request';

  test.each([
    ['http_401', 'fail', /401 .*token is not accepted/],
    ['http_403_ip', 'fail', /403 .*address, or this endpoint, is not allowed/],
    ['http_423', 'warn', /423 .*trouble at present/],
    ['http_500', 'warn', /500 .*trouble at present/],
    ['connection_reset', 'fail', /does not answer \(\w+\)/],
  ] as const)('reports %s', async (name, status, message) => {
    const fault = sandbox.faults.add({ name, endpoint: 'status' });
    const { code, find } = await examine();
    sandbox.faults.remove(fault.id);
    expect(find(check)).toMatchObject({ status });
    expect(find(check)?.message).toMatch(message);
    expect(code).toBe(status === 'fail' ? 1 : 0);
  });

  test('reports a token that is refused', async () => {
    const { find } = await examine({ GATEWATCH_GATEWAY_TOKEN: 's3cret-but-wrong' });
    expect(find(check)).toMatchObject({ status: 'fail', advice: expect.stringContaining('token') as string });
  });

  test('reports an address that lacks a part of its path: it knows no order, and asks for no token', async () => {
    const { code, find } = await examine({ GATEWATCH_GATEWAY_URL: new URL(sandbox.secureUrl).origin });
    expect(find(check)).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('and the same without a token') as string,
      advice: expect.stringContaining('is a part of the path missing') as string,
    });
    expect(code).toBe(0);
    expect((await examine()).find(check)).toMatchObject({ status: 'ok' });
  });

  test('lets the first answer stand when it gets none without the token', async () => {
    const asked: string[] = [];
    const lettingIn = createHttpServer((request, response) => {
      asked.push(request.headers.authorization ?? '');
      if (request.headers.authorization === undefined) request.socket.destroy();
      else response.writeHead(404).end();
    });
    const { find } = await examine({ GATEWATCH_GATEWAY_URL: `http://127.0.0.1:${await listen(lettingIn)}` });
    expect(find(check)).toMatchObject({
      status: 'ok',
      message: expect.stringContaining('it lets us in') as string,
    });
    expect(asked).toEqual([expect.stringMatching(/^Bearer /), '']);
  });

  test('reports a name that does not resolve, and a port where nothing listens', async () => {
    const noName = await examine({ GATEWATCH_GATEWAY_URL: 'https://gateway.invalid' });
    expect(noName.find('gateway acme-eu: name')?.message).toMatch(/gateway\.invalid cannot be resolved/);
    const closed = await listen(createServer());
    await new Promise((resolve) => servers.pop()?.close(resolve));
    const noPort = await examine({ GATEWATCH_GATEWAY_URL: `http://127.0.0.1:${closed}` });
    expect(noPort.find(check)?.message).toBe(`127.0.0.1:${closed} does not answer (ECONNREFUSED).`);
    expect([noName.code, noPort.code]).toEqual([1, 1]);
  });

  test('reports redirects, answers of something else, and clocks that differ', async () => {
    const elsewhere = await listen(
      createHttpServer((_request, response) => {
        response.writeHead(301, { location: 'https://example.com/' }).end();
      }),
    );
    const redirected = await examine({ GATEWATCH_GATEWAY_URL: `http://127.0.0.1:${elsewhere}` });
    expect(redirected.find(check)).toMatchObject({ status: 'fail' });
    expect(redirected.find(check)?.message).toContain('redirects are not followed');

    const date = new Date(Date.now() - 3_600_000).toUTCString();
    const other = await listen(
      createHttpServer((_request, response) => {
        response.writeHead(200, { date, 'content-type': 'text/html' }).end('<h1>It works</h1>');
      }),
    );
    const wrong = await examine({ GATEWATCH_GATEWAY_URL: `http://127.0.0.1:${other}` });
    expect(wrong.find(check)).toMatchObject({ status: 'warn' });
    expect(wrong.find('gateway acme-eu: clock')?.message).toMatch(/clock is 3\d{3} s behind this host's/);
  });

  test('reports a certificate that is not trusted, one that soon expires, and takes an own authority', async () => {
    const key = join(folder, 'key.pem');
    const cert = join(folder, 'cert.pem');
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
    const files = ['-keyout', key, '-out', cert];
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '5', ...files, ...subject],
      {
        stdio: 'ignore',
      },
    );
    const relay: RequestListener = (request, response) => {
      const target = new URL(request.url ?? '/', sandbox.url);
      const onward = httpRequest(target, { method: request.method, headers: request.headers }, (reply) => {
        response.writeHead(reply.statusCode ?? 500, reply.headers);
        reply.pipe(response);
      });
      request.pipe(onward);
    };
    const port = await listen(createHttpsServer({ key: readFileSync(key), cert: readFileSync(cert) }, relay));
    const url = `https://localhost:${port}${new URL(sandbox.secureUrl).pathname}`;
    const untrusted = await examine({ GATEWATCH_GATEWAY_URL: url });
    expect(untrusted.code).toBe(1);
    expect(untrusted.find('gateway acme-eu: certificate')).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('DEPTH_ZERO_SELF_SIGNED_CERT') as string,
      advice: expect.stringContaining('NODE_EXTRA_CA_CERTS') as string,
    });
    const trusted = await examine({ GATEWATCH_GATEWAY_URL: url, NODE_EXTRA_CA_CERTS: cert });
    expect(trusted.code).toBe(0);
    expect(trusted.find('gateway acme-eu: certificate')).toMatchObject({
      status: 'warn',
      message: expect.stringMatching(/^Trusted, valid until .* \(\d days\)\.$/) as string,
    });
    expect(trusted.find(check)?.status).toBe('ok');
    for (const file of [key, cert]) rmSync(file);
  });
});

describe('doctor about the surroundings', () => {
  test('reports a port that is taken', async () => {
    const port = await listen(createServer());
    const { code, find } = await examine({ GATEWATCH_HTTP_PORT: String(port) });
    expect(code).toBe(1);
    expect(find('port http.port')?.message).toBe(`127.0.0.1:${port} cannot be listened on (EADDRINUSE).`);
  });

  test('reports a configured store that refuses or does not answer', async () => {
    const refused = await examine({ GATEWATCH_CLICKHOUSE_URL: 'http://127.0.0.1:1' });
    expect(refused.code).toBe(1);
    expect(refused.find('store')?.message).toContain('ECONNREFUSED');
    const wrong = await examine({
      GATEWATCH_CLICKHOUSE_URL: db.embedded.url,
      GATEWATCH_CLICKHOUSE_USER: 'gatewatch',
      GATEWATCH_CLICKHOUSE_PASSWORD: 's3cret-wrong',
    });
    expect(wrong.find('store')?.status).toBe('fail');
    expect(wrong.find('disk')).toBeUndefined();
  });

  test('reports a schema that is not there yet', async () => {
    const { code, find } = await examine({
      GATEWATCH_CLICKHOUSE_URL: db.embedded.url,
      GATEWATCH_CLICKHOUSE_USER: db.embedded.writer.username,
      GATEWATCH_CLICKHOUSE_PASSWORD: db.embedded.writer.password,
      GATEWATCH_CLICKHOUSE_DATABASE: 'not_yet',
    });
    expect(find('store: schema')).toMatchObject({ status: 'warn' });
    expect(find('store: schema')?.message).toContain('tables');
    expect(code).toBe(0);
  });

  test('reports brokers that cannot be reached', async () => {
    const { code, find } = await examine({ GATEWATCH_KAFKA_BROKERS: '127.0.0.1:1' });
    expect(code).toBe(1);
    expect(find('kafka: brokers')?.message).toContain('Kafka at 127.0.0.1:1 cannot be reached');
  });

  test('says whether the OTLP receiver takes spans', async () => {
    const paths: (string | undefined)[] = [];
    const port = await listen(
      createHttpServer((request, response) => {
        paths.push(request.url);
        request.resume().on('end', () => response.writeHead(200).end());
      }),
    );
    const taken = await examine({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
    expect(taken.find('traces')?.status).toBe('ok');
    expect(paths).toEqual(['/v1/traces']);
    const away = await examine({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' });
    expect(away.find('traces')).toMatchObject({ status: 'fail' });
    const off = await examine({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      OTEL_TRACES_EXPORTER: 'none',
    });
    expect(off.find('traces')?.status).toBe('ok');
  });

  test('does not wait for ever: what gives no answer has failed', async () => {
    const silent = await listen(createServer());
    const file = join(folder, 'slow.yaml');
    writeFileSync(
      file,
      `gateways: [{ name: acme-eu, secureUrl: 'http://127.0.0.1:${silent}', token: s3cret, poll: { deadlineMs: 500 } }]`,
    );
    const { code, find } = await examine({
      GATEWATCH_CONFIG: file,
      GATEWATCH_GATEWAY_URL: '',
      GATEWATCH_GATEWAY_TOKEN: '',
    });
    rmSync(file);
    expect(code).toBe(1);
    expect(find('gateway acme-eu: status request')?.message).toContain('no answer in time');
  });
});

test('a gateway behind a proxy is asked through it, as the collector asks it', async () => {
  const { secureUrl } = sandbox;
  const { host } = new URL(secureUrl);
  const proxy = await startHttpProxy(() => Number(host.split(':')[1]));
  const { find } = await examine({
    GATEWATCH_GATEWAY_URL: secureUrl.replace(host, 'gateway.example'),
    HTTP_PROXY: `http://127.0.0.1:${proxy.port}`,
  });
  expect(find('gateway acme-eu: way')?.message).toContain(`through the proxy 127.0.0.1:${proxy.port}`);
  expect(find('gateway acme-eu: status request')).toMatchObject({ status: 'ok' });
  expect(proxy.asked.length).toBeGreaterThan(0);
  await proxy.stop();
});

test('links that nobody else can open are reported where pages are sent', async () => {
  const path = join(folder, 'links.yaml');
  writeFileSync(path, 'alerts: { evaluate: true }\n');
  const { find } = await examine({ GATEWATCH_CONFIG: path });
  expect(find('alerts: configuration')).toMatchObject({
    status: 'warn',
    advice: expect.stringContaining('alerts.externalUrl'),
  });
});
