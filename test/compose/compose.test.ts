import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../collector/config/load.ts';
import { KAFKA_VERSION } from '../support/kafka-jars.ts';

interface Service {
  readonly image?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly healthcheck?: unknown;
  readonly user?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly privileged?: boolean;
  readonly mem_limit?: string;
  readonly pids_limit?: number;
  readonly depends_on?: Readonly<Record<string, { condition: string }>>;
}

const ROOT = path.join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const compose = parse(read('docker-compose.yml')) as { services: Record<string, Service> };
const services = Object.entries(compose.services).map(([name, service]) => ({ name, service }));
const secretNames = Array.from(read('.env.example').matchAll(/^([A-Z_]+)=$/gm), (match) => match[1] ?? '');
const nodeVersion = (JSON.parse(read('package.json')) as { devDependencies: Record<string, string> })
  .devDependencies['node'];

/** `docker-compose config` with these variables; .env.example stands in for an .env that may be there. */
const composeConfig = (env: Readonly<Record<string, string>>) =>
  spawnSync(
    'docker-compose',
    ['--env-file', '.env.example', '--file', 'docker-compose.yml', 'config', '--quiet'],
    { cwd: ROOT, encoding: 'utf8', env: { PATH: process.env['PATH'], ...env } },
  );
const hasCompose = spawnSync('docker-compose', ['version']).status === 0;
if (!hasCompose) console.warn('docker-compose is not installed: "docker-compose config" is not checked');

