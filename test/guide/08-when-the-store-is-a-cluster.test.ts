import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freezeInsert } from '../../store/frozen-insert.ts';
import { grantStatements } from '../../store/grants.ts';
import { createMigrator, schemaStatements } from '../../store/migrate.ts';
import { createStore, type Store } from '../../store/store.ts';
import { historyEvents } from '../collector/sinks/support/rows.ts';
import { type TestStore, withEmbedded } from '../support/embedded.ts';
import { count, openDatabase } from '../support/migrated-store.ts';

/**
 * WHEN THE STORE IS A CLUSTER
 *
 * gatewatch talks to one ClickHouse address, `clickhouse.url`, and makes its tables on the server that
 * answers there. It has no feature for clusters: no `ON CLUSTER`, no replicated engines, no list of servers.
 * What it does have is a schema and a way to insert that are right on one server, and stay right when an
 * operator replicates that server.
 *
 * What holds, and is shown below:
 *
 *     - any number of collectors share one store, and may start at the same moment;
 *     - an insert that is repeated is dropped by its token, and is shown once where no token is known;
 *     - tables that an operator has made before stay as they are, with the engines that they have;
 *     - quorum and other settings of the server hold: gatewatch sets a few by name, and none of those.
 *
 * What an operator has to do, which no test of ours has run on a real cluster:
 *
 *     1. make the database and, from the text of `gatewatch migrate --dry-run`, the tables with replicated
 *        engines, before the first start and before each update that brings new tables; copies that a view
 *        feeds included;
 *     2. give each collector the address of one server, or of a proxy that keeps it on one: whether a token
 *        can be trusted is asked of the server that got the insert, and the last batch is read back from it;
 *     3. set `insert_quorum` and `select_sequential_consistency` in the profile of the collector's user, when
 *        an acknowledged row must outlive the loss of a server;
 *     4. run `gatewatch migrate --grants` on every server, unless the servers share their access storage.
 *
 * Shards are not provided for: the views read the tables of the server that is asked.
 */
describe('when the store is a cluster', () => {
  let embedded: TestStore;
  let store: Store;
  beforeAll(async () => {
    embedded = await withEmbedded();
    store = await openDatabase(embedded);
  });
  afterAll(async () => {
    await store.close();
    await embedded.stop();
  });

  const ROWS = historyEvents('replica', 3);
  const physical = (of: Store) => count(of, 'history_events_store');
  const shown = (of: Store) => count(of, 'history_events');
  const connect = (database: string) => createStore({ ...embedded.writer, url: embedded.url, database });

  it('1. the schema is that of one server: no cluster, no replica, no shard is named', async () => {
    for (const statement of await schemaStatements())
      expect(statement).not.toMatch(/ON CLUSTER|ENGINE = Replicated|ENGINE = Distributed/i);
  });

  it('2. every table that keeps rows is of the MergeTree family, which has a replicated twin for each engine', async () => {
    const engines = (await schemaStatements()).flatMap((one) => /^ENGINE = (\w+)/m.exec(one)?.[1] ?? []);
    expect(engines.length).toBeGreaterThan(15);
    // `Null` keeps nothing: it hands rows on to a view.
    for (const engine of engines) expect(engine).toMatch(/^(Null|(Replacing|Aggregating)?MergeTree)$/);
  });

  it('3. several collectors may bring one store up to date at the same moment', async () => {
    const stores = [1, 2].map(() => connect('two_at_once'));
    const migrators = stores.map((one) => createMigrator({ store: one }));
    await Promise.all(migrators.map((migrator) => migrator.run()));
    expect((await migrators[0]?.plan())?.steps).toEqual([]);
    await Promise.all(stores.map((one) => one.close()));
  });

  it('4. a table that is there already stays as it is: with the engine that the operator chose', async () => {
    const made = connect('made_before');
    await made.command('CREATE DATABASE made_before', { database: '' });
    const own = (await schemaStatements())
      .find((one) => one.includes('CREATE TABLE IF NOT EXISTS rejects_store'))
      ?.replace(/non_replicated_deduplication_window = \d+/, 'non_replicated_deduplication_window = 77');
    await made.command(own ?? '');
    await createMigrator({ store: made }).run();
    const [table] = await made.query<{ text: string }>(
      `SELECT create_table_query AS text FROM system.tables WHERE database = 'made_before' AND name = 'rejects_store'`,
    );
    expect(table?.text).toContain('non_replicated_deduplication_window = 77');
    await made.close();
  });

  it('5. an insert that is repeated is dropped by its token, as often as it comes', async () => {
    const insert = freezeInsert('historyEvents', ROWS);
    for (let n = 0; n < 3; n += 1) await store.insertFrozen(insert);
    expect(await physical(store)).toBe(3);
    // The token is a hash of table and rows: two collectors that send the same send the same token.
    expect(freezeInsert('historyEvents', ROWS).token).toBe(insert.token);
    expect(freezeInsert('historyEvents', ROWS.slice(1)).token).not.toBe(insert.token);
  });

  it('6. where the token is not known, as at another server, the rows are there twice and shown once', async () => {
    await store.insertFrozen(freezeInsert('historyEvents', ROWS, { token: 'unknown to that server' }));
    expect(await physical(store)).toBeGreaterThan(3);
    expect(await shown(store)).toBe(3);
    // The same in what views have been fed with: states that a fact changes once, however often it comes.
    const [orders] = await store.query<{ n: number }>(
      'SELECT uniqExact(external_id) AS n FROM history_events',
    );
    expect(orders?.n).toBe(3);
  });

  it('7. gatewatch leaves quorum to the server: it sends a fixed list of settings, and that is not among them', async () => {
    const sent: URLSearchParams[] = [];
    const server = createServer((request, response) => {
      sent.push(new URL(request.url ?? '/', 'http://store').searchParams);
      void buffer(request).then(() => response.end());
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const remote = createStore({ url: `http://127.0.0.1:${port}` });
    await remote.insertFrozen(freezeInsert('historyEvents', ROWS));
    await remote.close();
    server.close();
    const [params] = sent;
    // An acknowledgement means that the server stored the rows, as its profile understands that.
    expect(params?.get('async_insert')).toBe('0');
    expect(params?.get('wait_end_of_query')).toBe('1');
    expect(params?.get('insert_deduplicate')).toBe('1');
    expect([...(params?.keys() ?? [])].filter((name) => /quorum|consistency|distributed/.test(name))).toEqual(
      [],
    );
  });

  it('8. roles and policies are made on the server that is asked, and can be made again on each', async () => {
    const grants = grantStatements(await schemaStatements(), { database: 'gatewatch' });
    for (const grant of grants) {
      expect(grant).not.toMatch(/ON CLUSTER/i);
      expect(grant).toMatch(/IF NOT EXISTS|OR REPLACE|WITH REPLACE OPTION/);
    }
  });
});
