import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createMigrator } from '../../store/migrate.ts';
import { readMigrations, splitStatements } from '../../store/migrations.ts';
import { DEFAULT_RETENTION_DAYS, KEPT_FOR_EVER } from '../../store/retention.ts';
import type { Store } from '../../store/store.ts';
import { createStore } from '../../store/store.ts';
import type { TableKey } from '../../schemas/names.ts';
import { TABLES } from '../../schemas/names.ts';
import type { TestStore } from '../support/embedded.ts';
import { withEmbedded } from '../support/embedded.ts';
import { startFaultProxy } from '../collector/sinks/support/fault-proxy.ts';
import { count, MIGRATIONS } from '../support/migrated-store.ts';
import { historyEvent } from '../collector/sinks/support/rows.ts';

/** A copy of the migrations, with files added or replaced. */
async function folder(extra: Record<string, string> = {}): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'gatewatch-migrations-'));
  await cp(MIGRATIONS, copy, { recursive: true });
  for (const [name, text] of Object.entries(extra)) await writeFile(join(copy, name), text);
  return copy;
}

describe('a file of statements', () => {
  it('is split at semicolons that end a line', () => {
    expect(splitStatements('SELECT 1;\nSELECT 2 ; -- two\nSELECT 3')).toEqual([
      'SELECT 1',
      'SELECT 2',
      '-- two\nSELECT 3',
    ]);
  });

  it('is not split inside comments and quotes, nor in the middle of a line', () => {
    const sql =
      "-- a;\nSELECT ';\n', \"x;\n\", `y;\n`, 'it''s;\n', 'a\\';\n' /* b;\n */;\nSELECT 1; SELECT 2;\n";
    expect(splitStatements(sql)).toEqual([
      "-- a;\nSELECT ';\n', \"x;\n\", `y;\n`, 'it''s;\n', 'a\\';\n' /* b;\n */",
      'SELECT 1; SELECT 2',
    ]);
  });

  it('has no statement of comments alone', () => {
    expect(splitStatements('-- nothing;\n\n/* still\nnothing */\n;\n')).toEqual([]);
  });
});

