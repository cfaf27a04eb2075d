import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hasStore, openStore, schemaMigrator, type OpenedStore } from '../../store/open.ts';
import { loadPartialConfig } from '../../collector/config/load.ts';

let dataDir: string;
const opened: OpenedStore[] = [];
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'gatewatch-open-'));
});
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close();
  await rm(dataDir, { recursive: true, force: true });
});

const open = async (...[settings, options]: Parameters<typeof openStore>): Promise<OpenedStore> => {
  const one = await openStore(settings, options);
  opened.push(one);
  return one;
};
const SECTIONS = ['clickhouse', 'dataDir', 'embedded', 'retention'] as const;
const config = (more: Record<string, string> = {}) =>
  loadPartialConfig(
    undefined,
    { GATEWATCH_DATA_DIR: dataDir, GATEWATCH_EMBEDDED_PORT: '0', ...more },
    SECTIONS,
  );

describe('the store that the configuration means', () => {
  it('is the configured server, with one user for all, and opens no connection yet', async () => {
    const server = {
      GATEWATCH_CLICKHOUSE_URL: 'http://127.0.0.1:1',
      GATEWATCH_CLICKHOUSE_DATABASE: 'other',
      GATEWATCH_CLICKHOUSE_PASSWORD: 'secret',
    };
    const { kind, url, database, writer, reader, embedded } = await open(config(server));
    expect({ kind, url, database, embedded }).toEqual({
      kind: 'configured',
      url: 'http://127.0.0.1:1',
      database: 'other',
      embedded: null,
    });
    expect(reader).toBe(writer);
    expect(writer.password.reveal()).toBe('secret');
  });

  it('is none where no embedded store ever ran, unless one may be made', async () => {
    expect(hasStore(dataDir)).toBe(false);
    await expect(openStore(config())).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(hasStore(dataDir)).toBe(false);
  });

  it('is the embedded one, found by others while it is served, and started again by them afterwards', async () => {
    const waits: string[] = [];
    const served = await open(config(), {
      embedded: 'serve',
      progress: (what, work) => (waits.push(what), work),
    });
    expect(waits).toEqual(['starting the embedded store']);
    expect(served.kind).toBe('started');
    await schemaMigrator(served.store, config().retention).run();
    const found = await open(config());
    expect({ kind: found.kind, url: found.url, embedded: found.embedded }).toEqual({
      kind: 'running',
      url: served.url,
      embedded: null,
    });
    expect(await found.store.query('SELECT 1 AS one FROM orders')).toEqual([]);
    for (const one of opened.splice(0).toReversed()) await one.close();
    expect((await open(config())).kind).toBe('started');
  });
});
