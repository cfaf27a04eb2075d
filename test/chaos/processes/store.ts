import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { MAIN } from '../../support/collector-process.ts';
import { writerSecret } from '../../support/store-process.ts';
import { createProgram, type Program } from './program.ts';

/** `gatewatch store`, supervised, to be killed in two ways: the engine's process alone, or both. */
export interface Store {
  readonly port: number;
  readonly program: Program;
  readonly password: string;
  readonly dataDir: string;
  /** Of the engine's own process; 0 when it does not run. */
  enginePid(): number;
  /** SIGKILL of the engine's process: `gatewatch store` starts another one. True when there was one. */
  killEngine(): boolean;
  /** SIGKILL of both. */
  kill(how?: { stayDown?: boolean }): void;
  isUp(): Promise<boolean>;
  query<T>(sql: string): Promise<T[]>;
}

/** Serves `dataDir` on that port from `start` on. */
export function createStore(dataDir: string, port: number, folder: string): Store {
  const config = path.join(folder, 'store.yaml');
  writeFileSync(config, JSON.stringify({ dataDir, embedded: { port, fsync: false } }));
  const program = createProgram({
    name: 'store',
    args: [MAIN, 'store', '--json', '--config', config],
    env: () => ({}),
  });
  const enginePid = (): number => {
    try {
      return (JSON.parse(readFileSync(path.join(dataDir, 'embedded.json'), 'utf8')) as { pid: number }).pid;
    } catch {
      return 0;
    }
  };
  const killEngine = (): boolean => {
    const pid = enginePid();
    try {
      if (pid > 0) process.kill(pid, 'SIGKILL');
      return pid > 0;
    } catch {
      return false;
    }
  };
  process.on('exit', killEngine);
  return {
    port,
    program,
    dataDir,
    get password() {
      return writerSecret(dataDir);
    },
    enginePid,
    killEngine,
    kill(how) {
      program.kill(how);
      killEngine();
    },
    async isUp() {
      try {
        return (await fetch(`http://127.0.0.1:${port}/ping`, { signal: AbortSignal.timeout(1000) })).ok;
      } catch {
        return false;
      }
    },
    query: (sql) => queryAsWriter(`http://127.0.0.1:${port}`, writerSecret(dataDir), sql),
  };
}

/**
 * Rows of one SELECT, past all proxies and without the reader's limits. @throws Error with ClickHouse's own
 * text
 */
export async function queryAsWriter<T>(url: string, password: string, sql: string): Promise<T[]> {
  const settings = 'default_format=JSONEachRow&output_format_json_quote_64bit_integers=0&database=gatewatch';
  const reply = await fetch(`${url}/?${settings}`, {
    method: 'POST',
    body: sql,
    headers: { 'X-ClickHouse-User': 'gatewatch', 'X-ClickHouse-Key': password },
    signal: AbortSignal.timeout(120_000),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(text.slice(0, 500));
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}
