import { randomBytes } from 'node:crypto';
import { TABLES } from '../schemas/names.ts';
import { Secret } from '../schemas/secret.ts';
import type { Store } from './store.ts';
import { StoreError } from './store-error.ts';

/** All collectors insert under one token: the first insert counts, and the others find its key. */
const TOKEN = 'fingerprint-key';

/**
 * The installation's key for fingerprints: 256 random bits in hexadecimal, made when the first one asks. The
 * store must have been migrated.
 * @throws StoreError
 */
export async function loadFingerprintKey(store: Store, nowMicros: () => number): Promise<Secret> {
  // ClickHouse may know a token and have no row, when it was killed in between: then another token.
  for (const token of [undefined, TOKEN, `${TOKEN}-${randomBytes(8).toString('hex')}`]) {
    if (token !== undefined) {
      const row = { created_at: nowMicros(), key: randomBytes(32).toString('hex') };
      await store.insert('fingerprintKeys', [row], token);
    }
    const [stored] = await store.query<{ key: string }>(
      `SELECT key FROM ${TABLES.fingerprintKeys} ORDER BY created_at, key LIMIT 1`,
    );
    if (stored !== undefined) return new Secret(stored.key);
  }
  throw new StoreError('the store keeps no key for fingerprints', { code: 'store_schema', retryable: false });
}
