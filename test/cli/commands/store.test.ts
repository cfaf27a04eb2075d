import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFile, type ChildProcess } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cli, startCli, untilPrinted } from './support/cli.ts';

const run = promisify(execFile);

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
    const secrets = ['writer.secret', 'reader.secret'].map((name) => {
      expect(printed).toContain(join(dataDir, name));
      expect(statSync(join(dataDir, name)).mode & 0o777).toBe(0o600);
      return readFileSync(join(dataDir, name), 'utf8').trim();
    });
    for (const secret of secrets) expect(printed).not.toContain(secret);

    // The example it prints.
    const example = /^  (curl .*)$/m.exec(printed)?.[1] ?? '';
    expect(example).toContain(`gatewatch_reader:$(cat ${join(dataDir, 'reader.secret')})`);
    const { stdout } = await run('sh', ['-c', `${example} --silent`]);
    expect(stdout).toMatch(/^\d+\.\d+/);
    expect((await fetch(`${url}/?query=SELECT+1`)).status).toBe(401);

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
    const address = JSON.parse(printed) as Record<string, string>;
    expect(address).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
      dataDir,
      writer: 'gatewatch',
      reader: 'gatewatch_reader',
      secretFile: join(dataDir, 'writer.secret'),
      readerSecretFile: join(dataDir, 'reader.secret'),
    });
    child.stdout?.destroy();
    expect((await fetch(`${address['url']}/ping`)).status).toBe(200);
    expect(await stop('SIGTERM')).toBe(0);
  });

  test('leaves its data for commands that start a store of their own', async () => {
    expect(await cli(['migrate'], { env })).toMatchObject({ code: 0 });
    const { code, stdout } = await cli(['sql', 'SHOW TABLES', '--json'], { env });
    expect(code).toBe(0);
    expect(stdout).toContain('"history_events"');
  });
});
