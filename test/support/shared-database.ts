import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Store } from '../../store/store.ts';
import { type TestStore, withEmbedded } from './embedded.ts';
import { emptyDatabase, openDatabase } from './migrated-store.ts';

/**
 * For the top of a test file: an engine and a migrated database that all its tests share, and that each of
 * them finds empty.
 *
 *     let store: Store;
 *     shareDatabase((opened) => (store = opened));
 */
export function shareDatabase(onOpen: (store: Store) => void): void {
  let embedded: TestStore;
  let store: Store;
  beforeAll(async () => {
    embedded = await withEmbedded();
    store = await openDatabase(embedded);
    onOpen(store);
  });
  afterAll(async () => {
    await store?.close();
    await embedded?.stop();
  });
  beforeEach(() => emptyDatabase(store));
}
