import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { incidentPopulation } from '../../../alerts/count/incident-orders.ts';
import { atPage } from '../../../alerts/count/scope.ts';
import { whereOrderCounts, type WhereOrderCounts } from '../../../alerts/explain/where-order-counts.ts';
import { RULES } from '../../../alerts/rules/all.ts';
import { createStore, type Store } from '../../../store/store.ts';
import { type SeededStore, startSeededStore } from '../../support/seed-store.ts';
import { evaluationRow } from '../support/evaluation-rows.ts';
import { MINUTE, NOW, PAID, REFUSED, TIMED_OUT, traffic } from '../traffic.ts';

const FROM = NOW - 30 * MINUTE;
const TO = NOW - 20 * MINUTE;
const HISTORIES = [PAID, TIMED_OUT, REFUSED, PAID.slice(0, -1), [...PAID, '10.2.30.4'], PAID.slice(0, 1)];
const ORDERS = traffic({
  gateway: 'acme-eu',
  orders: HISTORIES.length,
  from: FROM + MINUTE,
  to: TO - MINUTE,
  codes: (n) => HISTORIES[n] ?? [],
});

let seeded: SeededStore;
let store: Store;
let explained: WhereOrderCounts[];
beforeAll(async () => {
  seeded = await startSeededStore();
  store = createStore(seeded.connection);
  const window = [FROM, TO] as const;
  const timeouts = {
    rule: 'GatewatchTechTimeouts',
    label: 'GATEWAY_CREATE',
    gateway: 'acme-eu',
    window,
  } as const;
  await seeded.seed({
    orders: ORDERS,
    rows: {
      alertEvaluations: [
        evaluationRow({ ...timeouts, asOf: TO + MINUTE, seen: 6, affected: 1, breach: false }),
        evaluationRow({ ...timeouts, asOf: TO + 2 * MINUTE, seen: 6, affected: 1, breach: true }),
        evaluationRow({
          ...timeouts,
          asOf: TO + 3 * MINUTE,
          window: [TO, TO + MINUTE],
          seen: 6,
          breach: true,
        }),
      ],
    },
  });
  explained = [];
  for (const { gateway, orderType, externalId } of ORDERS)
    explained.push(
      await whereOrderCounts(
        (sql) => store.query(sql),
        { gateway, orderType: orderType ?? 'Deposit', externalId },
        RULES,
      ),
    );
}, 120_000);
afterAll(async () => {
  await store?.close();
  await seeded?.stop();
});

const measures = (n: number): Record<string, string> =>
  Object.fromEntries(explained[n]?.measures.map(({ measure, counts }) => [measure, counts]) ?? []);
const ruleOf = (n: number, rule: string, label = '') =>
  explained[n]?.rules.find((one) => one.rule === rule && one.label === label);

describe('the measures that an order counts in', () => {
  it('are shown with the reason where it does not', () => {
    expect(measures(0)).toMatchObject({
      'new orders': 'numerator',
      'finished orders': 'numerator',
      'technical success': 'numerator',
      approval: 'numerator',
      'orders with failures': 'no',
    });
    expect(measures(1)).toMatchObject({
      'finished orders': 'numerator',
      'technical success': 'denominator',
      approval: 'no',
      'orders with failures: TECH at GATEWAY_CREATE': 'numerator',
    });
    expect(explained[1]?.measures.find(({ measure }) => measure === 'approval')?.because).toBe(
      'nobody judged the payment: its outcome is technical_failure',
    );
    expect(measures(4)).toMatchObject({ 'unknown codes': 'numerator' });
    expect(measures(5)).toMatchObject({ 'new orders': 'numerator', 'finished orders': 'no', approval: 'no' });
  });
});

const idOf = (line: string): string | undefined => line.split(' ')[0];

describe('the rules that an order counts in', () => {
  const counting = RULES.filter((rule) => rule.kind !== 'gauge');
  it.each(counting)(
    'are those that $name counted, and its affected orders the affected ones',
    async (rule) => {
      const page = {
        rule: rule.name,
        gateway: 'acme-eu',
        from: FROM * 1000,
        to: NOW * 1000,
        asOf: NOW * 1000,
      };
      const rows = await store.query<{ id: string; label: string; affected: number }>(
        `SELECT external_id AS id, label, affected FROM (${atPage(incidentPopulation([rule]), page)})`,
      );
      const byRule = rows.map(
        ({ id, label, affected }) => `${id} ${label} ${rule.kind === 'share' && affected === 1}`,
      );
      const byOrder = explained.flatMap(({ order, rules }) =>
        rules
          .filter((one) => one.rule === rule.name && one.at !== null && Date.parse(`${one.at}Z`) < NOW)
          .map(({ label, counts }) => `${order.externalId} ${label} ${counts === 'affected'}`),
      );
      // Of thresholds one is named.
      const isChosen = rule.kind === 'share' && rule.threshold !== undefined;
      const expected = isChosen ? byRule.filter((one) => byOrder.includes(one)) : byRule;
      expect(byOrder.toSorted()).toEqual(expected.toSorted());
      expect(new Set(byOrder.map(idOf))).toEqual(new Set(byRule.map(idOf)));
    },
  );

  it('come with the evaluations whose window held it', () => {
    expect(ruleOf(1, 'GatewatchTechTimeouts', 'GATEWAY_CREATE')).toMatchObject({
      counts: 'affected',
      because: 'one of the orders that timed out (reason 11)',
      evaluations: { count: 2, breaches: 1 },
    });
    expect(ruleOf(0, 'GatewatchTechTimeouts', 'GATEWAY_CREATE')).toMatchObject({
      counts: 'seen',
      because: 'none of the orders that timed out (reason 11)',
    });
    expect(ruleOf(5, 'GatewatchTechTimeouts', 'GATEWAY_CREATE')).toMatchObject({ counts: 'no', at: null, evaluations: null }); // prettier-ignore
  });
});
