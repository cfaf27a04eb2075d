import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MOST_SLICES, sliceCondition } from '../../../alerts/count/slices.ts';
import type { Evaluation } from '../../../alerts/evaluate/evaluation.ts';
import { RULES } from '../../../alerts/rules/all.ts';
import { type SeededStore, type SeedOrder, startSeededStore } from '../../support/seed-store.ts';
import { type Evaluations, evaluationsOf } from '../support/evaluation.ts';
import { MINUTE, NOW, PAID, TIMED_OUT, traffic } from '../traffic.ts';

/** Slices of the orders of a gateway, and what is usual there: four weeks of it, and half an hour of now. */

const WEEK = 7 * 24 * 60 * MINUTE;
const A_MINUTE = 8;
const NAMES: ReadonlySet<string> = new Set([
  'GatewatchTechTimeouts',
  'GatewatchProviderUnreachable',
  'GatewatchRequestsRepeated',
]);
const rules = RULES.filter(({ name }) => NAMES.has(name));
/** A check that fails once, and the order goes on. */
const REPEATED = ['1.0.0.00', '1.1.1.00', '2.1.1.00', '4.2.2.13', '4.1.3.00'];
const UNREACHABLE = ['1.0.0.00', '1.1.1.00', '2.2.4.12'];

type Shape = (n: number, isNow: boolean) => { readonly codes: readonly string[] } & Partial<SeedOrder>;

/** The hours around the instant in each of the weeks before, the last half hour, and what comes after. */
function months(gateway: string, shape: Shape): SeedOrder[] {
  const stretch = (from: number, to: number, isNow: boolean): SeedOrder[] =>
    traffic({
      gateway,
      orders: Math.round((A_MINUTE * (to - from)) / MINUTE),
      from,
      to,
      codes: (n) => shape(n, isNow).codes,
    }).map((order, n) => {
      const { codes: _codes, ...rest } = shape(n, isNow);
      return { ...order, ...rest };
    });
  const weeks = [1, 2, 3, 4].map((week) => NOW - week * WEEK);
  return [
    ...weeks.flatMap((at) => stretch(at - 120 * MINUTE, at + 60 * MINUTE, false)),
    ...stretch(NOW - 30 * MINUTE, NOW, true),
    // It is over.
    ...stretch(NOW, NOW + 80 * MINUTE, false),
  ];
}

/** One order in sixteen is a withdrawal, one half of these over a channel of their own. */
const type = (n: number): Partial<SeedOrder> =>
  n % 16 === 0
    ? { orderType: 'Withdrawal', channel: n % 32 === 0 ? 'bank' : 'p2p' }
    : { channel: n % 3 === 0 ? 'p2p' : 'card' };

const GATEWAYS: Readonly<Record<string, Shape>> = {
  // Half of all withdrawals time out: 3 % of all orders.
  withdrawals: (n, isNow) => ({ ...type(n), codes: isNow && n % 32 === 0 ? TIMED_OUT : PAID }),
  // One in twelve checks fails and is repeated, as always.
  hiccups: (n) => ({ ...type(n), codes: n % 12 === 0 ? REPEATED : PAID }),
  // The same, and now half of them.
  repeats: (n, isNow) => ({ ...type(n), codes: n % (isNow ? 2 : 12) === 0 ? REPEATED : PAID }),
  // A provider that refuses 8 % of all orders as always; and one that now refuses 40 %.
  refusing: (n) => ({ ...type(n), codes: n % 25 < 2 ? UNREACHABLE : PAID }),
  broken: (n, isNow) => ({ ...type(n), codes: n % 25 < (isNow ? 10 : 2) ? UNREACHABLE : PAID }),
  // The same, and one small channel that cannot be reached.
  pocket: (n, isNow) => {
    const isSmall = n % 40 === 0;
    const usual = n % (isNow ? 2 : 12) === 0 ? REPEATED : PAID;
    return { channel: isSmall ? 'small' : 'card', codes: isNow && isSmall ? UNREACHABLE : usual };
  },
  // Ten thousand channels, of which each order has its own.
  hostile: (n, isNow) => ({
    channel: isNow ? `c${n}` : 'card',
    codes: isNow && n % 40 === 0 ? TIMED_OUT : PAID,
  }),
};

