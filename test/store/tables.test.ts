import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TABLES_FOLDER } from '../../store/package-files.ts';
import { createStore, type Store } from '../../store/store.ts';
import { planTables, readTables } from '../../store/tables.ts';
import { DEFAULT_RETENTION_DAYS } from '../../store/retention.ts';
import { createMigrator } from '../../store/migrate.ts';
import { withEmbedded, type TestStore } from '../support/embedded.ts';

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

/** A folder with the package's tables, one of them changed. */
async function changed(table: string, change: (text: string) => string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatewatch-tables-'));
  folders.push(folder);
  for (const file of await readdir(TABLES_FOLDER)) {
    const text = await readFile(join(TABLES_FOLDER, file), 'utf8');
    await writeFile(join(folder, file), file === `${table}.sql` ? change(text) : text);
  }
  return folder;
}

describe('the files of tables', () => {
  it('are named for what they make, and say grain and writer first', async () => {
    for (const file of await readdir(TABLES_FOLDER)) {
      const text = await readFile(join(TABLES_FOLDER, file), 'utf8');
      expect(text).toContain(`\nCREATE TABLE IF NOT EXISTS ${file.replace('.sql', '')}\n(\n`);
      expect([file, text]).toEqual([
        file,
        expect.stringMatching(/^-- One row: .*\.\n-- Written by: .*\.\n/) as string,
      ]);
    }
  });

  it.each([
    ['a statement of another form', 'ALTER TABLE annotations_store ADD COLUMN x UInt8;\n', 'expected'],
    [
      'a table made twice',
      'CREATE TABLE IF NOT EXISTS polls_store\n(x UInt8)\nENGINE = Null;\n',
      'second time',
    ],
  ])('may not hold %s', async (_what, text, message) => {
    const folder = await changed('annotations_store', (own) => `${own}\n${text}`);
    await expect(readTables(folder)).rejects.toMatchObject({
      code: 'store_schema',
      message: expect.stringContaining(message) as string,
    });
  });
});

describe('the tables of a store', () => {
  let embedded: TestStore;
  let store: Store;
  beforeAll(async () => {
    embedded = await withEmbedded();
    store = createStore({ ...embedded.writer, url: embedded.url });
    await createMigrator({ store }).run();
    return async () => {
      await store.close();
      await embedded.stop();
    };
  });

  it('have a comment with the meaning of every column', async () => {
    const without = await store.query(
      `SELECT table, name FROM system.columns
WHERE database = currentDatabase() AND comment = '' AND table IN (SELECT name FROM system.tables WHERE engine LIKE '%MergeTree')`,
    );
    expect(without).toEqual([]);
  });

  it('stay what they are where only meanings and times to keep rows have changed', async () => {
    const folder = await changed('polls_store', (text) =>
      text
        .replace("COMMENT 'When the request began.'", "COMMENT 'When it''s begun.'")
        .replace(`toIntervalDay(${DEFAULT_RETENTION_DAYS.pollsDays})`, 'toIntervalDay(3)'),
    );
    expect(await planTables(store, await readTables(folder))).toEqual([]);
  });

  it.each([
    ['a table', 'polls_store', (text: string) => text.replace('lateness_ms Float64', 'lateness_ms Float32')],
    [
      'a materialized view',
      'callback_arrivals_store',
      (text: string) =>
        text.replace('FROM callback_deliveries_store;', "FROM callback_deliveries_store WHERE topic != '';"),
    ],
  ])('are refused where another version has made %s', async (_what, table, change) => {
    const tables = await readTables(await changed(table, change));
    await expect(planTables(store, tables)).rejects.toMatchObject({
      code: 'store_schema',
      message: expect.stringContaining('start with an empty data folder or database') as string,
    });
  });

  it('stay as an operator made them, if they have all columns', async () => {
    const database = createStore({ ...embedded.writer, url: embedded.url, database: 'by_operator' });
    await database.command('CREATE DATABASE by_operator', { database: '' });
    const tables = await readTables(TABLES_FOLDER);
    const own = tables.find(({ name }) => name === 'annotations_store')?.statement ?? '';
    await database.command(own.replace('ENGINE = ReplacingMergeTree', 'ENGINE = MergeTree'));
    expect(await planTables(database, tables)).toHaveLength(tables.length - 1);
    await database.command('ALTER TABLE annotations_store DROP COLUMN tags');
    await expect(planTables(database, tables)).rejects.toMatchObject({ code: 'store_schema' });
    await database.close();
  });

  it('say in their comments what one row is', async () => {
    const [row] = await store.query<{ comment: string }>(
      "SELECT comment FROM system.tables WHERE database = currentDatabase() AND name = 'polls_store'",
    );
    expect(row?.comment).toMatch(/^One row: one status request\. \(definition [0-9a-f]{32}\)$/);
  });

  it('are made where they are missing', async () => {
    const folder = await changed('polls_store', (text) => text);
    await writeFile(
      join(folder, 'more_store.sql'),
      '-- One row: one more.\n-- Written by: nobody.\nCREATE TABLE IF NOT EXISTS more_store\n(\n    a UInt8\n)\nENGINE = Null;\n',
    );
    const [statement, ...others] = await planTables(store, await readTables(folder));
    expect(statement).toMatch(/^CREATE TABLE IF NOT EXISTS more_store\n/);
    expect(others).toEqual([]);
  });
});
