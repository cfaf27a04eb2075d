import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { ENGINE_FLAGS } from '../engine-flags.ts';

/**
 * Starts the process that judges readers' statements, in an empty folder of its own.
 *
 * @returns the socket to it. When that closes, at either end, the process ends.
 * @throws when the system starts no process
 */
export async function startPolicy(folder: string): Promise<Socket> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Beside this file: policy-process.ts in the sources, policy-process.js in the published package.
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const script = fileURLToPath(new URL(`./policy-process.${extension}`, import.meta.url));
  const child = fork(script, [folder], {
    cwd: folder,
    execArgv: ENGINE_FLAGS,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'ipc'],
    env: { PATH: '/usr/bin:/bin', TZ: 'UTC', LANG: 'C.UTF-8', UV_THREADPOOL_SIZE: '8' },
  });
  const [socket] = child.stdio.slice(3);
  await once(child, 'spawn');
  child.on('error', () => undefined);
  // It lives and ends with the socket.
  child.disconnect();
  child.unref();
  return socket as Socket;
}