let store: SeededStore;
let evaluations: Evaluations;
let now: readonly Evaluation[];
beforeAll(async () => {
  store = await startSeededStore();
  evaluations = evaluationsOf(store, rules);
  for (const [gateway, shape] of Object.entries(GATEWAYS)) {
    const orders = months(gateway, shape);
    for (let from = 0; from < orders.length; from += 5_000)
      await store.seed({ orders: orders.slice(from, from + 5_000) });
  }
  const instants = Array.from({ length: 80 }, (_, minute) => NOW + minute * MINUTE);
  await store.seed({
    gatewayStatus: instants.flatMap((at) =>
      Object.keys(GATEWAYS).map((gateway) => ({ gateway, reportedAt: at - 5000, watermarkAt: at - 5000 })),
    ),
  });
  now = await evaluations.rows(NOW);
});
afterAll(() => store?.stop());

const of = (gateway: string, rows = now) => rows.filter((row) => row.gateway === gateway);
const alerts = (gateway: string, rows = now) =>
  of(gateway, rows)
    .filter(({ breach }) => breach === 1)
    .map(({ rule, slice, label }) => [rule, slice, label].join(' '));

describe('slices', () => {
  it('are in breach by themselves where the whole gateway is not: half of all withdrawals', () => {
    expect(alerts('withdrawals')).toEqual(['GatewatchTechTimeouts channel=bank GATEWAY_CREATE']);
    const held = of('withdrawals').filter(({ suppressed_by: cause }) => cause === 'channel=bank');
    expect(held.map(({ slice }) => slice)).toEqual(['order_type=Withdrawal']);
  });

  it('have numbers that are exactly the orders of the page', async () => {
    const row = of('withdrawals').find(({ breach }) => breach === 1);
    if (row === undefined) return expect.fail('nothing is in breach');
    const at = (micros: number): string => `'${(micros / 1e6).toFixed(6)}'`;
    const { data } = await store.query(
      `SELECT count() AS orders FROM gatewatch.incident_orders(rule='${row.rule}', gateway='withdrawals', from=${at(row.window_from)}, to=${at(row.window_to)}, as_of=${at(row.as_of)}) WHERE label = '${row.label}' AND ${sliceCondition(row.slice)}`,
    );
    expect(Number(data[0]?.['orders'])).toBe(row.affected);
    expect(row.affected).toBeGreaterThan(5);
  });

  it('go on having rows once they are in breach no more, so that their alerts end like any other', async () => {
    const minutes = [20, 40, 60, 70];
    const found: string[] = [];
    for (const minute of minutes)
      for (const { slice, breach } of of('withdrawals', await evaluations.rows(NOW + minute * MINUTE)))
        if (slice === 'channel=bank') found.push(`${minute} ${breach}`);
    expect(found).toHaveLength(minutes.length);
    expect(found.at(-1)).toBe('70 0');
  });

  it('are bounded however many channels a gateway sends', () => {
    expect(alerts('hostile')).toEqual([]);
    expect(of('hostile').filter(({ slice }) => slice !== '').length).toBeLessThanOrEqual(MOST_SLICES);
  });
});

describe('what is usual', () => {
  it('raises no alert: checks that fail once, and a provider that always refuses some', () => {
    expect(alerts('hiccups')).toEqual([]);
    expect(alerts('refusing')).toEqual([]);
  });

  it('is what a rise is measured from, and is said', () => {
    expect(alerts('broken')).toEqual(['GatewatchProviderUnreachable  GATEWAY_CREATE']);
    const row = of('broken').find(({ breach }) => breach === 1);
    expect((row?.expected ?? 0) / (row?.seen ?? 1)).toBeCloseTo(0.08, 1);
  });
});

it('a check that fails and is repeated is no failure of the provider, but a warning when there are more', () => {
  expect(alerts('repeats')).toEqual(['GatewatchRequestsRepeated  CHECK']);
});

it('a cause in one slice silences no rule about the whole gateway', () => {
  expect(alerts('pocket')).toEqual([
    'GatewatchProviderUnreachable channel=small GATEWAY_CREATE',
    'GatewatchRequestsRepeated  CHECK',
  ]);
});
