import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SeededStore, startSeededStore } from '../../support/seed-store.ts';
import { BAD_PROVIDER_SIGNATURE, callbacks, MINUTE, REFUSED, TIMED_OUT, traffic } from '../traffic.ts';

const RUNBOOKS = fileURLToPath(new URL('../../../alerts/runbooks', import.meta.url));
const queries = readdirSync(RUNBOOKS).flatMap((name) =>
  [...readFileSync(`${RUNBOOKS}/${name}`, 'utf8').matchAll(/```sql\n([\s\S]*?)```/g)].map(
    (match, index) => [name, index + 1, match[1] ?? ''] as const,
  ),
);

let store: SeededStore;
beforeAll(async () => {
  // Runbooks speak of now, as the person who reads them does.
  const now = Date.now();
  store = await startSeededStore();
  await store.seed({
    orders: traffic({
      gateway: 'acme-eu',
      orders: 30,
      from: now - 20 * MINUTE,
      to: now - 5 * MINUTE,
      codes: (n) => [TIMED_OUT, REFUSED, BAD_PROVIDER_SIGNATURE][n % 3] ?? [],
    }),
    callbacks: callbacks('acme-eu', 5, 'mismatch', now - 10 * MINUTE),
    annotations: [{ gateway: 'acme-eu', title: 'token rotated', startsAt: now - 15 * MINUTE }],
  });
});
afterAll(() => store?.stop());

describe('queries of runbooks', () => {
  it('are there', () => {
    expect(queries.length).toBeGreaterThanOrEqual(100);
  });

  it.each(queries)('%s, query %i runs as the reader', async (_name, _index, sql) => {
    const { meta } = await store.query(sql);
    expect(meta?.length).toBeGreaterThan(1);
  });
});
