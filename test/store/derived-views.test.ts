import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { planDerivedViews, readDerivedViews } from '../../store/derived-views.ts';
import { PUBLIC_VIEWS } from '../../store/grants.ts';
import { createMigrator } from '../../store/migrate.ts';
import { readMigrations } from '../../store/migrations.ts';
import { DERIVED_VIEW_FILES, MIGRATIONS_FOLDER } from '../../store/package-files.ts';
import { createStore, type Store } from '../../store/store.ts';
import {
  INCIDENT_ORDERS,
  INCIDENT_POPULATION,
  ORDER_QUARTERS,
  POLL_COUNTS,
  PAGE_VIEWS,
  VIEWS,
} from '../../schemas/names.ts';
import { withEmbedded, type TestStore } from '../support/embedded.ts';

/** Migrations up to this one made views; from then on they make tables only. */
const LAST_WITH_VIEWS = 8;
const VIEW = /CREATE (OR REPLACE )?VIEW/;

describe('the definitions', () => {
  it('are those of all public views, and each stands once', async () => {
    const views = await readDerivedViews(DERIVED_VIEW_FILES);
    expect(views.map(({ name }) => name).toSorted()).toEqual([...PUBLIC_VIEWS].toSorted());
  });

  it('stand in no numbered migration any more', async () => {
    const later = (await readMigrations(MIGRATIONS_FOLDER)).filter(
      ({ version }) => version > LAST_WITH_VIEWS,
    );
    expect(later.filter(({ statements }) => statements.some((one) => VIEW.test(one)))).toEqual([]);
  });

  it.each([
    ['anything but a view', 'DROP TABLE orders_store;\n', 'expected statements of the form'],
    [
      'a view that keeps rows',
      'CREATE MATERIALIZED VIEW a AS SELECT 1;\n',
      'expected statements of the form',
    ],
    [
      'a view defined a second time',
      'CREATE OR REPLACE VIEW a AS SELECT 1;\nCREATE OR REPLACE VIEW a AS SELECT 2;\n',
      'defined a second time',
    ],
  ])('refuse %s', async (_what, text, message) => {
    const file = await viewFile(text);
    const expected = { code: 'store_schema', message: expect.stringContaining(message) };
    await expect(readDerivedViews([file])).rejects.toMatchObject(expected);
  });
});

const folders: string[] = [];
async function viewFile(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatewatch-views-'));
  folders.push(folder);
  await writeFile(join(folder, 'views.sql'), text);
  return join(folder, 'views.sql');
}
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

/** Views that no numbered migration ever made, or not with all of their columns. */
const SINCE_THEN: ReadonlySet<string> = new Set([
  VIEWS.alertEvaluations,
  VIEWS.alertNumbers,
  VIEWS.callbackArrivals,
  INCIDENT_POPULATION,
  ORDER_QUARTERS,
  VIEWS.findings,
  VIEWS.gatewayWatermarks,
  VIEWS.orderIds,
  VIEWS.orderMoney,
  VIEWS.storeTables,
  VIEWS.otelTraces,
  VIEWS.otelTraceTimes,
  POLL_COUNTS,
  VIEWS.polls,
]);

/** Columns that views got after they had become definitions of their own. */
const ADDED_SINCE: ReadonlySet<string> = new Set([
  'signature_cause',
  'kind',
  'logs',
  'references',
  'order_number',
  'amount_source',
  'transaction_open_seconds',
  'clock_skew_seconds',
]);

