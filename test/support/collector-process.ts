import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { z } from 'zod';
import type { configSchema } from '../../schemas/config.ts';
import { copyTemplate } from './migrated-folder.ts';
import { PATIENCE_MS } from './until.ts';

export const MAIN = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));

/** The configuration as a person writes it, defaults left out. */
export type ConfigInput = z.input<typeof configSchema>;

export interface CollectorProcessOptions {
  readonly config: ConfigInput;
  /**
   * Holds the configuration and the store. Give it to go on where another process ended. @default a new one
   */
  readonly folder?: string;
  /** On top of `plainEnvironment`. @default none */
  readonly env?: Readonly<Record<string, string>>;
  /** Wait for `/readyz`, or only until it says where it listens. @default 'ready' */
  readonly until?: 'ready' | 'running';
}

/** Answers a SELECT over the views. */
export interface Queryable {
  query<T = Record<string, unknown>>(sql: string): Promise<T[]>;
}

/** The real command line in a process of its own: `gatewatch run`. */
export interface CollectorProcess extends Queryable {
  /** The collector's own interface, e.g. `http://127.0.0.1:41234`. */
  readonly http: string;
  /** Where callbacks are taken. */
  readonly intake: string;
  /** ClickHouse's HTTP interface. */
  readonly store: string;
  readonly folder: string;
  /** Holds the embedded store. */
  readonly dataDir: string;
  readonly configFile: string;
  readonly pid: number;
  /** All of stdout and stderr so far. */
  output(): string;
  /** Lines of the log whose message is this one. */
  logged(msg: string): Record<string, unknown>[];
  /** Rows of a SELECT over the views, asked as an analyst does: over HTTP, as the reader. */
  query<T = Record<string, unknown>>(sql: string): Promise<T[]>;
  /** Resolves with the exit code when the process ends; null after a signal. */
  readonly ended: Promise<number | null>;
  /** SIGTERM. Resolves with the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL. Nothing gets a chance to be tidied up. */
  kill(): Promise<void>;
  /** Kills what still runs and removes the folder. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** All that a process of a test gets of the test's own environment. */
export function plainEnvironment(): Record<string, string> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE } = process.env;
  return { PATH, HOME, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }) };
}

const running = new Set<ChildProcess>();
// A test run that is interrupted leaves no collector behind.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * Starts a collector on free ports with a data folder of its own, and waits for it. A port that a restart
 * must find again is given in the configuration.
 */
export async function startCollectorProcess(options: CollectorProcessOptions): Promise<CollectorProcess> {
  const folder = options.folder ?? (await mkdtemp(path.join(tmpdir(), 'gatewatch-run-')));
  const configFile = path.join(folder, 'gatewatch.yaml');
  const dataDir = options.config.dataDir ?? path.join(folder, 'data');
  await writeFile(configFile, JSON.stringify(withDefaults(options.config, folder)));
  if (options.config.clickhouse === undefined && !existsSync(dataDir))
    await copyTemplate('migrated', dataDir);
  const child = spawn(process.execPath, ['--max-semi-space-size=8', MAIN, 'run', '--config', configFile], {
    env: { ...plainEnvironment(), ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const lines: string[] = [];
  const ended = once(child, 'close').then(([code]) => {
    running.delete(child);
    return code as number | null;
  });
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => lines.push(line));
  }
  const logged = (msg: string) => lines.map(parseLine).filter((line) => line['msg'] === msg);
  const remove = () => rm(folder, { recursive: true, force: true });
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  const waitFor = async <T>(
    what: string,
    found: () => Promise<T | undefined> | T | undefined,
  ): Promise<T> => {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const value = await found();
      if (value !== undefined) return value;
      if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline) {
        await kill();
        throw new Error(`The collector was not ${what}:\n${lines.slice(-20).join('\n')}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  };
  const addresses = await waitFor('running', () => logged('running')[0]);
  const http = String(addresses['http']);
  const store = String(addresses['store']);
  if (options.until !== 'running')
    await waitFor('ready', async () => (await isOk(`${http}/readyz`)) || undefined);

  return {
    http,
    intake: String(addresses['intake']),
    store,
    folder,
    dataDir,
    configFile,
    pid: child.pid ?? 0,
    output: () => lines.join('\n'),
    logged,
    query: (sql) => queryStore(store, readerPassword(dataDir), sql),
    ended,
    async stop() {
      child.kill('SIGTERM');
      return ended;
    },
    kill,
    async [Symbol.asyncDispose]() {
      await kill();
      await remove();
    },
  };
}

/**
 * One SELECT as the embedded store's reader. Numbers come as numbers. @throws Error with ClickHouse's own
 * text
 */
export async function queryStore<T>(store: string, password: string, sql: string): Promise<T[]> {
  const settings = 'default_format=JSONEachRow&output_format_json_quote_64bit_integers=0&database=gatewatch';
  const headers = { 'x-clickhouse-user': 'gatewatch_reader', 'x-clickhouse-key': password };
  const reply = await fetch(`${store}/?${settings}`, { method: 'POST', headers, body: sql });
  const text = await reply.text();
  if (!reply.ok) throw new Error(text.slice(0, 500));
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

/** The password of the embedded store's reader. */
export function readerPassword(dataDir: string): string {
  return readFileSync(path.join(dataDir, 'reader.secret'), 'utf8').trim();
}

/** Free ports, the folder's own store, and no waiting for the disk: a test does not pull the plug. */
function withDefaults(config: ConfigInput, folder: string): ConfigInput {
  return {
    // Tests wait for what is stored, over and over.
    batch: { quietAgeMs: 1_000 },
    ...config,
    dataDir: config.dataDir ?? path.join(folder, 'data'),
    http: { port: 0, ...config.http },
    embedded: {
      port: 0,
      fsync: false,
      // Tests run where the system has no sandbox, too.
      readersWithoutSandbox: 'trusted_with_all_files',
      ...config.embedded,
    },
  };
}

function parseLine(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return {};
  }
}

async function isOk(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}
