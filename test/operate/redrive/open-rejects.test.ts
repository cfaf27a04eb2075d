import { afterAll, beforeAll, expect, it } from 'vitest';
import { readOpenRejects, readSetRight } from '../../../operate/redrive/open-rejects.ts';
import type { Store } from '../../../store/store.ts';
import { withEmbedded, type TestStore } from '../../support/embedded.ts';
import { openDatabase } from '../../support/migrated-store.ts';
import { anyRow } from '../../collector/sinks/support/rows.ts';

/** More than the address of a statement can name. */
const ORDERS = 20_000;

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

it('finds which rejects of replies a later reply has set right, however many there are', async () => {
  // Within every retention.
  const rejectedAt = (Date.now() - 3_600_000) * 1000;
  const ids = Array.from({ length: ORDERS }, (_, n) => String(n).padStart(32, '0'));
  await store.insert(
    'rejects',
    ids.map((id) => ({
      ...anyRow('rejects'),
      gateway: 'acme',
      reason: 'reply_malformed',
      reject_id: id,
      rejected_at: rejectedAt,
      topic: '',
      order_type: 'Deposit' as const,
      order_id: `order-${id}`,
    })),
  );
  // Every other order has been read without fault since.
  const right = ids.filter((_, n) => n % 2 === 0);
  await store.insert(
    'polls',
    right.map((id) => ({
      ...anyRow('polls'),
      gateway: 'acme',
      poll_id: id,
      started_at: rejectedAt + 1_000_000,
      order_type: 'Deposit' as const,
      order_id: `order-${id}`,
      outcome: 'ok' as const,
      refused_items: 0,
    })),
  );
  const query = <T>(sql: string, params?: Readonly<Record<string, unknown>>) => store.query<T>(sql, params);
  const open = await readOpenRejects(query, {});
  expect(open).toHaveLength(ORDERS);
  const found = await readSetRight(query, open);
  expect([...found].toSorted()).toEqual(right);
});
