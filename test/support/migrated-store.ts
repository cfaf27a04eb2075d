import { createMigrator } from '../../store/migrate.ts';
import type { Store } from '../../store/store.ts';
import { createStore } from '../../store/store.ts';
import type { TestStore } from './embedded.ts';
import { until } from './until.ts';

interface Template {
  readonly database: string;
  /** One statement for each object, tables before what reads them. */
  readonly statements: readonly string[];
}

let databases = 0;
const templates = new WeakMap<TestStore, Promise<Template>>();

/**
 * A store of one test: a database of its own with the schema, in the engine that the test file shares. The
 * migrator runs once for an engine; further databases take over what it made.
 */
export async function openDatabase(
  embedded: TestStore,
  options: { database?: string; requestTimeoutMs?: number } = {},
): Promise<Store> {
  databases += 1;
  const store = openStore(embedded, { database: `test_${databases}`, ...options });
  const known = templates.get(embedded);
  if (known === undefined) {
    const made = createMigrator({ store })
      .run()
      .then(() => describe(store));
    templates.set(embedded, made);
    await made;
  } else {
    await copy(await known, store);
  }
  return store;
}

/** A client of the writer, for a database that is there. */
export function openStore(
  embedded: TestStore,
  options: { database: string; url?: string; requestTimeoutMs?: number },
): Store {
  return createStore({ ...embedded.writer, url: embedded.url, ...options });
}

/**
 * Makes the database of a store what it was after `openDatabase`, but for changes of its schema. What was
 * under way there comes to its end first.
 */
export async function emptyDatabase(store: Store): Promise<void> {
  const underWay = () =>
    store.query(
      "SELECT query_id FROM system.processes WHERE current_database = {database:String} AND query_kind = 'Insert'",
      { database: store.database },
    );
  await until('inserts to end', underWay, (running) => running.length === 0);
  const full = await store.query<{ name: string }>(
    'SELECT DISTINCT table AS name FROM system.parts WHERE active AND database = {database:String}',
    { database: store.database },
  );
  for (const { name } of full) await store.command(`TRUNCATE TABLE ${name}`);
}

async function describe({ database, query }: Store): Promise<Template> {
  const objects = await query<{ engine: string; statement: string }>(
    'SELECT engine, create_table_query AS statement FROM system.tables WHERE database = {database:String} ORDER BY name',
    { database },
  );
  const rank = ({ engine }: { engine: string }): number => ['MaterializedView', 'View'].indexOf(engine);
  return {
    database,
    statements: objects.toSorted((a, b) => rank(a) - rank(b)).map(({ statement }) => statement),
  };
}

async function copy({ database, statements }: Template, store: Store): Promise<void> {
  await store.command(`CREATE DATABASE ${store.database}`, { database: '' });
  for (const statement of statements)
    await store.command(statement.replaceAll(`${database}.`, `${store.database}.`));
}

export async function count(store: Store, from: string): Promise<number> {
  const [row] = await store.query<{ n: number }>(`SELECT count() AS n FROM ${from}`);
  return row?.n ?? 0;
}
