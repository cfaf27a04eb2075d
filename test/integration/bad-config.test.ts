import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAIN } from '../support/collector-process.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'gatewatch-config-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** `gatewatch run` to its end. */
async function run(config: string | null, env: Record<string, string> = {}) {
  const file = path.join(folder, 'gatewatch.yaml');
  if (config !== null) await writeFile(file, config);
  const child = spawn(process.execPath, [MAIN, 'run', ...(config === null ? [] : ['--config', file])], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr };
}

describe('a collector whose configuration cannot work', () => {
  it('ends with code 2 and reports every problem at once: key, what was received and what is expected', async () => {
    const { code, stderr } = await run(
      `gateways:
  - name: Acme EU
    secureUrl: ftp://secure.example.com
    token: \${NO_SUCH_VARIABLE}
    callbackKeys: [key-that-must-not-be-shown]
    poll: { delaysS: [], concurency: 3 }
http: { port: 808080 }
kafka: { brokers: [localhost] }
`,
    );
    expect(code).toBe(2);
    for (const key of [
      'gateways.0.name',
      'gateways.0.secureUrl',
      'NO_SUCH_VARIABLE',
      'gateways.0.poll.delaysS',
      'concurency',
      'http.port',
      'kafka.brokers.0',
    ]) {
      expect(stderr).toContain(key);
    }
    expect(stderr).toContain('ftp://secure.example.com');
    expect(stderr).not.toContain('key-that-must-not-be-shown');
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  it('ends with code 2 when there is none, and says what is the least it needs', async () => {
    const { code, stderr } = await run(null);
    expect(code).toBe(2);
    expect(stderr).toMatch(/GATEWATCH_GATEWAY_URL|gateways/);
  });

  it('ends with code 2 when the file is no YAML, and shows where', async () => {
    const { code, stderr } = await run('gateways: [\n  - name: a\n');
    expect(code).toBe(2);
    expect(stderr).toMatch(/gatewatch\.yaml/);
    expect(stderr).toMatch(/line|:\d+/);
  });

  it('ends with code 1 when its port is taken, and names the port', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const { code, stderr } = await run(null, {
      GATEWATCH_GATEWAY_URL: 'http://127.0.0.1:1',
      GATEWATCH_GATEWAY_TOKEN: 'token-that-must-not-be-shown',
      GATEWATCH_HTTP_PORT: String(port),
      GATEWATCH_EMBEDDED_PORT: '0',
      GATEWATCH_DATA_DIR: path.join(folder, 'data'),
    });
    taken.close();
    expect(code).toBe(1);
    expect(stderr).toContain(`127.0.0.1:${port}`);
    expect(stderr).toContain('another process listens there');
    expect(stderr).not.toContain('token-that-must-not-be-shown');
  });
});
