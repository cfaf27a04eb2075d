import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

const DEMO = fileURLToPath(new URL('../../sandbox/demo.ts', import.meta.url));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'gatewatch-demo-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('the demo ends, and says why, when its alerts cannot be read', async () => {
  const dataDir = path.join(folder, 'demo');
  const demo = spawn(process.execPath, [DEMO, '--data-dir', dataDir, '--port', '0', '--store-port', '0'], {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const said = text(demo.stderr.setEncoding('utf8'));
  const started = Promise.withResolvers<void>();
  demo.stderr.on('data', (line: string) => line.includes('ClickHouse  http') && started.resolve());
  const ended = once(demo, 'exit');
  await Promise.race([started.promise, ended]);
  // Without its configuration, `gatewatch alerts` has no store to read.
  await rm(path.join(dataDir, 'gatewatch.yaml'));
  demo.kill('SIGINT');
  expect(await ended).toEqual([1, null]);
  expect(await said).toContain('the alerts could not be read');
});

it('a Ctrl-C, which reaches all processes of a terminal, lets the collector catch up first', async () => {
  const dataDir = path.join(folder, 'demo');
  const args = [DEMO, '--data-dir', dataDir, '--port', '0', '--store-port', '0'];
  const demo = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const started = Promise.withResolvers<void>();
  demo.stderr
    .setEncoding('utf8')
    .on('data', (line: string) => line.includes('ClickHouse  http') && started.resolve());
  const said = text(demo.stdout);
  const ended = once(demo, 'exit');
  await Promise.race([started.promise, ended]);
  process.kill(-(demo.pid ?? 0), 'SIGINT');
  expect(await ended).toEqual([0, null]);
  expect(await said).toContain('All numbers agree');
});
