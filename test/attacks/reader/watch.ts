import { spawn, spawnSync } from 'node:child_process';
import { createReadStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** What a watched process did that it must not do. */
export interface Watched {
  /** Stops watching. @returns system calls, as strace writes them */
  stop(): Promise<string[]>;
}

const CALLS = [
  'open', 'openat', 'openat2', 'creat', 'unlink', 'unlinkat', 'rename', 'renameat', 'renameat2', 'link', 'linkat', 'symlink',
  'symlinkat', 'truncate', 'mkdir', 'mkdirat', 'connect', 'bind', 'execve', 'execveat',
]; // prettier-ignore
const ATTACH_DEADLINE_MS = 20_000;

/** Why processes cannot be watched here; null when they can. */
export function whyNotWatched(): string | null {
  if (process.platform !== 'linux') return 'strace is a tool of Linux';
  return spawnSync('strace', ['-V']).error === undefined ? null : 'strace is not installed';
}

/**
 * Watches every thread of a process with strace: each file that it opens or changes, each connection and each
 * program that it starts.
 *
 * @param allowed whether a path is one that it may open
 * @param counts what counts: that it tried, or that the system let it
 */
export async function watchProcess(
  pid: number,
  allowed: (file: string) => boolean,
  counts: 'tried' | 'done',
): Promise<Watched> {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatewatch-strace-'));
  const log = path.join(folder, 'calls');
  const filter = `trace=${CALLS.join(',')}`;
  const tracer = spawn(
    'strace',
    ['-f', '-q', '-y', '-s', '400', '-e', filter, '-o', log, '-p', String(pid)],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let said = '';
  tracer.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const ended = new Promise<void>((resolve) => tracer.once('exit', () => resolve()));
  const deadline = Date.now() + ATTACH_DEADLINE_MS;
  while (!isTraced(pid)) {
    if (tracer.exitCode !== null || Date.now() > deadline) throw new Error(`strace cannot watch: ${said}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    async stop() {
      tracer.kill('SIGINT');
      await ended;
      // Once each: the same call of other threads says no more. A long run's log fits no string.
      const forbidden = new Set<string>();
      const unfinished = new Map<string, string>();
      for await (const part of createInterface({ input: createReadStream(log) })) {
        const line = counts === 'done' ? whole(part, unfinished) : part;
        // To look a name up, the system's library asks the kernel which addresses there are.
        if (counts === 'done' && part.includes('AF_NETLINK')) continue;
        if (line === null || (counts === 'done' && / = -1 E\w+ /.test(line))) continue;
        if (isForbidden(line, allowed)) forbidden.add(line.replace(/^\d+ +/, ''));
      }
      rmSync(folder, { recursive: true, force: true });
      return [...forbidden];
    },
  };
}

/** A call that another thread's call cut in two, put together again; null for its first part. */
function whole(line: string, unfinished: Map<string, string>): string | null {
  const [, thread = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
  if (call.endsWith('<unfinished ...>')) {
    unfinished.set(thread, line.replace(/ *<unfinished \.\.\.>$/, ''));
    return null;
  }
  const rest = /^<\.\.\. \w+ resumed>(.*)$/.exec(call)?.[1];
  return rest === undefined ? line : `${unfinished.get(thread) ?? thread}${rest}`;
}

/** All threads of the process have the tracer. */
function isTraced(pid: number): boolean {
  try {
    return /^TracerPid:\s+[1-9]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

const OPENED = /\b(?:open|creat|unlink|rename|link|symlink|truncate|mkdir)\w*\((.*)/;

function isForbidden(line: string, allowed: (file: string) => boolean): boolean {
  if (/\b(?:connect|bind|execve|execveat)\(/.test(line)) return true;
  const call = OPENED.exec(line)?.[1];
  if (call === undefined) return false;
  // AT_FDCWD</folder>, "relative"; or "/absolute".
  const folder = /^(?:AT_FDCWD|\d+)<([^>]*)>/.exec(call)?.[1] ?? '';
  const names = [...call.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map((match) => match[1] ?? '');
  return names.some((name) => !allowed(path.resolve(folder === '' ? '/' : folder, name)));
}
