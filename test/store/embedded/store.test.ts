import { fork, type ChildProcess } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findRunningStore } from '../../../store/embedded/connection-file.ts';
import { startEmbeddedStore, type EmbeddedStore } from '../../../store/embedded/store.ts';
import { PATIENCE_MS } from '../../support/until.ts';

const parentScript = join(import.meta.dirname, 'parent-process.ts');

let dataDir: string;
const cleanups: (() => unknown)[] = [];
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'gatewatch-life-'));
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
  rmSync(dataDir, { recursive: true, force: true });
});

async function start(
  options: Partial<Parameters<typeof startEmbeddedStore>[0]> = {},
): Promise<EmbeddedStore> {
  const store = await startEmbeddedStore({ dataDir, port: 0, ...options });
  cleanups.push(() => store.stop());
  return store;
}

async function query(store: Pick<EmbeddedStore, 'url' | 'writer'>, sql: string): Promise<string> {
  const headers = { 'X-ClickHouse-User': store.writer.username, 'X-ClickHouse-Key': store.writer.password };
  const response = await fetch(store.url, { method: 'POST', body: sql, headers });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A killed process whose parent has gone may stay a zombie for a while.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

async function parent(): Promise<{ process: ChildProcess; pid: number; url: string; password: string }> {
  const owner = fork(parentScript, [dataDir], { execArgv: ['--no-warnings'] });
  cleanups.push(() => owner.kill('SIGKILL'));
  const message = await new Promise<{ pid: number; url: string; password: string }>((resolve) => {
    owner.once('message', (value) => resolve(value as { pid: number; url: string; password: string }));
  });
  return { process: owner, ...message };
}

const until = (condition: () => unknown) => vi.waitUntil(condition, { timeout: PATIENCE_MS, interval: 20 });
const slow = 'SELECT max(sipHash64(number)) FROM numbers(100000000000)';

describe('a store', () => {
  it('answers within seconds and keeps its rows over a stop', async () => {
    const first = await start();
    await query(first, 'CREATE TABLE t (a UInt8) ORDER BY a');
    await query(first, 'INSERT INTO t VALUES (7)');
    await first.stop();
    expect(isAlive(first.pid)).toBe(false);
    const second = await start();
    expect(await query(second, 'SELECT a FROM t')).toBe('7\n');
    expect(second.writer.password).toBe(first.writer.password);
  });

  it('keeps its secret to its owner', async () => {
    const store = await start();
    const file = join(dataDir, 'writer.secret');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(store.writer.password).toBe(readFileSync(file, 'utf8').trim());
    expect(store.writer.password.length).toBeGreaterThanOrEqual(40);
    chmodSync(file, 0o644);
    await store.stop();
    await start();
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('is found by its data folder while it runs', async () => {
    expect(await findRunningStore(dataDir)).toBeNull();
    const store = await start();
    const found = await findRunningStore(dataDir);
    expect(found).toEqual({
      url: store.url,
      sandbox: store.sandbox,
      writer: store.writer,
      reader: store.reader,
    });
    expect(readFileSync(join(dataDir, 'embedded.json'), 'utf8')).not.toContain(store.writer.password);
    await store.stop();
    expect(await findRunningStore(dataDir)).toBeNull();
  });

  it('refuses readers where no sandbox stands, in a word that names the danger, and serves the writer', async () => {
    const asReader = async ({ url, reader }: EmbeddedStore): Promise<string> => {
      const headers = { 'X-ClickHouse-User': reader.username, 'X-ClickHouse-Key': reader.password };
      return (await fetch(url, { method: 'POST', body: 'SELECT 1', headers })).text();
    };
    const readersWithoutSandbox = 'refused';
    const store = await start({ withoutWalls: ['sandbox'], readersWithoutSandbox });
    expect(await asReader(store)).toMatch(
      /^Code: 497\. .*readers are refused.*every file of this account.*readersWithoutSandbox to trusted_with_all_files/,
    );
    expect(await query(store, 'SELECT 1')).toBe('1\n');
    await store.stop();
    const trusting = await start({
      withoutWalls: ['sandbox'],
      readersWithoutSandbox: 'trusted_with_all_files',
    });
    expect(await asReader(trusting)).toBe('1\n');
  });

  it('is not looked for anywhere but on this machine', async () => {
    await (await start()).stop();
    writeFileSync(
      join(dataDir, 'embedded.json'),
      JSON.stringify({ url: 'http://198.51.100.1:8123', pid: 1 }),
    );
    expect(await findRunningStore(dataDir)).toBeNull();
  });

  it('forces inserts to the disk by default', async () => {
    const fsync = "SELECT groupUniqArray(value) FROM system.merge_tree_settings WHERE name LIKE 'fsync%'";
    const careful = await start();
    expect(await query(careful, fsync)).toBe("['1']\n");
    await careful.stop();
    const hasty = await start({ fsync: false });
    expect(await query(hasty, fsync)).toBe("['0']\n");
  });
});

describe('a command that looks for a store', () => {
  it('does not take someone else on its port for it', async () => {
    await (await start()).stop();
    const stranger = createHttpServer((_, response) => response.end('Ok.\n')).listen(0, '127.0.0.1');
    await new Promise((done) => stranger.once('listening', done));
    cleanups.push(() => stranger.close());
    const { port } = stranger.address() as { port: number };
    writeFileSync(
      join(dataDir, 'embedded.json'),
      JSON.stringify({ url: `http://127.0.0.1:${port}`, pid: 1 }),
    );
    expect(await findRunningStore(dataDir)).toBeNull();
  });
});

describe('a stop', () => {
  it('lets a running insert finish and its client know', async () => {
    const store = await start();
    await query(store, 'CREATE TABLE t (a UInt64) ORDER BY a');
    const insert = query(store, 'INSERT INTO t SELECT sipHash64(number) FROM numbers(3000000)');
    const processes = "SELECT count() FROM system.processes WHERE query LIKE 'INSERT INTO t SELECT%'";
    await vi.waitUntil(async () => (await query(store, processes)) === '1\n', {
      timeout: PATIENCE_MS,
      interval: 5,
    });
    await store.stop();
    await expect(insert).resolves.toBe('');
    const again = await start();
    expect(await query(again, 'SELECT count() FROM t')).toBe('3000000\n');
  });

  it('does not wait longer than it may', async () => {
    const store = await start({ stopTimeoutMs: 300 });
    const failed = query(store, slow).catch((error: unknown) => error);
    await vi.waitUntil(
      async () =>
        (await query(store, "SELECT count() FROM system.processes WHERE query LIKE 'SELECT max%'")) === '1\n',
      { timeout: PATIENCE_MS },
    );
    const started = performance.now();
    await store.stop();
    expect(performance.now() - started).toBeLessThan(6_000);
    expect(await failed).toBeInstanceOf(Error);
    expect(isAlive(store.pid)).toBe(false);
  });
});

describe('an engine that is killed', () => {
  it('is replaced under the same address with every acknowledged row', async () => {
    const restarted = Promise.withResolvers<number>();
    const store = await start({ onRestart: restarted.resolve });
    const { pid, url } = store;
    await query(store, 'CREATE TABLE t (a UInt32) ORDER BY a');
    let acknowledged = 0;
    const writing = (async () => {
      for (;;) {
        await query(store, `INSERT INTO t VALUES (${acknowledged})`);
        acknowledged++;
      }
    })().catch(() => undefined);
    await until(() => acknowledged >= 5);
    process.kill(pid, 'SIGKILL');
    await writing;
    expect(await restarted.promise).toBe(1);
    expect([store.restarts, store.url]).toEqual([1, url]);
    expect(store.pid).not.toBe(pid);
    const found = await findRunningStore(dataDir);
    expect(found?.url).toBe(url);
    const count = Number(await query(store, 'SELECT count() FROM t'));
    expect(count).toBeGreaterThanOrEqual(acknowledged);
    expect(count).toBeLessThanOrEqual(acknowledged + 1);
  });

  it.each(['SIGSEGV', 'SIGABRT', 'SIGBUS'])(
    'by a fault of its own, %s, is gone at once and replaced',
    async (signal) => {
      const restarted = Promise.withResolvers<number>();
      const store = await start({ onRestart: restarted.resolve });
      process.kill(store.pid, signal);
      expect(await restarted.promise).toBe(1);
      expect(await query(store, 'SELECT 1')).toBe('1\n');
    },
  );

  it('again and again is given up with a reason', async () => {
    const store = await start({ maxRestarts: 1 });
    process.kill(store.pid, 'SIGKILL');
    await until(() => store.restarts === 1);
    process.kill(store.pid, 'SIGKILL');
    expect((await store.down).code).toBe('START_FAILED');
  });
});

describe('the owner of a store', () => {
  it('that is killed takes its engine along, even in the middle of a statement', async () => {
    const owner = await parent();
    const store = { url: owner.url, writer: { username: 'gatewatch', password: owner.password } };
    const failed = query(store, slow).catch((error: unknown) => error);
    await vi.waitUntil(async () => (await query(store, 'SELECT count() FROM system.processes')) === '2\n', {
      timeout: PATIENCE_MS,
    });
    owner.process.kill('SIGKILL');
    await until(() => !isAlive(owner.pid));
    expect(await failed).toBeInstanceOf(Error);
  });

  it('that comes after it waits for the folder', async () => {
    const owner = await parent();
    const events: string[] = [];
    const second = start({ log: (event) => events.push(event.msg) });
    await until(() =>
      events.some((event) => /^waiting for process \d+ to release the data folder$/.test(event)),
    );
    owner.process.kill('SIGKILL');
    expect(await query(await second, 'SELECT 1')).toBe('1\n');
  });

  it('that waits for too long hears which process holds it', async () => {
    await parent();
    const error = await start({ startTimeoutMs: 300 }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'DATA_DIR_LOCKED', retryable: true });
    expect(String(error)).toContain(dataDir);
    expect(String(error)).toMatch(/Another process \(process \d+, its engine\) holds/);
  });

  it('hears that the port is taken, and by which setting to change it', async () => {
    const squatter = createServer().listen(0, '127.0.0.1');
    await new Promise((done) => squatter.once('listening', done));
    cleanups.push(() => squatter.close());
    const { port } = squatter.address() as { port: number };
    const error = await start({ port }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'PORT_IN_USE' });
    expect(String(error)).toMatch(new RegExp(`Port ${port} .*GATEWATCH_EMBEDDED_PORT`));
  });

  it('hears at once why the system gave no process', async () => {
    const { execPath } = process;
    cleanups.push(() => (process.execPath = execPath));
    process.execPath = join(dataDir, 'no-node');
    const error = await start().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'START_FAILED', message: expect.stringContaining('ENOENT') });
  });

  it('hears what to do when the engine is not installed', async () => {
    const elsewhere = join(dataDir, 'elsewhere');
    const root = join(import.meta.dirname, '../../..');
    for (const folder of ['store', 'schemas']) {
      cpSync(join(root, folder), join(elsewhere, folder), { recursive: true });
    }
    // What is always installed.
    mkdirSync(join(elsewhere, 'node_modules'));
    symlinkSync(join(root, 'node_modules/lz4-napi'), join(elsewhere, 'node_modules/lz4-napi'));
    writeFileSync(join(elsewhere, 'package.json'), '{"type":"module"}');
    const copy = (await import(join(elsewhere, 'store/embedded/store.ts'))) as {
      startEmbeddedStore: typeof startEmbeddedStore;
    };
    const error = await copy.startEmbeddedStore({ dataDir, port: 0 }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'CHDB_MISSING' });
    expect(String(error)).toMatch(/npm install chdb.*GATEWATCH_CLICKHOUSE_URL/);
  });

  it('hears that the folder cannot be used', async () => {
    writeFileSync(join(dataDir, 'file'), '');
    for (const folder of ['file', 'a*', '{a}']) {
      const error = await start({ dataDir: join(dataDir, folder) }).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: 'DATA_DIR_UNUSABLE' });
    }
  });

  it('may keep its data in a folder with an awkward name', async () => {
    const awkward = join(dataDir, 'it\'s a "dir" & <x> $y; [z]');
    const store = await start({ dataDir: awkward });
    await query(store, 'CREATE TABLE t (a UInt8) ORDER BY a');
    await query(store, 'INSERT INTO t FORMAT CSV\n5\n');
    expect(JSON.parse(await query(store, 'SELECT a FROM t FORMAT JSON'))).toMatchObject({ data: [{ a: 5 }] });
    expect(existsSync(join(awkward, 'embedded.json'))).toBe(true);
  });
});
