import { randomBytes } from 'node:crypto';
import { TABLES } from '../schemas/names.ts';
import { Secret } from '../schemas/secret.ts';
import { readOrCreateSecret, readSecret } from './embedded/secrets.ts';
import type { Store } from './store.ts';
import { StoreError } from './store-error.ts';

/** All collectors insert under one token: the first insert counts, and the others find its key. */
const TOKEN = 'fingerprint-key';

/** Where an installation keeps its key. */
export interface FingerprintKeyPlace {
  /** It must have been migrated. */
  readonly store: Store;
  /**
   * The embedded store's file for it, which the engine cannot open; null with a server, whose collectors
   * share a table of the store.
   */
  readonly keyFile: string | null;
}

/**
 * The installation's key for fingerprints: 256 random bits, made when the first one asks.
 * @throws StoreError
 */
export async function loadFingerprintKey(
  { store, keyFile }: FingerprintKeyPlace,
  nowMicros: () => number,
): Promise<Secret> {
  if (keyFile !== null) return loadFromFile(store, keyFile);
  // ClickHouse may know a token and have no row, when it was killed in between: then another token.
  for (const token of [undefined, TOKEN, `${TOKEN}-${randomBytes(8).toString('hex')}`]) {
    if (token !== undefined) {
      const row = { created_at: nowMicros(), key: randomBytes(32).toString('hex') };
      await store.insert('fingerprintKeys', [row], token);
    }
    const stored = await storedKey(store);
    if (stored !== undefined) return new Secret(stored);
  }
  throw new StoreError('the store keeps no key for fingerprints', { code: 'store_schema', retryable: false });
}

/** A key that an earlier version left in the table moves to the file. */
async function loadFromFile(store: Store, file: string): Promise<Secret> {
  const known = readSecret(file);
  if (known !== null) return new Secret(known);
  const stored = await storedKey(store);
  const key = readOrCreateSecret(file, stored);
  if (stored === key) await store.command(`TRUNCATE TABLE ${TABLES.fingerprintKeys}`);
  return new Secret(key);
}

async function storedKey(store: Store): Promise<string | undefined> {
  const [stored] = await store.query<{ key: string }>(
    `SELECT key FROM ${TABLES.fingerprintKeys} ORDER BY created_at, key LIMIT 1`,
  );
  return stored?.key;
}