describe('derived views', () => {
  let embedded: TestStore;
  let store: Store;
  let databases = 0;
  beforeAll(async () => {
    embedded = await withEmbedded();
  });
  afterAll(() => embedded.stop());
  beforeEach(() => {
    databases += 1;
    store = createStore({ ...embedded.writer, url: embedded.url, database: `views_${databases}` });
    return () => store.close();
  });

  /** As an earlier version left it: numbered migrations only. */
  const migrateAsBefore = () => createMigrator({ store, viewFiles: [] }).run();
  const recorded = () =>
    store.query('SELECT version, name, checksum FROM schema_migrations FINAL ORDER BY version');

  async function columnsOf(view: string): Promise<{ readonly name: string }[]> {
    const arguments_ = "rule = '', gateway = '', from = now64(6), to = now64(6), as_of = now64(6)";
    const ofPage = PAGE_VIEWS.includes(view) ? `(${arguments_})` : '';
    const range = 'from = now64(6), to = now64(6)';
    const called = new Map([
      [ORDER_QUARTERS, `(${range})`],
      [POLL_COUNTS, `(${range}, step = 900)`],
    ]);
    return store.query(`DESCRIBE (SELECT * FROM ${view}${called.get(view) ?? ofPage})`);
  }

  it('replace those of an earlier version once, with the columns they had and no version recorded', async () => {
    await migrateAsBefore();
    const before = await recorded();
    const columns = new Map<string, unknown[]>();
    const older = PUBLIC_VIEWS.filter((view) => !SINCE_THEN.has(view));
    for (const view of older) columns.set(view, await columnsOf(view));
    const migrator = createMigrator({ store });
    const planned = await migrator.plan();
    expect(planned.steps.map(({ title }) => title)).toEqual(['views']);
    expect(planned.steps[0]?.statements).toHaveLength(PUBLIC_VIEWS.length);
    expect(planned).toMatchObject({ from: before.length, to: before.length });
    expect(await migrator.run()).toEqual(planned);
    for (const view of older) {
      const now = (await columnsOf(view)).filter(({ name }) => !ADDED_SINCE.has(name));
      expect([view, now]).toEqual([view, columns.get(view)]);
    }
    expect(await recorded()).toEqual(before);
    expect((await migrator.run()).steps).toEqual([]);
  });

  it('are replaced where their text differs, and nowhere else', async () => {
    await createMigrator({ store }).run();
    await store.command('CREATE OR REPLACE VIEW annotations AS SELECT 1 AS one');
    await store.command('DROP VIEW callback_verdicts');
    const operation = DERIVED_VIEW_FILES.find((file) => file.endsWith('operation.sql')) ?? '';
    const changed = (await readFile(operation, 'utf8')).replace(
      'FROM polls_store FINAL',
      'FROM polls_store  FINAL',
    );
    const files = [...DERIVED_VIEW_FILES.filter((file) => file !== operation), await viewFile(changed)];
    const { steps } = await createMigrator({ store, viewFiles: files }).run();
    const names = steps.flatMap(({ statements }) => statements).map((one) => /VIEW (\w+)/.exec(one)?.[1]);
    expect(names).toEqual(['callback_verdicts', 'polls', 'annotations']);
    expect(await store.query('SELECT * FROM annotations')).toEqual([]);
    expect(await planDerivedViews(store, await readDerivedViews(files))).toEqual([]);
  });

  it('take over a rule that is new: its orders are in the view, without a migration', async () => {
    await createMigrator({ store }).run();
    const generated = DERIVED_VIEW_FILES.find((file) => file.endsWith(`${INCIDENT_ORDERS}.sql`)) ?? '';
    const text = (await readFile(generated, 'utf8')).replaceAll(
      "'GatewatchTechTimeouts'",
      "'GatewatchNewRule'",
    );
    const files = [...DERIVED_VIEW_FILES.filter((file) => file !== generated), await viewFile(text)];
    const { from, to, steps } = await createMigrator({ store, viewFiles: files }).run();
    expect({ from, titles: steps.map(({ title }) => title) }).toEqual({ from: to, titles: ['views'] });
    const [shown] = await store.query<{ text: string }>(
      `SELECT create_table_query AS text FROM system.tables WHERE database = currentDatabase() AND name = '${INCIDENT_ORDERS}'`,
    );
    expect(shown?.text).toContain('GatewatchNewRule');
  });

  it('are made once in a new store: what the migrations say of them is not run', async () => {
    const { steps } = await createMigrator({ store }).run();
    const made = steps.flatMap(({ statements }) => statements).filter((one) => VIEW.test(one));
    expect(made.map((one) => /VIEW (\w+)/.exec(one)?.[1])).toHaveLength(PUBLIC_VIEWS.length);
    expect(await recorded()).toHaveLength((await readMigrations(MIGRATIONS_FOLDER)).length);
  });

  it('may be replaced by several collectors at once', async () => {
    await migrateAsBefore();
    const migrators = Array.from({ length: 4 }, () => createMigrator({ store }));
    await Promise.all(migrators.map((migrator) => migrator.run()));
    for (const view of PUBLIC_VIEWS) expect(await columnsOf(view)).not.toEqual([]);
    expect((await createMigrator({ store }).plan()).steps).toEqual([]);
  });
});
