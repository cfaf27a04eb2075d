import { afterAll, beforeAll, expect, it } from 'vitest';
import { STAGES } from '../../../schemas/dictionary.ts';
import type { SeedOrder } from '../../support/seed-store.ts';
import { lastWeek, orders, scope, type Seeded, startSeeded } from '../seeded.ts';
import { utc } from '../shape.ts';
import { decided, failures, isFailing, itemsIn, MINUTE, type Scope, unknownCodes } from '../traffic.ts';

let seeded: Seeded;
beforeAll(async () => {
  seeded = await startSeeded();
});
afterAll(() => seeded?.store.stop());
const runPanel: Seeded['runPanel'] = (...args) => seeded.runPanel(...args);

type Code = NonNullable<ReturnType<typeof itemsIn>[number]['code']>;
const ordersWith = (within: Scope, wanted: (code: Code) => boolean): SeedOrder[] =>
  orders.filter((order) =>
    itemsIn(order, within).some(({ code }) => code !== null && isFailing(code) && wanted(code)),
  );
const seen = (within: Scope): number => orders.filter((order) => itemsIn(order, within).length > 0).length;

it('the share of orders with failures is over all orders seen, also when stage and group are chosen', async () => {
  const [all] = await runPanel('Orders with failures, share of orders seen');
  const failing = ordersWith(scope, () => true).length;
  expect(all).toEqual({
    share: expect.closeTo(failing / seen(scope), 12),
    failing_orders: failing,
    seen_orders: seen(scope),
  });
  const choice = { stage: ['CHECK'], reason_group: ['ISSUER', 'TECH'] };
  const [chosen] = await runPanel('Orders with failures, share of orders seen', choice);
  expect(chosen).toMatchObject({
    failing_orders: ordersWith(scope, ({ stage, group }) => stage === 4 && ['ISSUER', 'TECH'].includes(group))
      .length,
    seen_orders: seen(scope),
  });
});

it('failures by reason and minute', async () => {
  const rows = await runPanel('Orders with failures, by reason');
  expect(
    new Map(rows.map((row) => [`${utc(row['time'])} ${String(row['reason']).slice(0, 2)}`, row['orders']])),
  ).toEqual(
    failures(
      orders,
      scope,
      ({ at, code }) => `${Math.floor(at / MINUTE) * MINUTE} ${String(code.reason).padStart(2, '0')}`,
    ),
  );
});

it('failures by stage and reason', async () => {
  const rows = await runPanel('Orders with failures, by stage and reason');
  const expected = failures(orders, scope, ({ code }) => `${code.reason} ${code.stage}`);
  const actual = rows.flatMap((row) =>
    STAGES.map(({ code, name }) => [`${Number(row['reason'])} ${code}`, row[name]] as const).filter(
      ([, count]) => count !== 0,
    ),
  );
  expect(new Map(actual)).toEqual(expected);
  const byReason = failures(orders, scope, ({ code }) => `${code.reason}`);
  expect(new Map(rows.map((row) => [String(Number(row['reason'])), row['orders']]))).toEqual(byReason);
});

it('reasons stand beside the same window of last week, cut at the same place', async () => {
  const rows = await runPanel('Reasons, change against the same hours last week');
  const now = failures(orders, scope, ({ code }) => `${code.reason}`);
  const then = failures(orders, lastWeek, ({ code }) => `${code.reason}`);
  expect(then.size).toBeGreaterThan(5);
  expect(rows.map((row) => String(Number(row['reason']))).toSorted()).toEqual(
    [...new Set([...now.keys(), ...then.keys()])].toSorted(),
  );
  for (const row of rows) {
    const [a, b] = [now, then].map((counts) => counts.get(String(Number(row['reason']))) ?? 0);
    expect(row).toMatchObject({
      orders: a,
      orders_last_week: b,
      seen_orders: seen(scope),
      seen_orders_last_week: seen(lastWeek),
      share: expect.closeTo((a ?? 0) / seen(scope), 12),
      share_last_week: expect.closeTo((b ?? 0) / seen(lastWeek), 12),
      change: expect.closeTo((a ?? 0) / seen(scope) - (b ?? 0) / seen(lastWeek), 12),
    });
  }
  const changes = rows.map((row) => Number(row['change']));
  expect(changes).toEqual(changes.toSorted((a, b) => b - a));
});

it('unknown and legacy codes, with an order to look at', async () => {
  const rows = await runPanel('Newest unknown and legacy codes');
  expect(new Map(rows.map((row) => [row['code'], row['orders']]))).toEqual(unknownCodes(orders, scope));
  expect(Object.fromEntries(rows.map((row) => [row['code'], row['format']]))).toEqual({
    '4.2.2.11': 'v2',
    '2.2.4.18': 'v2',
    '10.2.30.4': 'legacy',
    hello: 'unrecognized',
  });
  for (const row of rows) {
    const example = orders.find(
      ({ externalId, gateway }) => externalId === row['example_order'] && gateway === row['gateway'],
    );
    expect(example?.items.map(({ action }) => action)).toContain(row['code']);
    expect(example?.orderType).toBe(row['order_type']);
  }
});

it('lists orders with what they came to', async () => {
  const rows = await runPanel('Orders with failures');
  const outcomes = new Map(
    decided(orders, { ...scope, from: 0, end: () => Infinity }).map(({ order, outcome }) => [
      order.externalId,
      outcome,
    ]),
  );
  expect(rows).toHaveLength(100);
  for (const row of rows) expect(row['outcome']).toBe(outcomes.get(String(row['order_id'])) ?? 'pending');
  expect(new Set(rows.map((row) => row['outcome'])).size).toBeGreaterThan(4);
});

it('lists the orders behind one cell of the heat table', async () => {
  const rows = await runPanel('Orders with failures', { stage: ['CHECK'], reason: ['63'] });
  const wanted = ordersWith(scope, ({ stage, reason }) => stage === 4 && reason === 63);
  expect(rows.map((row) => row['order_id']).toSorted()).toEqual(
    wanted
      .toSorted((a, b) => lastAt(b) - lastAt(a))
      .slice(0, 100)
      .map(({ externalId }) => externalId)
      .toSorted(),
  );
  expect(new Set(rows.map((row) => row['last_code']))).toEqual(new Set(['4.1.4.63']));
});

const lastAt = (order: SeedOrder): number =>
  itemsIn(order, scope).findLast(({ code }) => code?.stage === 4 && code.reason === 63)?.at ?? 0;
