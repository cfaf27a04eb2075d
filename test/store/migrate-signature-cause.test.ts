import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMigrator } from '../../store/migrate.ts';
import { readMigrations } from '../../store/migrations.ts';
import type { Store } from '../../store/store.ts';
import { createStore } from '../../store/store.ts';
import { type TestStore, withEmbedded } from '../support/embedded.ts';
import { MIGRATIONS } from '../support/migrated-store.ts';

const MIGRATION = /signature_cause$/;

describe('a store of before causes were kept', () => {
  let embedded: TestStore;
  let store: Store;
  let earlier: string;
  let statements: readonly string[] = [];
  beforeAll(async () => {
    embedded = await withEmbedded();
    store = createStore({ ...embedded.writer, url: embedded.url, database: 'causes' });
    earlier = await mkdtemp(join(tmpdir(), 'gatewatch-migrations-'));
    const all = await readMigrations(MIGRATIONS);
    const own = all.find(({ name }) => MIGRATION.test(name));
    if (own === undefined) throw new Error('the migration is gone');
    statements = own.statements;
    const isEarlier = (file: string): boolean => !(Number.parseInt(basename(file), 10) >= own.version);
    await cp(MIGRATIONS, earlier, { recursive: true, filter: isEarlier });
    await createMigrator({ store, directory: earlier, viewFiles: [] }).run();
    await insert('before, valid', 1, 'valid');
    await insert('before, wrong', 2, 'mismatch');
    await createMigrator({ store }).run();
  });
  afterAll(async () => {
    await store.close();
    await embedded.stop();
    await rm(earlier, { recursive: true });
  });

  /** As a version writes it that knows the column, or not. */
  const insert = (id: string, at: number, verdict: string, cause?: string, delivery = 'd1') =>
    store.command(
      `INSERT INTO callback_deliveries_store (gateway, content_hash, delivery_id, received_at, verdict, external_id${cause === undefined ? '' : ', signature_cause'})
       SELECT 'acme', unhex('${Buffer.from(id.padEnd(32)).toString('hex')}'), '${delivery}', toDateTime64('2026-11-01 00:00:0${at}', 6, 'UTC'), '${verdict}', '${id}'${cause === undefined ? '' : `, '${cause}'`}`,
    );
  const causes = (view: string) =>
    store.query(
      `SELECT external_id, toString(verdict) AS verdict, signature_cause FROM ${view} ORDER BY first_received_at`,
    );

  it('says that they were not examined, also of what an earlier version goes on to write', async () => {
    await insert('older, wrong', 3, 'mismatch');
    await insert('newer, wrong', 4, 'mismatch', 'amount_comma');
    const expected = [
      { external_id: 'before, valid', verdict: 'valid', signature_cause: 'none' },
      { external_id: 'before, wrong', verdict: 'mismatch', signature_cause: 'not_examined' },
      { external_id: 'older, wrong', verdict: 'mismatch', signature_cause: 'not_examined' },
      { external_id: 'newer, wrong', verdict: 'mismatch', signature_cause: 'amount_comma' },
    ];
    expect(await causes('callbacks')).toEqual(expected);
    expect(await causes('callback_verdicts')).toEqual(expected);
  });

  it('keeps what was found of a content that comes again unexamined, until it verifies', async () => {
    const of = async (view: string) => (await causes(view)).at(-1);
    await insert('newer, wrong', 5, 'mismatch', 'not_examined', 'd2');
    const found = { external_id: 'newer, wrong', verdict: 'mismatch', signature_cause: 'amount_comma' };
    for (const view of ['callbacks', 'callback_verdicts']) expect(await of(view)).toEqual(found);
    await insert('newer, wrong', 6, 'valid', 'none', 'd3');
    for (const view of ['callbacks', 'callback_verdicts'])
      expect(await of(view)).toEqual({ ...found, verdict: 'valid', signature_cause: 'none' });
  });

  it('may meet the migration again', async () => {
    const before = await causes('callbacks');
    for (const statement of statements) await store.command(statement);
    expect(await causes('callbacks')).toEqual(before);
  });
});
