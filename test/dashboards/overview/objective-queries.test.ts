import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SeedOrder } from '../../support/seed-store.ts';
import { type Evaluated, evaluationRow, settingRows } from '../evaluations.ts';
import { type Seeded, startSeeded, TO, WEEK } from '../seeded.ts';
import { MINUTE } from '../traffic.ts';

const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Finished orders of a gateway at an instant, some of them failed for a technical reason. */
const finished = (at: number, paid: number, timedOut: number, gateway = 'acme-eu'): SeedOrder[] =>
  Array.from({ length: paid + timedOut }, (_, n) => ({
    gateway,
    externalId: `order-${at}-${n}`,
    items: [
      { at: at - 3000, action: '1.0.0.00' },
      // An order that repeats its final item counts once.
      ...[0, 20 * MINUTE].map((later) => ({ at: at + later, action: n < paid ? '4.1.3.00' : '2.2.4.11' })),
    ],
  }));

const orders = [
  ...finished(TO - 30 * MINUTE, 90, 10),
  ...finished(TO - 3 * HOUR, 100, 0),
  ...finished(TO - 20 * HOUR, 198, 2),
  ...finished(TO - 50 * HOUR, 200, 0),
  ...finished(TO - 20 * DAY, 400, 0),
  ...finished(TO - 31 * DAY, 0, 300),
  // Declined: finished, and no failure of technology.
  { gateway: 'declining', externalId: 'one', items: [{ at: TO - DAY, action: '4.1.4.63' }] },
];

const QUARTER = 15 * MINUTE;
const HOUR_MARK = Math.floor(TO / HOUR) * HOUR - 6 * HOUR;
const callbacks = (asOf: number, seen: number, affected: number, label = 'SUCCESS'): Evaluated => ({
  rule: 'GatewatchMerchantCallbackMissing',
  gateway: 'acme-eu',
  label,
  asOf,
  seen,
  affected,
  limit: 10,
});
const evaluations: readonly Evaluated[] = [
  // Every minute a window of a quarter: four of them follow one another.
  ...Array.from({ length: 60 }, (_, n) => callbacks(HOUR_MARK + (n + 1) * MINUTE, 100, n === 29 ? 4 : 0)),
  // Windows of an hour: two.
  ...Array.from({ length: 8 }, (_, n) => ({
    ...callbacks(HOUR_MARK + HOUR + (n + 1) * QUARTER, 50, 1),
    windowSeconds: 3600,
  })),
  // The gateway cannot be read: the window stands still.
  ...Array.from({ length: 4 }, (_, n) => ({
    ...callbacks(HOUR_MARK + 3 * HOUR + (n + 1) * QUARTER, 100, 2),
    windowTo: HOUR_MARK + 3 * HOUR + QUARTER - 30_000,
  })),
  callbacks(HOUR_MARK, 1000, 900, 'FAILED'),
  { ...callbacks(HOUR_MARK, 1000, 900), gateway: 'silent-pay' },
  callbacks(HOUR_MARK - 31 * DAY, 1000, 900),
];

let seeded: Seeded;
beforeAll(async () => {
  const rule = 'GatewatchMerchantCallbackMissing/enabled';
  seeded = await startSeeded([
    {
      orders,
      rows: {
        alertEvaluations: evaluations.map(evaluationRow),
        alertSettings: [
          ...settingRows('acme-eu', TO - 2 * WEEK, { [`${rule}/SUCCESS`]: 1, [`${rule}/FAILED`]: 1 }),
          ...settingRows('acme-eu', TO - WEEK, { [`${rule}/SUCCESS`]: 1, [`${rule}/FAILED`]: 0 }),
        ],
      },
    },
  ]);
});
afterAll(() => seeded?.store.stop());

it('technical success: the budget of thirty days, and how fast the last hours spend it', async () => {
  const [known, ...others] = await seeded.runPanel('Technical success: error budget and burn rates');
  expect(known).toEqual({
    gateway: 'acme-eu',
    failed_orders: 12,
    finished_orders: 1000,
    budget_left: expect.closeTo(1 - 12 / 1000 / 0.01, 9),
    burn_1h: expect.closeTo(10 / 100 / 0.01, 9),
    burn_6h: expect.closeTo(10 / 200 / 0.01, 9),
    burn_24h: expect.closeTo(12 / 400 / 0.01, 9),
    burn_72h: expect.closeTo(12 / 600 / 0.01, 9),
  });
  expect(others).toEqual([
    {
      gateway: 'declining',
      budget_left: 1,
      failed_orders: 0,
      finished_orders: 1,
      burn_1h: null,
      burn_6h: null,
      burn_24h: expect.anything(),
      burn_72h: 0,
    },
  ]);
});

it('merchant callbacks: windows that follow one another, of the types that are configured', async () => {
  const seen = 4 * 100 + 2 * 50 + 100;
  const missing = 4 + 2 * 1 + 2;
  expect(await seeded.runPanel('Merchant callbacks: delivered in time, and error budget')).toEqual([
    {
      gateway: 'acme-eu',
      state: 'SUCCESS',
      delivered_share: expect.closeTo(1 - missing / seen, 12),
      budget_left: expect.closeTo(1 - missing / seen / 0.01, 12),
      missing_orders: missing,
      finished_orders: seen,
    },
  ]);
});
