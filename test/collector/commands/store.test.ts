import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChildProcess } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { cli, startCli, untilPrinted } from './support/cli.ts';

vi.setConfig({ testTimeout: 90_000 });

let dataDir: string;
let env: Record<string, string>;
let child: ChildProcess | undefined;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'gatewatch-served-'));
  env = { GATEWATCH_DATA_DIR: dataDir };
});
afterEach(async () => {
  if (child !== undefined && child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  child = undefined;
  rmSync(dataDir, { recursive: true, force: true });
});

async function stop(signal: NodeJS.Signals): Promise<number | null> {
  const ended = once(child as ChildProcess, 'exit');
  child?.kill(signal);
  const [code] = (await ended) as [number | null];
  return code;
}

describe('store', () => {
  test('serves the embedded ClickHouse, says how to reach it, and ends on Ctrl-C', async () => {
    child = startCli(['store', '--port', '0'], { env });
    const printed = await untilPrinted(child, 'stdout', /Ctrl-C/);
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0] ?? '';
    expect(printed).toContain('gatewatch_reader, no password');
    expect(printed).toContain(join(dataDir, 'writer.secret'));
    const secret = readFileSync(join(dataDir, 'writer.secret'), 'utf8').trim();
    expect(statSync(join(dataDir, 'writer.secret')).mode & 0o777).toBe(0o600);
    expect(printed).not.toContain(secret);

    // The example it prints.
    expect(printed).toContain(`curl '${url}/?user=gatewatch_reader' -d 'SELECT version()'`);
    const reply = await fetch(`${url}/?user=gatewatch_reader`, { method: 'POST', body: 'SELECT version()' });
    expect(await reply.text()).toMatch(/^\d+\.\d+/);

    // Commands find it.
    expect((await cli(['migrate'], { env })).code).toBe(0);
    expect((await cli(['sql', 'SELECT count() FROM orders'], { env })).stdout).toBe('0\n');

    // A second one would fight over the folder.
    const second = await cli(['store', '--port', '0'], { env });
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(`is served already, at ${url}`);

    expect(await stop('SIGINT')).toBe(0);
    await expect(fetch(`${url}/ping`)).rejects.toThrow();
  });

  test('--json prints address and users on one line, and lasts when its reader goes away', async () => {
    child = startCli(['store', '--port', '0', '--json'], { env });
    const printed = await untilPrinted(child, 'stdout', /\n/);
    const told = JSON.parse(printed) as Record<string, string>;
    expect(told).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
      dataDir,
      writer: 'gatewatch',
      reader: 'gatewatch_reader',
      secretFile: join(dataDir, 'writer.secret'),
    });
    child.stdout?.destroy();
    expect((await fetch(`${told['url']}/ping`)).status).toBe(200);
    expect(await stop('SIGTERM')).toBe(0);
  });

  test('leaves its data for commands that start a store of their own', async () => {
    expect(await cli(['migrate'], { env })).toMatchObject({ code: 0 });
    const { code, stdout } = await cli(['sql', 'SHOW TABLES', '--json'], { env });
    expect(code).toBe(0);
    expect(stdout).toContain('"history_events"');
  });
});
