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
    const asked = await Promise.all(Array.from({ length: 8 }, () => loadFingerprintKey(store, now)));
    const keys = new Set([...asked, await loadFingerprintKey(store, now)].map((key) => key.reveal()));
    expect(keys.size).toBe(1);
    expect([...keys][0]).toMatch(/^[0-9a-f]{64}$/);
    expect(await count(store, 'fingerprint_keys_store')).toBe(1);
    await store.close();
  });

  it('is another one in another installation', async () => {
    const [one, two] = [await openDatabase(embedded), await openDatabase(embedded)];
    const keys = [await loadFingerprintKey(one, now), await loadFingerprintKey(two, now)];
    expect(keys[0]?.reveal()).not.toBe(keys[1]?.reveal());
    await Promise.all([one.close(), two.close()]);
  });

  it('is hidden from readers', async () => {
    const store = await openDatabase(embedded, { database: 'gatewatch' });
    const key = await loadFingerprintKey(store, now);
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
