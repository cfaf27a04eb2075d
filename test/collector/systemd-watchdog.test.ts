import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startSystemdWatchdog } from '../../collector/systemd-watchdog.ts';
import { createFakeClock } from '../support/fake-clock.ts';

let folder: string;
let env: Record<string, string>;
const signs = (): string[] => {
  const file = path.join(folder, 'signs');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
};
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'gatewatch-watchdog-'));
  const program = path.join(folder, 'systemd-notify');
  writeFileSync(program, `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >> ${folder}/signs\n`);
  chmodSync(program, 0o755);
  env = { PATH: `${folder}:${process.env['PATH']}`, NOTIFY_SOCKET: '/run/notify', WATCHDOG_USEC: '60000000' };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('notifies systemd three times within the time that it waits, until it is stopped', async () => {
  const clock = createFakeClock();
  const stop = startSystemdWatchdog(env, clock);
  await clock.advance(40_000);
  await expect.poll(signs).toEqual(Array.from({ length: 3 }, () => '/run/notify WATCHDOG=1'));
  stop();
  await clock.advance(60_000);
  expect(clock.pending()).toBe(0);
});

it('does nothing where systemd does not wait, and harms nobody where the program is missing', async () => {
  const clock = createFakeClock();
  startSystemdWatchdog({ ...env, WATCHDOG_USEC: undefined }, clock);
  startSystemdWatchdog({ ...env, NOTIFY_SOCKET: undefined }, clock);
  expect(clock.pending()).toBe(0);
  const stop = startSystemdWatchdog({ ...env, PATH: '/nonexistent' }, clock);
  await clock.advance(60_000);
  stop();
  expect(signs()).toEqual([]);
});
