import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SeededStore, startSeededStore } from '../support/seed-store.ts';
import { codeBlocks, documents, readDocument } from './markdown.ts';

const NOW = Date.now();
const examples = documents()
  .filter((file) => !file.startsWith('alerts/'))
  .flatMap((file) => codeBlocks(readDocument(file), 'sql').map((sql) => ({ file, sql })));

describe('SQL that the documentation shows', () => {
  let store: SeededStore;
  beforeAll(async () => {
    store = await startSeededStore();
    await store.seed({
      orders: [
        {
          gateway: 'acme-eu',
          externalId: '7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d',
          items: [
            { at: NOW - 60_000, action: '1.0.0.00' },
            { at: NOW - 50_000, action: '2.2.4.11' },
          ],
        },
      ],
      callbacks: [{ gateway: 'acme-eu', externalId: 'a', receivedAt: NOW - 40_000, verdict: 'mismatch' }],
    });
  });
  afterAll(() => store.stop());

  test('is there', () => {
    expect(examples.length).toBeGreaterThan(5);
  });

  test.each(examples)('runs for a reader: $file, $sql', async ({ sql }) => {
    const { meta } = await store.query(sql);
    expect(meta?.length).toBeGreaterThan(0);
  });
});
