import { describe, expect, it } from 'vitest';
import { paymentSeries } from '../../../collector/telemetry/payment-series.ts';
import { REASON_GROUPS, REASONS, STAGES } from '../../../schemas/dictionary.ts';
import {
  BUCKETS,
  MOST_CURRENCIES,
  MOST_SERIES,
  OTHER,
  PAYMENT_METRICS,
  type PaymentKind,
  type PaymentMetricKey,
  type PaymentTotal,
} from '../../../schemas/payment-metrics.ts';

const total = (
  kind: PaymentKind,
  labels: readonly [string, string],
  more: Partial<PaymentTotal> = {},
): PaymentTotal => ({
  kind,
  gateway: 'acme-eu',
  orderType: 'Deposit',
  labels,
  bucket: BUCKETS.none,
  counted: 1,
  seconds: 0,
  amount: 0,
  firstAt: 100,
  example: null,
  ...more,
});
const seriesOf = (totals: readonly PaymentTotal[]) => paymentSeries({ countedTo: 1_000, totals });
const valuesOf = (totals: readonly PaymentTotal[], metric: PaymentMetricKey) =>
  (seriesOf(totals).get(metric) ?? []).map(({ labels, value }) => [Object.values(labels).join(' '), value]);

describe('payment metrics', () => {
  it('have the labels that they are documented with, and no other', () => {
    const kinds: readonly [PaymentKind, readonly [string, string]][] = [
      ['started', ['', '']],
      ['stage', ['CHECK', '']],
      ['failure', ['CHECK', '11']],
      ['outcome', ['succeeded', '']],
      ['amount', ['succeeded', 'EUR']],
      ['change', ['technical_failure', 'succeeded']],
      ['callback', ['valid', '']],
      ['finding', ['STATUS_DISAGREES', 'gateway']],
    ];
    const all = seriesOf(kinds.map(([kind, labels]) => total(kind, labels, { amount: 1 })));
    const shown = Object.fromEntries([...all].map(([key, [one]]) => [key, Object.keys(one?.labels ?? {})]));
    const documented = Object.entries(PAYMENT_METRICS).filter(([key]) => key !== 'foldedSeries');
    expect(shown).toEqual(Object.fromEntries(documented.map(([key, { labels }]) => [key, [...labels]])));
  });

  it('name reasons by the dictionary, and what it does not have `other`', () => {
    const codes = ['11', '18', '19', '63', '64'].map((code) => total('failure', ['CHECK', code]));
    expect(valuesOf(codes, 'failures')).toEqual([
      ['acme-eu Deposit CHECK ISSUER INSUFFICIENT_FUNDS', 1],
      ['acme-eu Deposit CHECK ISSUER other', 1],
      ['acme-eu Deposit CHECK TECH TIMEOUT', 1],
      ['acme-eu Deposit CHECK TECH other', 2],
    ]);
  });

  it('never add amounts over currencies', () => {
    const totals = [
      total('amount', ['succeeded', 'EUR'], { amount: 10.5, counted: 2 }),
      total('amount', ['succeeded', 'GBP'], { amount: 7, counted: 1 }),
    ];
    expect(valuesOf(totals, 'amount')).toEqual([
      ['acme-eu Deposit succeeded EUR', 10.5],
      ['acme-eu Deposit succeeded GBP', 7],
    ]);
  });
});

describe('a hostile gateway', () => {
  const currencies = Array.from({ length: 500 }, (_, n) =>
    total('amount', ['succeeded', `X${n.toString(36).toUpperCase().padStart(3, '0')}`], {
      firstAt: 100 + n,
      amount: 1_000,
    }),
  );

  it('has no more currencies than the bound, and the others are in no amount', () => {
    const amounts = valuesOf(currencies, 'amount');
    expect(amounts).toHaveLength(MOST_CURRENCIES);
    expect(amounts.every(([, value]) => value === 1_000)).toBe(true);
    expect(
      valuesOf(currencies, 'ordersWithAmount').find(([labels]) => String(labels).endsWith(OTHER)),
    ).toEqual(['acme-eu Deposit succeeded other', 500 - MOST_CURRENCIES]);
  });

  it('does not push out a currency that came before', () => {
    const before = total('amount', ['succeeded', 'EUR'], { firstAt: 1, amount: 5 });
    expect(valuesOf([...currencies, before], 'amount')).toContainEqual(['acme-eu Deposit succeeded EUR', 5]);
  });

  it('has as many series of failures as there are reasons and stages, whatever it sends', () => {
    const codes = STAGES.flatMap(({ name }) =>
      Array.from({ length: 100 }, (_, code) => total('failure', [name, String(code)])),
    );
    const some = valuesOf(codes, 'failures');
    expect(some.length).toBeLessThanOrEqual(STAGES.length * (REASONS.length + REASON_GROUPS.length + 1));
    expect(some.reduce((sum, [, value]) => sum + Number(value), 0)).toBe(codes.length);
  });
});

describe('the bound of a metric', () => {
  const many = (count: number): PaymentTotal[] =>
    Array.from({ length: count }, (_, n) =>
      total('started', ['', ''], { gateway: `g-${n}`, firstAt: 100 + n }),
    );

  it('counts what is beyond as `other`, loses nothing, and reports it', () => {
    const all = seriesOf(many(MOST_SERIES + 30));
    const shown = all.get('ordersStarted') ?? [];
    expect(shown).toHaveLength(MOST_SERIES + 1);
    expect(shown.at(-1)).toMatchObject({ labels: { gateway: OTHER, order_type: OTHER }, value: 30 });
    expect(all.get('foldedSeries')).toMatchObject([
      { labels: { metric: 'gatewatch.payment.orders_started' }, value: 30 },
    ]);
    expect(seriesOf(many(MOST_SERIES)).has('foldedSeries')).toBe(false);
  });

  it('keeps the series that were there when one more comes', () => {
    const before = (seriesOf(many(MOST_SERIES)).get('ordersStarted') ?? []).map(({ labels }) => labels);
    const after = (seriesOf(many(MOST_SERIES + 1)).get('ordersStarted') ?? []).map(({ labels }) => labels);
    expect(after.slice(0, MOST_SERIES)).toEqual(before);
  });
});
