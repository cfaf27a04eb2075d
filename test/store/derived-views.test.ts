import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { planDerivedViews, readDerivedViews } from '../../store/derived-views.ts';
import { PUBLIC_VIEWS } from '../../store/grants.ts';
import { createMigrator } from '../../store/migrate.ts';
import { VIEW_FILES } from '../../store/package-files.ts';
import { createStore, type Store } from '../../store/store.ts';
import { INCIDENT_ORDERS, PAGE_VIEWS, VIEWS } from '../../schemas/names.ts';
import { withEmbedded, type TestStore } from '../support/embedded.ts';

describe('the definitions', () => {
  it('are those of all public views, and each stands once', async () => {
    const views = await readDerivedViews(VIEW_FILES);
    expect(views.map(({ name }) => name).toSorted()).toEqual([...PUBLIC_VIEWS].toSorted());
  });

  it('stand after those that they read', async () => {
    const names = (await readDerivedViews(VIEW_FILES.toReversed())).map(({ name }) => name);
    expect(names.indexOf(VIEWS.orders)).toBeLessThan(names.indexOf(VIEWS.orderMoney));
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

  async function columnsOf(view: string): Promise<{ readonly name: string }[]> {
    const arguments_ = "rule = '', gateway = '', from = now64(6), to = now64(6), as_of = now64(6)";
    const ofPage = PAGE_VIEWS.includes(view) ? `(${arguments_})` : '';
    return store.query(`DESCRIBE (SELECT * FROM ${view}${ofPage})`);
  }

  it('are replaced where their text differs, and nowhere else', async () => {
    await createMigrator({ store }).run();
    await store.command('CREATE OR REPLACE VIEW annotations AS SELECT 1 AS one');
    await store.command('DROP VIEW callback_verdicts');
    const polls = VIEW_FILES.find((file) => file.endsWith('/polls.sql')) ?? '';
    const changed = (await readFile(polls, 'utf8')).replace(
      'FROM polls_store FINAL',
      'FROM polls_store  FINAL',
    );
    const files = [...VIEW_FILES.filter((file) => file !== polls), await viewFile(changed)];
    const { steps } = await createMigrator({ store, viewFiles: files }).run();
    const names = steps.flatMap(({ statements }) => statements).map((one) => /VIEW (\w+)/.exec(one)?.[1]);
    expect(names).toEqual(['annotations', 'callback_verdicts', 'polls']);
    expect(await store.query('SELECT * FROM annotations')).toEqual([]);
    expect(await planDerivedViews(store, await readDerivedViews(files))).toEqual([]);
  });

  it('take over a rule that is new: its orders are in the view', async () => {
    await createMigrator({ store }).run();
    const generated = VIEW_FILES.find((file) => file.endsWith(`${INCIDENT_ORDERS}.sql`)) ?? '';
    const text = (await readFile(generated, 'utf8')).replaceAll(
      "'GatewatchTechTimeouts'",
      "'GatewatchNewRule'",
    );
    const files = [...VIEW_FILES.filter((file) => file !== generated), await viewFile(text)];
    const { steps } = await createMigrator({ store, viewFiles: files }).run();
    expect(steps.map(({ title }) => title)).toEqual(['views']);
    const [shown] = await store.query<{ text: string }>(
      `SELECT create_table_query AS text FROM system.tables WHERE database = currentDatabase() AND name = '${INCIDENT_ORDERS}'`,
    );
    expect(shown?.text).toContain('GatewatchNewRule');
  });

  it('may be replaced by several collectors at once', async () => {
    await createMigrator({ store, viewFiles: [] }).run();
    const migrators = Array.from({ length: 4 }, () => createMigrator({ store }));
    await Promise.all(migrators.map((migrator) => migrator.run()));
    for (const view of PUBLIC_VIEWS) expect(await columnsOf(view)).not.toEqual([]);
    expect((await createMigrator({ store }).plan()).steps).toEqual([]);
  });
});
