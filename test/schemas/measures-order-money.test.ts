import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STUCK } from '../../schemas/limits.ts';
import { MONEY_STATES } from '../../schemas/measures.ts';
import { createStore, type Store } from '../../store/store.ts';
import { PAID, TIMED_OUT, traffic } from '../alerts/traffic.ts';
import { type SeededStore, startSeededStore } from '../support/seed-store.ts';

const NOW = Date.now();
const AGO = NOW - 2 * 60_000;
/** Before the half hour that an order may stay in processing. */
const LONG_AGO = NOW - (STUCK.afterSeconds + 600) * 1000;

const HISTORIES: readonly (readonly [name: string, codes: readonly string[], from: number])[] = [
  ['paid', PAID, AGO],
  ['lost', TIMED_OUT, AGO],
  ['unknown', ['1.0.0.00', '1.1.1.00', '2.1.1.00', '4.2.2.13'], AGO],
  ['young', ['1.0.0.00', '1.1.1.00', '2.1.1.00', '3.1.1.55'], AGO],
  ['old', ['1.0.0.00', '1.1.1.00', '2.1.1.00', '3.1.1.55'], LONG_AGO],
  ['old and unknown', ['1.0.0.00', '1.1.1.00', '2.1.1.00', '3.1.1.55', '4.2.2.13'], LONG_AGO],
  ['recovered', ['1.0.0.00', '1.1.1.00', '2.1.1.00', '4.2.2.13', '4.1.3.00'], AGO],
  ['failed technically afterwards', ['1.0.0.00', '1.1.1.00', '4.1.3.00', '5.2.2.16'], AGO],
  ['declined', ['1.0.0.00', '1.1.1.00', '2.1.1.00', '4.2.2.13', '4.1.4.63'], AGO],
];

let seeded: SeededStore;
let store: Store;
const idOf = new Map<string, string>();
beforeAll(async () => {
  seeded = await startSeededStore();
  store = createStore(seeded.connection);
  const orders = HISTORIES.map(([name, codes, from]) => {
    const [order] = traffic({ gateway: `shop-${name.replaceAll(' ', '-')}`, orders: 1, from, to: from + 1, codes: () => codes }); // prettier-ignore
    if (order === undefined) throw new Error('one order was asked for');
    idOf.set(name, order.externalId);
    return order;
  });
  const reply = (name: string, amount: string, currency: string) => ({
    gateway: `shop-${name.replaceAll(' ', '-')}`,
    externalId: idOf.get(name) ?? '',
    observedAt: NOW,
    status: 'Failed',
    outcome: 'technical_failure' as const,
    amount,
    currency,
  });
  await seeded.seed({
    orders,
    replies: [reply('lost', '12345678901.23', 'EUR'), reply('unknown', '0.1', 'USD')],
  });
});
afterAll(async () => {
  await store?.close();
  await seeded?.stop();
});

interface MoneyRow {
  readonly external_id: string;
  readonly money: string;
  readonly amount: string | null;
  readonly currency: string | null;
}

describe("what has become of an order's money", () => {
  it('is said where something technical came between, and nowhere else', async () => {
    const rows = await store.query<MoneyRow>(
      'SELECT external_id, money, toString(amount) AS amount, currency FROM order_money',
    );
    const outcomes = HISTORIES.map(([name]) => {
      const row = rows.find(({ external_id }) => external_id === idOf.get(name));
      return [name, row?.money ?? null, row?.amount ?? null, row?.currency ?? null];
    });
    expect(outcomes).toEqual([
      ['paid', null, null, null],
      ['lost', 'declined_technically', '12345678901.23', 'EUR'],
      ['unknown', 'at_risk', '0.1', 'USD'],
      ['young', null, null, null],
      ['old', 'delayed', null, null],
      ['old and unknown', 'at_risk', null, null],
      ['recovered', 'recovered', null, null],
      ['failed technically afterwards', null, null, null],
      ['declined', null, null, null],
    ]);
    expect(new Set(rows.map(({ money }) => money))).toEqual(new Set(MONEY_STATES));
  });

  it('is delayed when the rule about stuck orders would say so', () => {
    const view = readFileSync(new URL('../../schemas/views/order_money.sql', import.meta.url), 'utf8');
    expect(view).toContain(`processing_at + INTERVAL ${STUCK.afterSeconds} SECOND < now64(6)`);
  });
});
