import { expect, it } from 'vitest';
import type { Store } from '../../store/store.ts';
import { shareDatabase } from '../support/shared-database.ts';
import { orderRow } from '../support/order-row.ts';
import { SECOND, T0 } from '../support/watched-order.ts';
import { COLUMNS } from '../../schemas/rows.ts';
import { columnsOf, readDefinitions } from '../../store/definitions.ts';
import { ordersView } from '../../store/orders-view.ts';
import { ORDERS_TABLE_FILE, ORDERS_VIEW_FILE } from '../../store/package-files.ts';

let store: Store;
shareDatabase((opened) => (store = opened));

it('shows every column of the table of orders, with its meaning', async () => {
  const [table] = await readDefinitions([ORDERS_TABLE_FILE], /^CREATE TABLE IF NOT EXISTS (\w+)/, 'a table');
  const [view] = await readDefinitions([ORDERS_VIEW_FILE], /^CREATE OR REPLACE VIEW (\w+)/, 'a view');
  const [stored, shown] = [table, view].map((one) =>
    columnsOf(one?.statement ?? '').map(({ name, text }) => [name, text]),
  );
  expect(shown).toEqual(stored);
  expect(stored?.map(([name]) => name)).toEqual([...Object.keys(COLUMNS.orders), 'order_number']);
});

it('is what the table of orders makes of it', async () => {
  expect(await ordersView(ORDERS_TABLE_FILE)).toContain('FROM orders_store FINAL');
  expect(await ordersView(ORDERS_TABLE_FILE)).not.toContain('MATERIALIZED');
});

it('shows the newest row of an order, also where a condition fits an older one alone', async () => {
  const row = (final: number, observed: number) =>
    orderRow({ external_id: 'decided-again', first_seen_at: T0, observed_at: observed, final_at: final });
  await store.insert('orders', [row(T0 + 9 * SECOND, T0 + 20 * SECOND)]);
  await store.insert('orders', [row(T0 + 5 * SECOND, T0 + 10 * SECOND)]);
  const finals = (condition: string) =>
    store.query(`SELECT toUnixTimestamp64Micro(final_at) - ${T0} AS final FROM orders
WHERE external_id = 'decided-again' AND ${condition}`);
  const at = `fromUnixTimestamp64Micro(${T0 + 7 * SECOND})`;
  expect(await finals('1')).toEqual([{ final: 9 * SECOND }]);
  expect(await finals(`final_at >= ${at}`)).toEqual([{ final: 9 * SECOND }]);
  expect(await finals(`final_at < ${at}`)).toEqual([]);
});
