import { afterAll, beforeAll, expect, it } from 'vitest';
import { freezeInsert } from '../../../../store/frozen-insert.ts';
import type { Store } from '../../../../store/store.ts';
import { migratedStore, type MigratedStore } from '../../../cli/commands/support/seeded-order.ts';
import { count } from '../../../support/migrated-store.ts';
import { historyEvents } from '../support/rows.ts';

let database: MigratedStore;
let store: Store;
beforeAll(async () => {
  database = await migratedStore();
  store = database.store;
});
afterAll(() => database.stop());

const TARGETS = ['history_events_store', 'late_view'];

it('an insert that fails in one view brings every view each row once when it is repeated', async () => {
  // A view that fails as long as there is a row in `outage`, after the others have had time to store theirs.
  await store.command('CREATE TABLE outage (id UInt8) ENGINE = MergeTree ORDER BY id');
  await store.command(
    'CREATE TABLE late_view (external_id String) ENGINE = MergeTree ORDER BY external_id SETTINGS non_replicated_deduplication_window = 100',
  );
  await store.command(
    `CREATE MATERIALIZED VIEW history_events_to_late_view TO late_view AS
    SELECT external_id FROM history_events_store
    WHERE NOT (sleepEachRow(0.001) + throwIf((SELECT count() FROM outage) > 0 AND external_id LIKE '%7'))`,
  );
  const reached = new Set<string>();
  for (let round = 0; round < 5; round += 1) {
    const insert = freezeInsert('historyEvents', historyEvents(`round-${round}-`, 100));
    const before = await counts();
    await store.command('INSERT INTO outage VALUES (1)');
    await expect(store.insertFrozen(insert)).rejects.toMatchObject({ code: expect.any(String) });
    const meanwhile = await counts();
    for (const table of TARGETS) if (meanwhile[table] !== before[table]) reached.add(table);
    await store.command('TRUNCATE TABLE outage');
    await store.insertFrozen(insert);
    await store.insertFrozen(insert);
    const after = await counts();
    for (const table of TARGETS)
      expect([table, (after[table] ?? 0) - (before[table] ?? 0)]).toEqual([table, 100]);
  }
  // Else nothing was in danger, and the above shows nothing.
  expect([...reached]).not.toEqual([]);
});

/** Stored rows, repetitions included. */
async function counts(): Promise<Record<string, number>> {
  const all = await Promise.all(TARGETS.map(async (table) => [table, await count(store, table)] as const));
  return Object.fromEntries(all);
}
