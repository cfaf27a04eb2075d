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

const AT = '2026-11-01 00:00:00';

describe('a store of before spans told of reads and amounts', () => {
  let embedded: TestStore;
  let store: Store;
  let earlier: string;
  let statements: readonly string[] = [];
  beforeAll(async () => {
    embedded = await withEmbedded();
    store = createStore({ ...embedded.writer, url: embedded.url, database: 'spans' });
    earlier = await mkdtemp(join(tmpdir(), 'gatewatch-migrations-'));
    const own = (await readMigrations(MIGRATIONS)).find(({ name }) => name.endsWith('spans'));
    if (own === undefined) throw new Error('the migration is gone');
    statements = own.statements;
    const isEarlier = (file: string): boolean => !(Number.parseInt(basename(file), 10) >= own.version);
    await cp(MIGRATIONS, earlier, { recursive: true, filter: isEarlier });
    await createMigrator({ store, directory: earlier, viewFiles: [] }).run();
    await insert('before');
    await createMigrator({ store }).run();
  });
  afterAll(async () => {
    await store.close();
    await embedded.stop();
    await rm(earlier, { recursive: true });
  });

  /** An order of one item, closed, as a version writes it that does not know the new columns. */
  async function insert(id: string): Promise<void> {
    await store.command(`INSERT INTO history_events_store
      (gateway, order_type, external_id, event_time, action, code_format, stage, result, state, reason_group, reason_detail, span_start, observed_at, source)
      VALUES ('acme', 'Deposit', '${id}', '${AT}', '2.2.4.11', 'v2', 'GATEWAY_CREATE', 'FAILURE', 'FAILED', 'TECH', 'TIMEOUT', '${AT}', '${AT}', 'callback')`);
    await store.command(`INSERT INTO settlements_store
      (gateway, order_type, external_id, settled_at, kind, status, outcome, history_items, first_event_at, last_event_at)
      VALUES ('acme', 'Deposit', '${id}', '${AT}', 'settled', 'Failed', 'technical_failure', 1, '${AT}', '${AT}')`);
  }
  const shown = (view: string, order: string) =>
    store.query(`SELECT ${order} AS id, count() AS spans FROM ${view} GROUP BY id ORDER BY id`);
  const both = async () => [
    await shown('order_trace', 'external_id'),
    await shown('otel_traces', "SpanAttributes['payment.external_id']"),
  ];

  it('has all its spans in both views, without what was not kept', async () => {
    const expected = [{ id: 'before', spans: 2 }];
    expect(await both()).toEqual([expected, expected]);
    expect(
      await store.query(
        "SELECT StatusCode, length(`Events.Name`) AS events, mapContains(SpanAttributes, 'payment.amount') AS amount FROM otel_traces ORDER BY StatusCode",
      ),
    ).toEqual([
      { StatusCode: 'Error', events: 1, amount: 0 },
      { StatusCode: 'Unset', events: 0, amount: 0 },
    ]);
  });

  it('shows what a collector of before goes on to write', async () => {
    await insert('older');
    const expected = [
      { id: 'before', spans: 2 },
      { id: 'older', spans: 2 },
    ];
    expect(await both()).toEqual([expected, expected]);
  });

  it('shows nothing twice when the migration is repeated', async () => {
    const before = await both();
    for (const statement of statements) await store.command(statement);
    expect(await both()).toEqual(before);
  });
});
