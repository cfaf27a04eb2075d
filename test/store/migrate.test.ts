import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createMigrator, schemaStatements } from '../../store/migrate.ts';
import { DEFAULT_RETENTION_DAYS, KEPT_FOR_EVER } from '../../store/retention.ts';
import type { Store } from '../../store/store.ts';
import { createStore } from '../../store/store.ts';
import type { TableKey } from '../../schemas/names.ts';
import { TABLES } from '../../schemas/names.ts';
import type { TestStore } from '../support/embedded.ts';
import { withEmbedded } from '../support/embedded.ts';
import { startFaultProxy } from '../collector/sinks/support/fault-proxy.ts';
import { count } from '../support/migrated-store.ts';
import { historyEvent } from '../collector/sinks/support/rows.ts';

describe('the migrator', () => {
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

  it('plans without touching the store', async () => {
    const plan = await createMigrator({ store, retention: { pollsDays: 7 } }).plan();
    expect(plan.steps.map(({ title }) => title)).toEqual(['tables', 'views', 'retention']);
    expect(
      await store.query(
        `SELECT name FROM system.databases WHERE name = '${store.database}'`,
        {},
        { database: 'system' },
      ),
    ).toEqual([]);
  });

  it('makes the database and its tables, and finds nothing to do the second time', async () => {
    const migrator = createMigrator({ store });
    const planned = await migrator.plan();
    expect(await migrator.run()).toEqual(planned);
    for (const table of Object.values(TABLES)) expect(await count(store, table)).toBe(0);
    expect((await migrator.plan()).steps).toEqual([]);
    expect((await migrator.run()).steps).toEqual([]);
  });

  it('may be run by several collectors at once', async () => {
    const migrators = Array.from({ length: 4 }, () => createMigrator({ store }));
    await Promise.all(migrators.map((migrator) => migrator.run()));
    await store.insert('historyEvents', [historyEvent()]);
    expect(await count(store, 'history_events')).toBe(1);
    expect((await createMigrator({ store }).plan()).steps).toEqual([]);
  });

  it('goes on where an interrupted run stopped', async () => {
    const planned = await createMigrator({ store }).plan();
    const statements = planned.steps.flatMap((step) => step.statements);
    await store.command(`CREATE DATABASE ${store.database}`, { database: '' });
    for (const statement of statements.slice(0, 3)) await store.command(statement);
    const { steps } = await createMigrator({ store }).run();
    expect(steps.flatMap((step) => step.statements)).toEqual(statements.slice(3));
    expect(await count(store, 'history_events')).toBe(0);
  });

  it('makes what the statements of the schema say, each once', async () => {
    await createMigrator({ store }).run();
    const made = await store.query<{ name: string }>(
      'SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name',
    );
    const said = (await schemaStatements()).map((one) => /(?:EXISTS|REPLACE VIEW) (\w+)/.exec(one)?.[1]);
    expect(made.map(({ name }) => name)).toEqual(said.toSorted());
  });

  it('gives every table its retention, and changes it only when the configuration changes', async () => {
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
    ]);
    expect(await ttlDays('polls_store')).toBe(7);
    expect(await ttlDays('callback_deliveries_store')).toBeNull();
    expect((await shorter.run()).steps).toEqual([]);
  });

  it('lets rows older than their retention go', async () => {
    await createMigrator({ store, retention: { historyDays: 2 } }).run();
    const day = 86_400_000_000;
    const now = Date.now() * 1000;
    await store.insert('historyEvents', [
      historyEvent({ external_id: 'old', event_time: now - 3 * day }),
      historyEvent({ external_id: 'new', event_time: now - day }),
    ]);
    await store.command('OPTIMIZE TABLE history_events_store FINAL');
    expect(await store.query('SELECT external_id FROM history_events_store')).toEqual([
      { external_id: 'new' },
    ]);
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
      database: 'system',
      requestTimeoutMs: 2000,
    });
    await hasty.command('SELECT sleepEachRow(1) FROM numbers(3)', { long: true });
    await expect(hasty.command('SELECT sleep(3)')).rejects.toMatchObject({ code: 'store_timeout' });
    await hasty.close();
  });

  it('gives a statement up, to be repeated, when the store does not answer any more', async () => {
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
