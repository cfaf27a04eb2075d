import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMigrator } from '../../store/migrate.ts';
import { readMigrations } from '../../store/migrations.ts';
import { createStore, type Store } from '../../store/store.ts';
import { type TestStore, withEmbedded } from '../support/embedded.ts';
import { MIGRATIONS } from '../support/migrated-store.ts';

const MIGRATION = /what_reads_bring$/;

describe('a store of before it was noted what a read brought', () => {
  let embedded: TestStore;
  let store: Store;
  let earlier: string;
  beforeAll(async () => {
    embedded = await withEmbedded();
    store = createStore({ ...embedded.writer, url: embedded.url, database: 'brought' });
    earlier = await mkdtemp(join(tmpdir(), 'gatewatch-migrations-'));
    const own = (await readMigrations(MIGRATIONS)).find(({ name }) => MIGRATION.test(name));
    if (own === undefined) throw new Error('the migration is gone');
    const isEarlier = (file: string): boolean => !(Number.parseInt(basename(file), 10) >= own.version);
    await cp(MIGRATIONS, earlier, { recursive: true, filter: isEarlier });
    await createMigrator({ store, directory: earlier, viewFiles: [] }).run();
    await insert('before, items', 3);
    await insert('before, none', 0);
    await createMigrator({ store }).run();
  });
  afterAll(async () => {
    await store.close();
    await embedded.stop();
    await rm(earlier, { recursive: true });
  });

  /** As a version writes it that does not know the column. */
  const insert = (id: string, items: number) =>
    store.command(
      `INSERT INTO polls_store (gateway, started_at, poll_id, order_id, cause, outcome, new_items)
       SELECT 'acme', toDateTime64('2026-11-01 00:00:00', 6, 'UTC'), '${id}', '${id}', 'schedule', 'ok', ${items}`,
    );

  it('says of earlier reads, and of those of an earlier version beside it, what their items say', async () => {
    await insert('beside, items', 1);
    await insert('beside, none', 0);
    expect(await store.query('SELECT poll_id, brought FROM polls ORDER BY poll_id')).toEqual([
      { poll_id: 'before, items', brought: 'items' },
      { poll_id: 'before, none', brought: 'not_noted' },
      { poll_id: 'beside, items', brought: 'items' },
      { poll_id: 'beside, none', brought: 'not_noted' },
    ]);
  });
});
