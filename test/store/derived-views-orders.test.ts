import { array, constantFrom, integer, nat, option, record, sample, uniqueArray } from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Store } from '../../store/store.ts';
import type { OrderObservationRow } from '../../schemas/rows.ts';
import { migratedStore, type MigratedStore } from '../cli/commands/support/seeded-order.ts';
import { anyRow } from '../collector/sinks/support/rows.ts';

let database: MigratedStore;
let store: Store;
beforeAll(async () => {
  database = await migratedStore();
  store = database.store;
});
afterAll(() => database.stop());

const KINDS = ['callback', 'watch', 'status_reply'] as const;
const SOURCES = { callback: 'callback', watch: 'watch', status_reply: 'status' } as const;
const FIRST_SEEN = Date.UTC(2026, 10, 18) * 1000;

interface Fact {
  readonly kind: (typeof KINDS)[number];
  /** Seconds behind the first; no two facts of an order are of one instant. */
  readonly second: number;
  readonly amount: string | null;
  /** It names an amount that cannot be kept. */
  readonly refused: boolean;
  readonly currency: string | null;
}

const facts = uniqueArray(
  record({
    kind: constantFrom(...KINDS),
    second: nat(1000),
    amount: option(integer({ min: 1, max: 99_999 }).map((cents) => (cents / 100).toFixed(2))),
    refused: integer({ min: 0, max: 5 }).map((n) => n === 0),
    currency: option(constantFrom('EUR', 'USD', 'JPY')),
  }).map((fact) => ({ ...fact, amount: fact.refused ? null : fact.amount })),
  { selector: ({ second }) => second, minLength: 1, maxLength: 8 },
);

it('orders show the amount and the currency of the best source, the newest of its kind, in whatever order facts arrive', async () => {
  const orders = sample(record({ facts, batches: array(nat(2), { minLength: 8, maxLength: 8 }) }), 300);
  // Each fact of an order is in one of three inserts, and some are in two.
  for (let batch = 0; batch < 3; batch += 1) {
    const rows = orders.flatMap(({ facts: all, batches }, order) =>
      all
        .filter((_, i) => batches[i] === batch || (i === 0 && batch === 2))
        .map((fact) => observation(`o-${order}`, fact)),
    );
    await store.insert('orderObservations', rows);
  }
  const shown = await store.query<Record<string, unknown>>(
    'SELECT external_id, toString(amount) AS amount, amount_source, currency, currency_source FROM orders',
  );
  const byId = new Map(shown.map(({ external_id, ...rest }) => [external_id, rest]));
  expect(byId.size).toBe(300);
  for (const [order, { facts: all }] of orders.entries()) {
    const named = best(all, 'amount');
    const amount = named?.amount ?? null;
    const currency = best(all, 'currency');
    expect([order, all, byId.get(`o-${order}`)]).toEqual([
      order,
      all,
      {
        amount: amount === null ? null : String(Number(amount)),
        amount_source: named === undefined ? null : SOURCES[named.kind],
        currency: currency?.currency ?? null,
        currency_source: currency === undefined ? null : SOURCES[currency.kind],
      },
    ]);
  }
});

function best(all: readonly Fact[], field: 'amount' | 'currency'): Fact | undefined {
  const rank = ({ kind, second }: Fact): number => KINDS.indexOf(kind) * 1e6 + second;
  const isNamed = (fact: Fact): boolean => fact[field] !== null || (field === 'amount' && fact.refused);
  return all.filter(isNamed).toSorted((a, b) => rank(b) - rank(a))[0];
}

function observation(id: string, { kind, second, amount, refused, currency }: Fact): OrderObservationRow {
  return {
    ...anyRow('orderObservations'),
    external_id: id,
    kind,
    observed_at: FIRST_SEEN + second * 1_000_000,
    amount,
    amount_refused: Number(refused),
    currency,
  };
}