describe('migrations', () => {
  let embedded: TestStore;
  let store: Store;
  let databases = 0;
  beforeAll(async () => {
    embedded = await withEmbedded();
  });
  afterAll(() => embedded.stop());
  beforeEach(() => {
    databases += 1;
    store = createStore({ ...embedded.writer, url: embedded.url, database: `migrate_${databases}` });
    return () => store.close();
  });

  it('are planned without touching the store', async () => {
    const plan = await createMigrator({ store }).plan();
    expect(plan.from).toBe(0);
    expect(plan.steps[0]?.title).toBe('0001_base');
    expect(plan.steps.at(-1)?.title).toBe('retention');
    expect(
      await store.query(
        `SELECT name FROM system.databases WHERE name = '${store.database}'`,
        {},
        { database: 'system' },
      ),
    ).toEqual([]);
  });

  it('create the database and its tables, and find nothing to do the second time', async () => {
    const migrator = createMigrator({ store });
    const planned = await migrator.plan();
    expect(await migrator.run()).toEqual(planned);
    for (const table of Object.values(TABLES)) expect(await count(store, table)).toBe(0);
    expect(await migrator.plan()).toMatchObject({ from: planned.to, to: planned.to, steps: [] });
    expect((await migrator.run()).steps).toEqual([]);
  });

  it('may be run by several collectors at once', async () => {
    const migrators = Array.from({ length: 4 }, () => createMigrator({ store }));
    await Promise.all(migrators.map((migrator) => migrator.run()));
    const versions = (await readMigrations(MIGRATIONS)).map(({ version }) => ({ version }));
    expect(await store.query('SELECT version FROM schema_migrations FINAL ORDER BY version')).toEqual(
      versions,
    );
    await store.insert('historyEvents', [historyEvent()]);
    expect(await count(store, 'history_events')).toBe(1);
  });

  it('go on where an interrupted run stopped', async () => {
    const [base] = await readMigrations(MIGRATIONS);
    await store.command(`CREATE DATABASE ${store.database}`, { database: '' });
    for (const statement of base?.statements.slice(0, 3) ?? []) await store.command(statement);
    await createMigrator({ store }).run();
    expect(await count(store, 'history_events')).toBe(0);
  });

  it('apply a new file alone', async () => {
    await createMigrator({ store }).run();
    const next = (await readMigrations(MIGRATIONS)).length + 1;
    const title = `${String(next).padStart(4, '0')}_more`;
    const directory = await folder({
      [`${title}.sql`]: 'CREATE TABLE IF NOT EXISTS more (a UInt8) ENGINE = Memory;\n',
    });
    const { steps } = await createMigrator({ store, directory }).run();
    expect(steps.map((step) => step.title)).toEqual([title]);
    await rm(directory, { recursive: true });
  });

  it('refuse a file that was changed after it had been applied', async () => {
    await createMigrator({ store }).run();
    const directory = await folder({ '0001_base.sql': 'SELECT 1;\n' });
    const migrator = createMigrator({ store, directory });
    const expected = { code: 'store_schema', message: expect.stringContaining('0001_base was changed') };
    await expect(migrator.run()).rejects.toMatchObject(expected);
    await expect(migrator.plan()).rejects.toMatchObject(expected);
    await rm(directory, { recursive: true });
  });

  it('refuse a store that a newer release has migrated', async () => {
    const migrator = createMigrator({ store });
    await migrator.run();
    await store.command(`INSERT INTO schema_migrations (version, name, checksum) SELECT 999, 'future', ''`);
    await expect(migrator.run()).rejects.toMatchObject({
      code: 'store_schema',
      message: expect.stringContaining('version 999 (future)'),
    });
  });

  it('refuse numbers that skip', async () => {
    const directory = await folder({ '0099_gap.sql': 'SELECT 1;\n' });
    await expect(readMigrations(directory)).rejects.toMatchObject({ code: 'store_schema' });
    await rm(directory, { recursive: true });
  });

  it('give every table its retention, and change it only when the configuration changes', async () => {
    await createMigrator({ store }).run();
    expect(await ttlDays('polls_store')).toBe(DEFAULT_RETENTION_DAYS.pollsDays);
    const without: TableKey[] = [];
    for (const key of Object.keys(TABLES) as TableKey[]) {
      if ((await ttlDays(TABLES[key])) === null) without.push(key);
    }
    expect(new Set(without)).toEqual(KEPT_FOR_EVER);
    const shorter = createMigrator({
      store,
      retention: { pollsDays: 7, callbacksDays: 0 },
    });
    const { steps } = await shorter.run();
    expect(steps.flatMap(({ statements }) => statements)).toEqual([
      'ALTER TABLE callback_deliveries_store REMOVE TTL',
      expect.stringContaining('ALTER TABLE order_claims_store MODIFY TTL'),
      'ALTER TABLE callback_arrivals_store REMOVE TTL',
      expect.stringContaining('ALTER TABLE polls_store MODIFY TTL toDateTime(started_at) + toIntervalDay(7)'),
      expect.stringContaining('ALTER TABLE poll_quarters_store MODIFY TTL'),
    ]);
    expect(await ttlDays('polls_store')).toBe(7);
    expect(await ttlDays('callback_deliveries_store')).toBeNull();
    expect((await shorter.run()).steps).toEqual([]);
  });

  it('let rows older than their retention go', async () => {
    await createMigrator({ store, retention: { historyDays: 2 } }).run();
    const day = 86_400_000_000;
    const now = Date.now() * 1000;
    await store.insert('historyEvents', [
      historyEvent({ external_id: 'old', event_time: now - 3 * day }),
      historyEvent({ external_id: 'new', event_time: now - day }),
    ]);
    for (const table of ['history_events_store', 'history_events_by_time_store']) {
      await store.command(`OPTIMIZE TABLE ${table} FINAL`);
      expect([table, await store.query(`SELECT external_id FROM ${table}`)]).toEqual([
        table,
        [{ external_id: 'new' }],
      ]);
    }
  });

  async function ttlDays(table: string): Promise<number | null> {
    const [row] = await store.query<{ days: string }>(
      `SELECT extract(engine_full, 'TTL .*toIntervalDay\\((\\d+)\\)') AS days FROM system.tables
WHERE database = currentDatabase() AND name = {table:String}`,
      { table },
    );
    return row === undefined || row.days === '' ? null : Number(row.days);
  }

  it('may take longer than any other statement, as long as the store answers', async () => {
    const hasty = createStore({
      ...embedded.writer,
      url: embedded.url,
      database: store.database,
      requestTimeoutMs: 2000,
    });
    const next = String((await readMigrations(MIGRATIONS)).length + 1).padStart(4, '0');
    const directory = await folder({
      [`${next}_slow.sql`]:
        'INSERT INTO annotations_store (annotation_id) SELECT toString(sleepEachRow(1)) FROM numbers(3);',
    });
    await createMigrator({ store }).run();
    const done = await createMigrator({ store: hasty, directory }).run();
    expect(done.steps.map(({ title }) => title)).toEqual([`${next}_slow`]);
    await expect(hasty.command('SELECT sleep(3)')).rejects.toMatchObject({ code: 'store_timeout' });
    await hasty.close();
    await rm(directory, { recursive: true });
  });

  it('are given up and repeated when the store does not answer any more', async () => {
    const proxy = await startFaultProxy(embedded.url);
    const hasty = createStore({
      ...embedded.writer,
      url: proxy.url,
      database: 'system',
      requestTimeoutMs: 300,
    });
    proxy.setFault(() => 'hang');
    await expect(hasty.command('SELECT 1', { long: true })).rejects.toMatchObject({ retryable: true });
    await hasty.close();
    await proxy.close();
  });
});
