import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRecount } from '../../../alerts/backtest/recount.ts';
import { settingsOfCalendar } from '../../../alerts/count/calendar.ts';
import type { Evaluation } from '../../../alerts/evaluate/evaluation.ts';
import { dateTime64, type SeededStore, type SeedOrder, startSeededStore } from '../../support/seed-store.ts';
import { evaluationsOf } from '../support/evaluation.ts';
import { ruleNamed } from '../support/evaluations.ts';
import { MINUTE, NOW, traffic } from '../traffic.ts';

const DAY = 24 * 60 * MINUTE;
const WEEKDAY = 6;
const SUNDAY = 2;
/** `NOW` is a Monday: it is a holiday for one gateway, and the last two Mondays were for another. */
const HOLIDAYS: Readonly<Record<string, readonly string[]>> = {
  holiday: ['2026-03-02'],
  'after-holidays': ['2026-02-23', '2026-02-16'],
  monday: [],
};
const RULES = [
  ruleNamed('GatewatchTrafficDrop'),
  ruleNamed('GatewatchTechTimeouts'),
  ruleNamed('GatewatchTechnicalBurnFast'),
];

/** Orders around noon of a day, so many days before, that are paid or are not. */
const day = (gateway: string, daysAgo: number, aMinute: number): SeedOrder[] =>
  traffic({
    gateway,
    orders: aMinute * (daysAgo === 0 ? 370 : 430),
    from: NOW - daysAgo * DAY - 370 * MINUTE,
    to: NOW - daysAgo * DAY + (daysAgo === 0 ? 0 : 60) * MINUTE,
    codes: () => ['1.0.0.00'],
  });

let store: SeededStore;
let rows: readonly Evaluation[];
const query = async <T>(sql: string): Promise<T[]> => (await store.queryAsWriter(sql)).data as T[];
beforeAll(async () => {
  store = await startSeededStore();
  for (const gateway of Object.keys(HOLIDAYS)) {
    const quiet = gateway === 'after-holidays' ? 2 : 0;
    const orders = [
      ...day(gateway, 0, gateway === 'after-holidays' ? WEEKDAY : SUNDAY),
      ...[1, 2, 3, 4].flatMap((week) => day(gateway, 7 * week, week <= quiet ? SUNDAY : WEEKDAY)),
      ...[1, 8, 15, 22].flatMap((daysAgo) => day(gateway, daysAgo, SUNDAY)),
    ];
    for (let from = 0; from < orders.length; from += 5000)
      await store.seed({ orders: orders.slice(from, from + 5000) });
  }
  await store.seed({
    gatewayStatus: Object.keys(HOLIDAYS).map((gateway) => ({ gateway, reportedAt: NOW, watermarkAt: NOW })),
    rows: {
      alertSettings: Object.entries(HOLIDAYS).flatMap(([gateway, holidays]) =>
        settingsOfCalendar({ timeZone: 'UTC', holidays }).map((setting) => ({
          gateway,
          rule: '*',
          setting,
          value: 1,
          configured_at: dateTime64(NOW - DAY),
        })),
      ),
    },
  });
  rows = await evaluationsOf(store, RULES).rows(NOW);
});
afterAll(() => store?.stop());

const row = (rule: string, gateway: string): Evaluation =>
  rows.find((one) => one.rule === rule && one.gateway === gateway) ?? expect.fail(`no ${rule} of ${gateway}`);
/** Expected orders a minute. */
function expectedOf(gateway: string): number {
  const { expected, window_from: from, window_to: to } = row('GatewatchTrafficDrop', gateway);
  return (expected ?? 0) / ((to - from) / 1e6 / 60);
}

it('a holiday is judged as a Sunday', () => {
  expect(expectedOf('holiday')).toBeCloseTo(SUNDAY, 0);
  // Half of a Monday's: expectations follow a quiet day as far as that.
  expect(expectedOf('monday')).toBeCloseTo(WEEKDAY / 2, 0);
});

it('a holiday is no example of what is usual on other days', () => {
  expect(expectedOf('after-holidays')).toBeCloseTo(WEEKDAY, 0);
});

it('what a holiday changes is another definition of the rules that compare with other days', () => {
  const definitions = (rule: string) =>
    new Set(Object.keys(HOLIDAYS).map((name) => row(rule, name).definition));
  expect(definitions('GatewatchTrafficDrop').size).toBe(3);
  expect(definitions('GatewatchTechnicalBurnFast').size).toBe(1);
});

it('a recount knows the same holidays', async () => {
  const recounted = await createRecount(query, {})(RULES, NOW);
  const numbers = (all: readonly Evaluation[]) =>
    all.map(({ rule, gateway, label, expected, limit, definition }) => ({
      rule,
      gateway,
      label,
      expected,
      limit,
      definition,
    }));
  expect(numbers(recounted)).toEqual(numbers(rows));
});
