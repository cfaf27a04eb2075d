import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadFingerprintKey } from '../../store/fingerprint-key.ts';
import { withEmbedded, type TestStore } from '../support/embedded.ts';
import { count, openDatabase } from '../support/migrated-store.ts';

describe('the key of fingerprints', () => {
  let embedded: TestStore;
  beforeAll(async () => {
    embedded = await withEmbedded();
  });
  afterAll(() => embedded.stop());
  const now = () => Date.now() * 1000;

  it('is made once, has 256 bits, and is the same for all who ask at once and later', async () => {
    const store = await openDatabase(embedded);
    const asked = await Promise.all(
      Array.from({ length: 8 }, () => loadFingerprintKey({ store, keyFile: null }, now)),
    );
    const keys = new Set(
      [...asked, await loadFingerprintKey({ store, keyFile: null }, now)].map((key) => key.reveal()),
    );
    expect(keys.size).toBe(1);
    expect([...keys][0]).toMatch(/^[0-9a-f]{64}$/);
    expect(await count(store, 'fingerprint_keys_store')).toBe(1);
    await store.close();
  });

  it('is another one in another installation', async () => {
    const [one, two] = [await openDatabase(embedded), await openDatabase(embedded)];
    const keys = [
      await loadFingerprintKey({ store: one, keyFile: null }, now),
      await loadFingerprintKey({ store: two, keyFile: null }, now),
    ];
    expect(keys[0]?.reveal()).not.toBe(keys[1]?.reveal());
    await Promise.all([one.close(), two.close()]);
  });

  it('of an embedded store is in a file, with nothing in the engine; a key of an earlier version moves there', async () => {
    const store = await openDatabase(embedded);
    const before = await loadFingerprintKey({ store, keyFile: null }, now);
    const keyFile = join(embedded.dataDir, 'fingerprint.key');
    const place = { store, keyFile };
    const asked = await Promise.all(Array.from({ length: 8 }, () => loadFingerprintKey(place, now)));
    const keys = new Set([...asked, await loadFingerprintKey(place, now)].map((key) => key.reveal()));
    expect([...keys]).toEqual([before.reveal()]);
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    expect(await count(store, 'fingerprint_keys_store')).toBe(0);
    await store.close();
  });

  it('is hidden from readers', async () => {
    const store = await openDatabase(embedded, { database: 'gatewatch' });
    const key = await loadFingerprintKey({ store, keyFile: null }, now);
    const headers = {
      'X-ClickHouse-User': embedded.reader.username,
      'X-ClickHouse-Key': embedded.reader.password,
    };
    const body = 'SELECT * FROM gatewatch.fingerprint_keys_store';
    const answer = await fetch(embedded.url, { method: 'POST', headers, body });
    expect(answer.ok).toBe(false);
    expect(await answer.text()).not.toContain(key.reveal());
    await store.close();
  });
});
