import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SeedOrder } from '../../support/seed-store.ts';
import { orders, scope, type Seeded, startSeeded } from '../seeded.ts';
import { utc } from '../shape.ts';
import { itemsIn, MINUTE } from '../traffic.ts';

let seeded: Seeded;
beforeAll(async () => {
  seeded = await startSeeded();
});
afterAll(() => seeded?.store.stop());
const runPanel: Seeded['runPanel'] = (...args) => seeded.runPanel(...args);

/** The step of an item, as the interface document describes the payer's way; 0 for other items. */
function stepOf(action: string): number {
  if (/^[45]\.1\./.test(action)) return 5;
  if (action === '3.1.1.55') return 4;
  if (action === '3.0.1.53') return 3;
  if (action === '3.0.1.51') return 2;
  return /^3\.\d\.\d\.\d\d$/.test(action) ? 1 : 0;
}
const actionsOf = (order: SeedOrder): string[] => itemsIn(order, scope).map(({ action }) => action);
const onForm = orders.filter((order) => actionsOf(order).some((action) => /^3\.\d\.\d\.\d\d$/.test(action)));
const reached = (order: SeedOrder): number => Math.max(...actionsOf(order).map(stepOf));
const having = (...codes: string[]): SeedOrder[] =>
  onForm.filter((order) => actionsOf(order).some((action) => codes.includes(action)));
const firstOnForm = (order: SeedOrder): number =>
  itemsIn(order, scope).find(({ action }) => action.startsWith('3.'))?.at ?? 0;
const submittedAt = (order: SeedOrder): number =>
  itemsIn(order, scope).find(({ action }) => action === '3.1.1.55')?.at ?? 0;
const minute = (at: number): number => Math.floor(at / MINUTE) * MINUTE;

it('an order counts for every step up to the last one it reached', async () => {
  expect(await runPanel('Orders on the payment form, by step reached')).toEqual(
    ['presented', 'visited', 'data entered', 'submitted', 'confirmed'].map((step, index) => ({
      step,
      orders: onForm.filter((order) => reached(order) > index).length,
    })),
  );
});

it('shares of payers who submitted, cancelled and failed the confirmation, with their n', async () => {
  const submitted = onForm.filter((order) => reached(order) >= 4);
  const failed = having('3.2.4.56', '3.2.4.57').filter((order) => submitted.includes(order));
  expect(failed.length).toBeGreaterThan(5);
  expect(await runPanel('Payers who submitted the form')).toEqual([
    {
      submitted_share: expect.closeTo(submitted.length / onForm.length, 12),
      form_orders: onForm.length,
    },
  ]);
  expect(await runPanel('Payers who cancelled')).toEqual([
    {
      cancelled_share: expect.closeTo(having('3.0.4.54').length / onForm.length, 12),
      form_orders: onForm.length,
    },
  ]);
  expect(await runPanel('Payers who failed the confirmation')).toEqual([
    {
      confirm_failure_share: expect.closeTo(failed.length / submitted.length, 12),
      submitted_orders: submitted.length,
    },
  ]);
});

it('exits by when the order was first on the form', async () => {
  const rows = await runPanel('Orders whose payer left, cancelled or failed, by what happened');
  const labels: Record<string, string> = {
    '3.0.1.52': 'left the form',
    '3.0.4.54': 'cancelled',
    '3.2.4.57': 'one-time password failed',
    '3.0.1.58': 'left at confirmation',
  };
  const expected = new Map<string, number>();
  for (const [code, label] of Object.entries(labels))
    for (const order of having(code)) {
      const key = `${minute(firstOnForm(order))} ${label}`;
      expected.set(key, (expected.get(key) ?? 0) + 1);
    }
  expect(new Map(rows.map((row) => [`${utc(row['time'])} ${row['exit']}`, row['orders']]))).toEqual(expected);
});

it('submissions and times on the form by minute', async () => {
  for (const row of await runPanel('Payers who submitted the form, over time')) {
    const own = onForm.filter((order) => minute(firstOnForm(order)) === utc(row['time']));
    expect(row['form_orders']).toBe(own.length);
    expect(row['submitted_share']).toBeCloseTo(
      own.filter((order) => reached(order) >= 4).length / own.length,
      12,
    );
  }
  for (const row of (await runPanel('Time from the form to the click on submit')).slice(0, 60)) {
    const seconds = having('3.1.1.55')
      .filter((order) => minute(firstOnForm(order)) === utc(row['time']))
      .map((order) => (submittedAt(order) - firstOnForm(order)) / 1000)
      .toSorted((a, b) => a - b);
    expect(row['submitted_orders']).toBe(seconds.length);
    expect(row['p50']).toBe(seconds[Math.floor(seconds.length / 2)]);
  }
});

it('lists the orders whose payer did not go on', async () => {
  const rows = await runPanel('Orders whose payer left, cancelled or failed');
  expect(rows).toHaveLength(100);
  for (const row of rows) {
    const order = onForm.find(({ externalId }) => externalId === row['order_id']);
    expect(order === undefined ? -1 : reached(order)).toBe(
      ['', 'presented', 'visited', 'data entered', 'submitted', 'confirmed'].indexOf(
        String(row['last_step']),
      ),
    );
    expect(row['what_happened']).not.toBe('');
  }
});