describe.skipIf(!hasCompose)('docker-compose config', () => {
  test('accepts the file once every secret is given', () => {
    const { status, stderr } = composeConfig(
      Object.fromEntries(secretNames.map((name) => [name, 'for-this-test'])),
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  test.each(secretNames)('refuses to go on without %s and says where to read on', (missing) => {
    const others = secretNames.filter((name) => name !== missing);
    const { status, stderr } = composeConfig(
      Object.fromEntries(others.map((name) => [name, 'for-this-test'])),
    );
    expect(status).not.toBe(0);
    expect(stderr).toContain('deploy/README.md');
  });
});

describe('docker-compose.yml', () => {
  test.each(services)('pins the image of $name to an exact version', ({ service }) => {
    expect(service.image).toMatch(/:\d+\.\d+\.\d+(\.\d+)?$/);
  });

  test.each(services)('publishes ports of $name on loopback only', ({ service }) => {
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  });

  test.each(services)('takes secrets of $name from the environment, never from the file', ({ service }) => {
    for (const [name, value] of Object.entries(service.environment ?? {})) {
      if (!/PASSWORD|TOKEN|KEY|SECRET/.test(name)) continue;
      expect(`${name}=${value}`).toMatch(/=\$\{[A-Z_]+:\?[^}]+\}$/);
    }
  });

  test.each(services)('gives $name no privilege, and bounds to its memory and processes', ({ service }) => {
    expect(service).toMatchObject({ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
    expect(service.mem_limit).toMatch(/^\d+[mg]$/);
    expect(service.pids_limit).toBeGreaterThan(0);
    expect([service.cap_add, service.privileged]).toEqual([undefined, undefined]);
    for (const volume of service.volumes ?? []) expect(volume).not.toContain('docker.sock');
  });

  // Kafka's image has a user of its own, and writes its configuration at the start.
  const walled = services.filter(({ name }) => name !== 'kafka');
  test.each(walled)('runs $name without root, on a root that cannot be written', ({ service }) => {
    expect(service.read_only).toBe(true);
    expect(service.user).toMatch(/^(node|[1-9]\d*(:\d+)?)$/);
  });

  test.each(services)('mounts files of $name that exist', ({ service }) => {
    const hosts = (service.volumes ?? []).map((volume) => volume.split(':')[0] ?? '');
    const missing = hosts.filter((host) => host.startsWith('.') && !existsSync(path.join(ROOT, host)));
    expect(missing).toEqual([]);
  });

  test('shows Grafana every generated dashboard, in folders below the one that it reads', () => {
    const provisioned = parse(read('dashboards/out/grafana/provisioning/dashboards/gatewatch.yaml')) as {
      providers: { options: { path: string } }[];
    };
    const root = provisioned.providers[0]?.options.path ?? '';
    const mounts = (compose.services['grafana']?.volumes ?? []).map((volume) => volume.split(':'));
    const shown = mounts.filter(([, inside]) => inside?.startsWith(`${root}/`)).map(([host]) => host);
    expect(shown.toSorted()).toEqual([
      './alerts/out/dashboards',
      './dashboards/out/grafana/dashboards/gatewatch',
    ]);
    const home =
      compose.services['grafana']?.environment?.['GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH'] ?? '';
    const [host, inside] = mounts.find(([, folder]) => home.startsWith(`${folder}/`)) ?? [];
    expect(existsSync(path.join(ROOT, home.replace(inside ?? '', host ?? '')))).toBe(true);
  });

  test('has a health check for every service that another one waits for', () => {
    const awaited = services.flatMap(({ service }) => Object.entries(service.depends_on ?? {}));
    for (const [name, { condition }] of awaited) {
      expect(condition).toBe('service_healthy');
      expect(compose.services[name]).toHaveProperty('healthcheck');
    }
  });

  test('runs the Kafka that the tests run', () => {
    expect(compose.services['kafka']?.image).toBe(`apache/kafka:${KAFKA_VERSION}`);
  });

  test('asks for secrets that .env.example lists, and for all of them', () => {
    const asked = Array.from(read('docker-compose.yml').matchAll(/\$\{([A-Z_]+):\?/g), (match) => match[1]);
    expect([...new Set(asked)].sort()).toEqual(secretNames.toSorted());
  });
});

test('make-env.sh writes a random value for every secret, readable by its owner only, and never overwrites', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatewatch-env-'));
  try {
    execFileSync('mkdir', [path.join(folder, 'deploy')]);
    for (const file of ['.env.example', 'deploy/make-env.sh'])
      writeFileSync(path.join(folder, file), read(file));
    const make = () => spawnSync('sh', ['deploy/make-env.sh'], { cwd: folder, encoding: 'utf8' });
    expect(make().status).toBe(0);
    const written = readFileSync(path.join(folder, '.env'), 'utf8');
    const values = Array.from(written.matchAll(/^[A-Z_]+=([0-9a-f]{48})$/gm), (match) => match[1]);
    expect(new Set(values).size).toBe(secretNames.length);
    expect(execFileSync('stat', ['-c', '%a', path.join(folder, '.env')], { encoding: 'utf8' }).trim()).toBe(
      '600',
    );
    expect(make()).toMatchObject({ status: 1, stderr: expect.stringContaining('.env is there already') });
    expect(readFileSync(path.join(folder, '.env'), 'utf8')).toBe(written);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('The collector accepts the configuration that compose mounts', () => {
  const config = loadConfig(path.join(ROOT, 'deploy/collector/gatewatch.yaml'), {
    SANDBOX_TOKEN: 'token',
    SANDBOX_CALLBACK_KEY: 'a key of 48 hexadecimal digits',
    CLICKHOUSE_WRITER_PASSWORD: 'password',
    GATEWATCH_PUBLISHED_HOST: 'pay.example.com',
  });
  expect(config.http.hosts).toEqual(['collector', 'pay.example.com']);
  expect(config.kafka?.brokers).toEqual(['kafka:9092']);
});

describe('The Dockerfile', () => {
  const dockerfile = read('Dockerfile');

  test('runs the Node that package.json pins', () => {
    const images = Array.from(dockerfile.matchAll(/^FROM (\S+)/gm), (match) => match[1]);
    expect(new Set(images)).toEqual(new Set([`node:${nodeVersion}-slim`]));
  });

  test('copies what is there and what .dockerignore lets through', () => {
    const copied = Array.from(dockerfile.matchAll(/^COPY (?!--)(.+) \S+$/gm), (match) =>
      (match[1] ?? '').split(' '),
    ).flat();
    const allowed = new Set(Array.from(read('.dockerignore').matchAll(/^!(.+)$/gm), (match) => match[1]));
    expect(copied.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
    expect(copied.filter((file) => !allowed.has(file))).toEqual([]);
  });

  test("bundles the console's page, and leaves the bundler behind", () => {
    expect(dockerfile).toMatch(
      /^RUN node console\/build-page\.ts dist\/page\n[^]*^RUN npm prune --omit=dev /m,
    );
    const image = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
    expect(image).toContain('COPY --from=build /app/dist/page ./dist/page\n');
    expect(image).not.toMatch(/^COPY (--from=build \/app\/)?console /m);
  });

  test('does not run as root', () => {
    expect(dockerfile).toMatch(/^USER node$/m);
  });
});
