import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { GRAFANA } from '../../../schemas/names.ts';
import { until } from '../../support/until.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const START = join(ROOT, 'deploy/grafana/start.sh');
const HAS_CURL = spawnSync('curl', ['--version']).status === 0;

/** A Grafana whose dashboards' folder appears at the third question; `loaded`: files at each reload. */
async function startGrafana(provisioned: string, password: string, appearsAt = 3) {
  let asked = 0;
  const loaded: string[][] = [];
  const authorization = `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`;
  const server = createServer(({ method, url, headers }, response) => {
    if (headers.authorization !== authorization) return void response.writeHead(401).end();
    if (method === 'POST' && url === '/api/admin/provisioning/alerting/reload') {
      loaded.push(readdirSync(provisioned).toSorted());
      return void response.end('{}');
    }
    const exists = url === `/api/folders/${GRAFANA.folderUid}` && (asked += 1) >= appearsAt;
    response.writeHead(exists ? 200 : 404).end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, loaded, asked: () => asked, stop: () => void server.close() };
}

describe.skipIf(!HAS_CURL)('deploy/grafana/start.sh', () => {
  let folder: string;
  let grafana: Awaited<ReturnType<typeof startGrafana>>;
  const children: ChildProcess[] = [];
  const at = (...path: string[]): string => join(folder, ...path);
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gatewatch-grafana-'));
    for (const path of ['data', 'provisioning/alerting', 'alerting/rules', 'alerting/notifications'])
      mkdirSync(at(path), { recursive: true });
    writeFileSync(at('alerting/rules/gatewatch-rules.yaml'), 'rules');
    writeFileSync(at('alerting/notifications/gatewatch-policies.yaml'), 'policies');
    grafana = await startGrafana(at('provisioning/alerting'), 'pass word');
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill();
    grafana.stop();
    rmSync(folder, { recursive: true });
  });

  /** Runs the script with a command in Grafana's place, which notes what it found provisioned. */
  function start(env: Readonly<Record<string, string>> = {}) {
    const found = at(`found-${children.length}`);
    const child = spawn(
      'sh',
      // Under its name only when it is complete.
      [
        START,
        'sh',
        '-c',
        `ls "${at('provisioning/alerting')}" > "${found}~" && mv "${found}~" "${found}"; exec sleep 30`,
      ],
      {
        env: {
          PATH: process.env['PATH'],
          GATEWATCH_ALERTING_FILES: at('alerting'),
          GATEWATCH_GRAFANA_URL: grafana.url,
          GF_PATHS_PROVISIONING: at('provisioning'),
          GF_PATHS_DATA: at('data'),
          GF_SECURITY_ADMIN_PASSWORD: 'pass word',
          ...env,
        },
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    children.push(child);
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    return {
      errors: () => errors,
      found: async () => {
        await until('Grafana is started', () => existsSync(found), Boolean);
        return readFileSync(found, 'utf8').split('\n').filter(Boolean);
      },
    };
  }
  const FILES = ['gatewatch-policies.yaml', 'gatewatch-rules.yaml'];

  it("starts a new Grafana without rules, and loads them into the dashboards' folder once it exists", async () => {
    const { found } = start();
    expect(await found()).toEqual([]);
    await until(
      'the rules are loaded',
      () => grafana.loaded,
      (loads) => loads.length > 0,
    );
    expect(grafana.asked()).toBe(3);
    expect(grafana.loaded).toEqual([FILES]);
    await until('the folder is remembered', () => existsSync(at('data/gatewatch-folder')), Boolean);
  });

  it('starts with the rules where the folder is known', async () => {
    writeFileSync(at('data/gatewatch-folder'), '');
    const { found } = start();
    expect(await found()).toEqual(FILES);
    expect(grafana.asked()).toBe(0);
  });

  it('says so when the folder does not appear, and tries again at the next start', async () => {
    const { errors } = start({ GATEWATCH_FOLDER_TRIES: '2', GF_SECURITY_ADMIN_PASSWORD: 'another' });
    await until('it says so', errors, (text) => text.includes('are not loaded'));
    expect(grafana.loaded).toEqual([]);
    expect(existsSync(at('data/gatewatch-folder'))).toBe(false);
  });
});

describe('the folder of dashboards and rules', () => {
  const read = (file: string): unknown => parse(readFileSync(join(ROOT, file), 'utf8'));

  it('is one: the rules name it by the title that the dashboards give to the known uid', () => {
    const { groups } = read('alerts/out/provisioning/alerting/gatewatch-rules.yaml') as {
      groups: { folder: string }[];
    };
    const { providers } = read('dashboards/out/grafana/provisioning/dashboards/gatewatch.yaml') as {
      providers: { folder: string; folderUid: string }[];
    };
    expect(new Set(groups.map(({ folder }) => folder))).toEqual(new Set([GRAFANA.folderTitle]));
    expect(providers).toMatchObject([{ folder: GRAFANA.folderTitle, folderUid: GRAFANA.folderUid }]);
    expect(readFileSync(START, 'utf8')).toContain(`\nfolder=${GRAFANA.folderUid}\n`);
  });

  it('gets its rules from the script in the containers, and never from a mount', () => {
    const { services } = read('docker-compose.yml') as {
      services: { grafana: { entrypoint: string[]; volumes: string[]; tmpfs: string[] } };
    };
    const { entrypoint, volumes, tmpfs } = services.grafana;
    expect(entrypoint).toEqual(['/bin/sh', '/etc/gatewatch/start.sh']);
    expect(volumes).toContain('./deploy/grafana/start.sh:/etc/gatewatch/start.sh:ro');
    expect(volumes).toContain('./alerts/out/provisioning/alerting:/etc/gatewatch/alerting/rules:ro');
    expect(volumes.filter((volume) => volume.includes(':/etc/grafana/provisioning/alerting'))).toEqual([]);
    expect(tmpfs).toContain('/etc/grafana/provisioning/alerting');
  });
});
