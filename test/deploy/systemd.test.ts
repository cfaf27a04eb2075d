import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { untilPrinted } from '../cli/commands/support/cli.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
const UNIT = path.join(ROOT, 'deploy/systemd/gatewatch.service');
const text = readFileSync(UNIT, 'utf8');
const settings = Array.from(text.matchAll(/^([A-Za-z]+)=(.*)$/gm), ([, name = '', value = '']) => ({
  name,
  value,
}));
const valuesOf = (wanted: string): string[] =>
  settings.filter(({ name }) => name === wanted).map(({ value }) => value);

const analyze = (...args: string[]) =>
  spawnSync('systemd-analyze', ['--no-pager', ...args], { encoding: 'utf8' });
const hasSystemd = analyze('--version').status === 0;
if (!hasSystemd) console.warn('systemd-analyze is not installed: the unit is read, and not verified');
const hasStrace = spawnSync('strace', ['-V']).status === 0;
if (!hasStrace)
  console.warn('strace is not installed: the unit is not compared with the calls that are made');

describe('the unit for systemd', () => {
  test('leaves one folder to write to, no privilege to gain, and memory and tasks that are bounded', () => {
    expect(settings).toEqual(
      expect.arrayContaining([
        { name: 'ProtectSystem', value: 'strict' },
        { name: 'StateDirectory', value: 'gatewatch' },
        { name: 'NoNewPrivileges', value: 'yes' },
        { name: 'CapabilityBoundingSet', value: '' },
        { name: 'PrivateTmp', value: 'yes' },
        { name: 'ProtectHome', value: 'yes' },
        { name: 'MemoryMax', value: expect.stringMatching(/^\d+G$/) },
        { name: 'TasksMax', value: expect.stringMatching(/^\d+$/) },
      ]),
    );
    expect(valuesOf('User')).toEqual(['gatewatch']);
    expect(valuesOf('ReadWritePaths')).toEqual([]);
  });

  test('takes secrets as credentials: none is in the environment or in the file', () => {
    expect(valuesOf('LoadCredential').map((value) => value.split(':')[0])).toEqual([
      'gateway-token',
      'callback-key',
    ]);
    for (const value of valuesOf('Environment')) expect(value).not.toMatch(/TOKEN|KEY|PASSWORD|SECRET/);
  });
});

describe.skipIf(!hasSystemd)('systemd-analyze', () => {
  test('verifies the unit without a word', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'gatewatch-unit-'));
    const copy = path.join(folder, 'gatewatch.service');
    // Node can be anywhere on the machine of a test.
    writeFileSync(copy, text.replace('/usr/bin/node', process.execPath));
    const { status, stdout, stderr } = analyze('verify', copy);
    rmSync(folder, { recursive: true });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  test('finds little that is exposed: 1.5 of 10 at most', () => {
    const { status, stderr } = analyze('security', '--offline=true', '--threshold=15', UNIT);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  /** Names of the system calls in a set, with the sets that it includes. */
  const sets = new Map<string, string[]>();
  for (const block of analyze('syscall-filter').stdout.split(/\n(?=@)/)) {
    const [name = '', ...members] = block.split('\n').map((line) => line.trim());
    sets.set(
      name,
      members.filter((member) => /^@?[a-z]/.test(member)),
    );
  }
  const expand = (name: string): string[] =>
    name.startsWith('@') ? (sets.get(name) ?? []).flatMap(expand) : [name];

  test.skipIf(!hasStrace)(
    'lets through every system call that collector and engine make, Landlock included',
    async () => {
      const allowed = new Set<string>();
      for (const value of valuesOf('SystemCallFilter')) {
        const names = value.replace('~', '').split(' ').flatMap(expand);
        for (const name of names) {
          if (value.startsWith('~')) allowed.delete(name);
          else allowed.add(name);
        }
      }
      const refused = (await systemCalls()).filter((name) => !allowed.has(name));
      expect(refused).toEqual([]);
    },
  );
});

/** The system calls of a collector and its engine, from start to end. */
async function systemCalls(): Promise<string[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatewatch-calls-'));
  const counts = path.join(folder, 'counts');
  const secret = 'k'.repeat(40);
  const env = {
    PATH: process.env['PATH'] ?? '',
    GATEWATCH_DATA_DIR: path.join(folder, 'data'),
    GATEWATCH_HTTP_PORT: '0',
    GATEWATCH_EMBEDDED_PORT: '0',
    GATEWATCH_GATEWAY_URL: 'http://127.0.0.1:1',
    GATEWATCH_GATEWAY_TOKEN: secret,
    GATEWATCH_CALLBACK_KEY: secret,
  };
  const program = [process.execPath, path.join(ROOT, 'cli/main.ts'), 'run'];
  const traced = ['strace', '-f', '-c', '-U', 'name', '-o', counts, ...program];
  // In a group of its own, so that the signal reaches collector and strace, as `timeout` would send it.
  const [command = '', ...args] = traced;
  const child = spawn(command, args, { env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'close');
  try {
    await untilPrinted(child, 'stderr', /"msg":"collecting"/);
    // Polls, reports and merges have calls of their own.
    await sleep(5000);
    process.kill(-(child.pid ?? 0), 'SIGTERM');
    await ended;
  } finally {
    if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), 'SIGKILL');
  }
  const names = readFileSync(counts, 'utf8')
    .split('\n')
    .map((line) => line.trim());
  rmSync(folder, { recursive: true, force: true });
  return names.filter((name) => /^[a-z]\w*$/.test(name) && name !== 'syscall' && name !== 'total');
}
