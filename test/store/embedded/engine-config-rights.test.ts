import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DATABASE, PAGE_VIEWS, VIEWS } from '../../../schemas/names.ts';
import { allowedSystemTables } from '../../../store/embedded/reader/allowed-tables.ts';
import type { Store } from '../../../store/store.ts';
import { withEmbedded, type TestStore } from '../../support/embedded.ts';
import { openDatabase } from '../../support/migrated-store.ts';

/** With the gate open: what the engine itself gives to the reader's role. */
describe("the engine's own rights of the reader, without the gate", () => {
  let embedded: TestStore;
  let store: Store;
  beforeAll(async () => {
    embedded = await withEmbedded({ withoutWalls: ['gate'] });
    store = await openDatabase(embedded, { database: DATABASE });
    await store.command("INSERT INTO fingerprint_keys_store (created_at, key) SELECT now64(6), 'the-key'");
  });
  afterAll(async () => {
    await store.close();
    await embedded.stop();
  });

  async function asReader(sql: string, params: Record<string, string> = {}): Promise<string> {
    const { username, password } = embedded.reader;
    const headers = { 'X-ClickHouse-User': username, 'X-ClickHouse-Key': password };
    const search = new URLSearchParams({ database: DATABASE, ...params });
    return (await fetch(`${embedded.url}/?${search}`, { method: 'POST', body: sql, headers })).text();
  }

  it.each(Object.values(VIEWS))('show the public view %s', async (view) => {
    expect(await asReader(`SELECT count() >= 0 FROM ${view}`)).toBe('1\n');
  });

  it('list the public views, and no other table of any database', async () => {
    const names = await asReader("SELECT name FROM system.tables WHERE database != 'system' ORDER BY name");
    expect(
      names
        .trim()
        .split('\n')
        .filter((name) => !/^tables|columns|schemata|views|statistics|_usage|constraints$/i.test(name)),
    ).toEqual([...Object.values(VIEWS), ...PAGE_VIEWS].toSorted());
    expect((await asReader(`SHOW TABLES FROM ${DATABASE}`)).trim().split('\n')).toEqual(
      [...Object.values(VIEWS), ...PAGE_VIEWS].toSorted(),
    );
  });

  it('refuse every table beneath', async () => {
    const tables = await store.query<{ name: string }>(
      "SELECT name FROM system.tables WHERE database = {database:String} AND engine NOT IN ('View')",
      { database: DATABASE },
    );
    expect(tables.length).toBeGreaterThan(20);
    for (const { name } of tables) {
      expect(await asReader(`SELECT * FROM \`${name}\` LIMIT 1`)).toMatch(/^Code: 497\./);
      expect(await asReader(`DESCRIBE \`${name}\``)).toMatch(/^Code: 497\./);
    }
  });

  it('have no rows of system tables but of those on the list', async () => {
    const open = new Set(allowedSystemTables.flatMap(({ names }) => names));
    // An error, whose text another's statement could stand in.
    await store.query("SELECT throwIf(1, 'of another')").catch(() => undefined);
    // `models` waits ten seconds and more for a program that is not there.
    const tables = await store.query<{ name: string }>(
      "SELECT name FROM system.tables WHERE database = 'system' AND name NOT IN ('stack_trace', 'zookeeper', 'models')",
    );
    for (const { name } of tables.filter((table) => !open.has(table.name))) {
      const answer = await asReader(`SELECT count() FROM (SELECT * FROM system.${name} LIMIT 1)`);
      expect(answer).toMatch(/^(?:0\n|Code: \d+\.)/);
      expect(answer).not.toContain('of another');
    }
    expect(await asReader('SELECT count() > 0 FROM system.functions')).toBe('1\n');
    expect(await asReader('SELECT * FROM system.one')).toBe('0\n');
  });

  it.each([
    "SELECT arrayReduce('groupConcat((SELECT any(key) FROM fingerprint_keys_store))', ['a', 'b'])",
    "SELECT initializeAggregation('groupConcat((SELECT any(key) FROM fingerprint_keys_store))', 'a')",
    'SELECT (SELECT any(key) FROM fingerprint_keys_store)',
    "SELECT * FROM merge('gatewatch', '.*_store')",
    "SELECT * FROM mergeTreeIndex('gatewatch', 'orders_store')",
    "SELECT * FROM file('/etc/hostname', 'LineAsString')",
    "SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')",
    "SELECT * FROM remote('127.0.0.1', system.one)",
    "SELECT * FROM sqlite('/tmp/a', 'b')",
    "SELECT * FROM executable('id', 'TSV', 'a String')",
    'SHOW CREATE TABLE fingerprint_keys_store',
    'SET ROLE gatewatch_writer_role',
    'SET ROLE DEFAULT; SELECT 1',
    'SELECT 1; DROP TABLE orders_store',
    'CREATE DATABASE owned',
    'INSERT INTO annotations_store SELECT * FROM annotations_store',
    'KILL QUERY WHERE 1',
    "SELECT 1 INTO OUTFILE 'x'",
    'SELECT 1 SETTINGS max_execution_time = 1000',
  ])('refuse %s', async (sql) => {
    const answer = await asReader(sql);
    expect(answer).toMatch(/^Code: (?:497|164|62|481|636)\./);
    expect(answer).not.toContain('the-key');
  });
});
