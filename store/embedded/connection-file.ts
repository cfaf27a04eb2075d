import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { users } from './access.ts';
import { storePaths } from './engine-config.ts';
import { digestOf, proofOfDigest, readSecret } from './secrets.ts';

/** What a running server leaves in its data folder for commands to find it. Holds no secret. */
export interface ConnectionFile {
  readonly url: string;
  readonly pid: number;
  /** `wall` in the file: the sandbox of the engine's process, in words; '' if an earlier version wrote it. */
  readonly sandbox: string;
}

/** A store that another process serves. */
export interface RunningStore {
  readonly url: string;
  readonly sandbox: string;
  readonly writer: { readonly username: string; readonly password: string };
  readonly reader: { readonly username: string; readonly password: string };
}

const pingTimeoutMs = 2_000;

/** Finds the server of a data folder, and makes sure that it answers. `null` when there is none. */
export async function findRunningStore(dataDir: string): Promise<RunningStore | null> {
  const paths = storePaths(resolve(dataDir));
  const connection = readConnectionFile(paths.connection);
  const password = readSecret(paths.secret);
  if (connection === null || password === null) return null;
  const store = {
    url: connection.url,
    sandbox: connection.sandbox,
    writer: { username: users.writer, password },
    reader: { username: users.reader, password: readSecret(paths.readerSecret) ?? '' },
  };
  return (await answers(store)) ? store : null;
}

/** Replaces the file in one step, so that a reader never sees half of it. */
export function writeConnectionFile(file: string, connection: ConnectionFile): void {
  const draft = `${file}.${connection.pid}`;
  const { url, pid, sandbox } = connection;
  writeFileSync(draft, `${JSON.stringify({ url, pid, wall: sandbox })}\n`, { mode: 0o600 });
  renameSync(draft, file);
}

export function removeConnectionFile(file: string): void {
  rmSync(file, { force: true });
}

function readConnectionFile(file: string): ConnectionFile | null {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof value !== 'object' || value === null || !('url' in value) || !('pid' in value)) return null;
    const { url, pid } = value;
    const sandbox = 'wall' in value && typeof value.wall === 'string' ? value.wall : '';
    if (typeof url !== 'string' || typeof pid !== 'number') return null;
    // The secret is sent to this address: take nothing but loopback, whatever the file says.
    return /^http:\/\/127\.0\.0\.1:\d{1,5}$/.test(url) ? { url, pid, sandbox } : null;
  } catch {
    return null;
  }
}

/**
 * After a crash the port may belong to someone else, who must not be sent the password: only who knows it
 * passes.
 */
async function answers(store: RunningStore): Promise<boolean> {
  const nonce = randomBytes(16).toString('hex');
  try {
    const signal = AbortSignal.timeout(pingTimeoutMs);
    const response = await fetch(`${store.url}/ping`, { signal, headers: { 'X-Gatewatch-Nonce': nonce } });
    await response.arrayBuffer();
    return (
      response.ok &&
      response.headers.get('x-gatewatch-proof') === proofOfDigest(digestOf(store.writer.password), nonce)
    );
  } catch {
    return false;
  }
}
