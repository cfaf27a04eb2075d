import { fileURLToPath } from 'node:url';
import { createMigrator } from '../../store/migrate.ts';
import type { Store } from '../../store/store.ts';
import { createStore } from '../../store/store.ts';
import type { TestStore } from './embedded.ts';

export const MIGRATIONS = fileURLToPath(new URL('../../schemas/sql', import.meta.url));

let databases = 0;

/** A store of one test: a database of its own, migrated, in the engine that the test file shares. */
export async function openDatabase(
  embedded: TestStore,
  options: { url?: string; requestTimeoutMs?: number; database?: string } = {},
): Promise<Store> {
  databases += 1;
  const database = options.database ?? `test_${databases}`;
  const store = createStore({ ...embedded.writer, ...options, url: options.url ?? embedded.url, database });
  const direct = createStore({ ...embedded.writer, url: embedded.url, database });
  await createMigrator({ store: direct }).run();
  await direct.close();
  return store;
}

export async function count(store: Store, from: string): Promise<number> {
  const [row] = await store.query<{ n: number }>(`SELECT count() AS n FROM ${from}`);
  return row?.n ?? 0;
}
