import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { MAIN, plainEnvironment, queryStore, readerPassword, type Queryable } from './collector-process.ts';

/** `gatewatch store`: a ClickHouse server of one's own, to be killed and started again. */
export interface StoreProcess extends Queryable {
  readonly url: string;
  /** SIGTERM. Resolves with the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

/**
 * Serves the data folder on that port and waits until it answers. @throws Error with what the command said
 */
export async function startStoreProcess(dataDir: string, port: number): Promise<StoreProcess> {
  const child = spawn(process.execPath, [MAIN, 'store', '--port', String(port), '--json'], {
    env: { ...plainEnvironment(), GATEWATCH_DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const killed = () => child.kill('SIGKILL');
  process.once('exit', killed);
  const ended = once(child, 'close').then(([code]) => {
    process.off('exit', killed);
    return code as number | null;
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const line = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended]);
  if (!Array.isArray(line)) throw new Error(`gatewatch store ended with ${String(line)}: ${errors}`);
  const { url } = JSON.parse(String(line[0])) as { url: string };
  return {
    url,
    query: (sql) => queryStore(url, readerPassword(dataDir), sql),
    async stop() {
      child.kill('SIGTERM');
      return ended;
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The writer's password, which the store keeps in its data folder. */
export function writerSecret(dataDir: string): string {
  const file = path.join(dataDir, 'writer.secret');
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
}
