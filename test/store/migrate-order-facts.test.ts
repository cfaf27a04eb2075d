import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMigrator } from '../../store/migrate.ts';
import { type Migration, readMigrations } from '../../store/migrations.ts';
import { createStore, type Store } from '../../store/store.ts';
import { type TestStore, withEmbedded } from '../support/embedded.ts';
import { MIGRATIONS } from '../support/migrated-store.ts';

const MIGRATION = /order_facts$/;
/** Without what later migrations add. */
const ORDERS =
  'SELECT * EXCEPT (order_number, amount_source) FROM orders ORDER BY gateway, order_type, external_id';
/** What a collector of before asks about an order, by the states. */
const AS_BEFORE = `SELECT external_id, argMaxIfMerge(s.reply) AS reply, argMaxIfMerge(s.amount_fact) AS amount,
  argMaxIfMerge(s.currency_fact) AS currency, max(s.currency_rank) AS rank
  FROM orders_store AS s GROUP BY gateway, order_type, external_id ORDER BY gateway, order_type, external_id`;

describe('orders whose facts were kept as states', () => {
  let embedded: TestStore;
  let earlier: string;
  let own: Migration;
  let reference: Store;
  let store: Store;
  const all = observations();
  const half = all.length / 2;

  beforeAll(async () => {
    embedded = await withEmbedded();
    earlier = await mkdtemp(join(tmpdir(), 'gatewatch-migrations-'));
    const found = (await readMigrations(MIGRATIONS)).find(({ name }) => MIGRATION.test(name));
    if (found === undefined) throw new Error('the migration is gone');
    own = found;
    const isEarlier = (file: string): boolean => !(Number.parseInt(basename(file), 10) >= own.version);
    await cp(MIGRATIONS, earlier, { recursive: true, filter: isEarlier });
    reference = await ofBefore('reference');
    store = await ofBefore('migrated');
    for (const [index, observation] of all.entries()) {
      await reference.command(observation);
      if (index < half) await store.command(observation);
    }
    await createMigrator({ store }).run();
  });
  afterAll(async () => {
    await Promise.all([reference.close(), store.close()]);
    await embedded.stop();
    await rm(earlier, { recursive: true });
  });

  async function ofBefore(database: string): Promise<Store> {
    const made = createStore({ ...embedded.writer, url: embedded.url, database });
    await createMigrator({ store: made, directory: earlier, viewFiles: [] }).run();
    return made;
  }

  it('are told as before once the migration ran, also of what is stored after it', async () => {
    for (const observation of all.slice(half)) await store.command(observation);
    expect(await store.query(ORDERS)).toEqual(await reference.query(ORDERS));
  });

  it('answer a collector of before as ever', async () => {
    expect(await store.query(AS_BEFORE)).toEqual(await reference.query(AS_BEFORE));
  });

  it('lose nothing when the migration is cut off anywhere and comes again', async () => {
    const expected = await reference.query(ORDERS);
    for (const [place] of own.statements.entries()) {
      const cut = await ofBefore(`cut_${place}`);
      for (const observation of all.slice(0, half)) await cut.command(observation);
      for (const statement of own.statements.slice(0, place + 1)) await cut.command(statement);
      for (const observation of all.slice(half)) await cut.command(observation);
      for (let times = 0; times < 2; times += 1) {
        for (const statement of own.statements) await cut.command(statement);
      }
      await createMigrator({ store: cut }).run();
      expect(await cut.query(ORDERS)).toEqual(expected);
      expect(await cut.query(AS_BEFORE)).toEqual(await reference.query(AS_BEFORE));
      await cut.close();
    }
  });
});

/** Inserts of observations about a few orders, a part of the table each: no two at the same time. */
function observations(): string[] {
  const text = fc.option(fc.constantFrom('Success', 'Failed', "it's\\", '{"a": [1]}', 'Ünïcode', ''));
  const amount = fc.option(fc.constantFrom('0', '12.5', '-3', '99999999999999999999.123456789'));
  const row = fc.record({
    order: fc.constantFrom('1', '2', '3'),
    kind: fc.constantFrom('callback', 'watch', 'status_reply'),
    texts: fc.tuple(text, text, text, text, text),
    code: fc.option(fc.nat(99)),
    amount,
    currency: fc.option(fc.constantFrom('EUR', 'USD')),
    items: fc.nat(20),
    at: fc.option(fc.constantFrom('2026-11-01 00:00:00.000001', '1999-01-01 00:00:00')),
  });
  const rows = fc.sample(row, { numRuns: 40, seed: 19 });
  return rows.map(({ order, kind, texts, code, amount: told, currency, items, at }, index) => {
    const [status, outcome, action, group, detail] = texts.map(quoted);
    const seen = `2026-11-02 00:00:00.${String((index * 7919) % 999_983).padStart(6, '0')}`;
    return `INSERT INTO order_observations (gateway, order_type, external_id, observed_at, kind, external_transaction_id, channel,
      status, outcome, deciding_action, reason_group, reason_detail, reason_code, amount, currency, history_items, created_at, final_at, settled_at)
      VALUES ('acme', 'Deposit', '${order}', '${seen}', '${kind}', 'm-${order}', 'p2p',
      ${status}, ${outcome}, ${action}, ${group}, ${detail}, ${code}, ${quoted(told)}, ${quoted(currency)}, ${items}, ${quoted(at)}, ${quoted(at)}, ${quoted(at)})`;
  });
}

function quoted(text: string | null): string {
  return text === null ? 'NULL' : `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
}
