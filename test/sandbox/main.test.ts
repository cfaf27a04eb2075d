import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FAULT_NAMES } from '../../sandbox/faults.ts';
import { call, deposit, PATH, until } from './support.ts';

const MAIN = join(import.meta.dirname, '../../sandbox/main.ts');

function start(...flags: string[]) {
  const child = spawn(process.execPath, [MAIN, ...flags]);
  const output = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.err += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, output, ended };
}

it('teaches with --help: examples, the admin API, every fault', async () => {
  const { output, ended } = start('--help');
  expect(await ended).toBe(0);
  for (const name of FAULT_NAMES) expect(output.out).toContain(name);
  expect(output.out).toContain('POST /admin/incidents');
  expect(output.out).toContain('--callback-url');
});

it('ends with 2 for flags it does not understand, and says what it expected', async () => {
  for (const [flags, text] of [
    [['--rate', 'many'], 'expected 0 to 10000'],
    [['--incident', 'meteor:1'], 'tech_timeout'],
    [['--wat'], '--wat'],
  ] as const) {
    const { output, ended } = start(...flags);
    expect(await ended).toBe(2);
    expect(output.err).toContain(text);
  }
});

it('serves with a token it made itself, never prints it, and ends on SIGTERM', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
  try {
    const tokenFile = join(folder, 'secrets', 'token');
    const { child, output, ended } = start(
      '--port',
      '0',
      '--token-file',
      tokenFile,
      '--rate',
      '20',
      '--incident',
      'authz:0.5:60',
    );
    await until(() => output.out.includes('admin '), 'the banner');
    const url = /sandbox gateway: (\S+)/.exec(output.out)?.[1] ?? '';
    const token = readFileSync(tokenFile, 'utf8').trim();
    expect(statSync(tokenFile).mode & 0o777).toBe(0o600);
    expect(output.out).not.toContain(token);
    const answer = await call('POST', `${url}/secure${PATH}/`, { token, body: deposit('cli') });
    expect(answer.status).toBe(200);
    expect((await call('GET', `${url}/admin/incidents`)).json).toMatchObject({
      incidents: [{ name: 'authz', share: 0.5 }],
    });
    expect((await call('GET', `${url}/healthz`)).json).toEqual({ status: 'ok' });
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('says which port is taken', async () => {
  const first = start('--port', '0');
  await until(() => first.output.out.includes('admin '), 'the banner');
  const port = /127\.0\.0\.1:(\d+)/.exec(first.output.out)?.[1] ?? '';
  const second = start('--port', port);
  expect(await second.ended).toBe(1);
  expect(second.output.err).toContain('--port 0');
  first.child.kill('SIGTERM');
  expect(await first.ended).toBe(0);
});
