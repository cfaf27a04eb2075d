import { beforeEach, expect, it } from 'vitest';
import { createExplainer, type ExplainedAlert, type Explainer } from '../../../alerts/explain/explainer.ts';
import type { Query } from '../../../alerts/explain/explanation.ts';
import { RULES } from '../../../alerts/rules/all.ts';
import type { AlertNumbers } from '../../../schemas/alert-line.ts';
import type { AlertRuleName } from '../../../schemas/names.ts';

const AS_OF = Date.UTC(2026, 10, 21, 10, 30);
const MINUTE = 60_000;

/** An alert that fires: 80 of 200 orders. */
function alert(gateway: string, given: Partial<AlertNumbers> = {}, state = 'Alerting'): ExplainedAlert {
  const rule: AlertRuleName = 'GatewatchTechTimeouts';
  const numbers: AlertNumbers = {
    kind: 'share',
    asOf: AS_OF,
    windowFrom: AS_OF - 15 * MINUTE,
    windowTo: AS_OF,
    seen: 200,
    affected: 80,
    expected: null,
    limit: 5,
    share: 0.4,
    number: null,
    breach: true,
    suppressedBy: '',
    ...given,
  };
  const line = {
    rule,
    severity: 'critical',
    summary: '',
    labels: {},
    state,
    since: AS_OF,
    detail: '',
    numbers,
  };
  const { asOf, windowFrom, windowTo, ...rest } = numbers;
  const times = { as_of: asOf * 1000, window_from: windowFrom * 1000, window_to: windowTo * 1000 };
  const key = { rule, gateway, slice: '', label: 'CHECK' };
  return { ...key, line, evaluation: { ...key, ...rest, ...times } };
}

const place = { order_type: 'Deposit', currency: 'EUR', amount_band: '', age: '', stage: '', reason: '' };
const CELLS = [
  { ...place, channel: 'card', seen: 100, affected: 80, seenBefore: 0, affectedBefore: 0 },
  { ...place, channel: 'p2p', seen: 100, affected: 0, seenBefore: 0, affectedBefore: 0 },
];
const ORDERS = [
  {
    in_currency: 'EUR',
    total: '1200.5',
    without_amount: 0,
    with_amount: 80,
    newest: '2026-11-21 10:29:00',
    example_type: 'Deposit',
    example_id: 'order-1',
  },
];

let [ms, asked, fails] = [0, [] as string[], false];
let explainer: Explainer;
beforeEach(() => {
  [ms, asked, fails] = [0, [], false];
  const query: Query = async <T>(sql: string): Promise<T[]> => {
    const isAboutOrders = sql.includes('in_currency');
    if (!isAboutOrders) asked.push(/gateway = '([^']+)'/.exec(sql)?.[1] ?? '');
    if (fails) throw new Error('the store did not answer');
    return (isAboutOrders ? ORDERS : CELLS) as T[];
  };
  explainer = createExplainer({ rules: RULES, query, monotonicMs: () => ms });
});
const learn = async (...alerts: ExplainedAlert[]) => {
  explainer.learn(alerts);
  await explainer.idle();
};

it('knows nothing at first, and nobody waits for it', async () => {
  explainer.learn([alert('acme-eu')]);
  expect(explainer.of(alert('acme-eu'))).toBeNull();
  await explainer.idle();
  expect(explainer.of(alert('acme-eu'))).toMatchObject({
    asOf: AS_OF,
    lines: ['channel card: 80 of 100 orders (80 %), the rest 0 of 100 (0 %)'],
    atRisk: '1,200.5 EUR',
    exampleUrl: expect.stringContaining('var-order_id=order-1') as string,
  });
});

it('asks once in five minutes, and keeps what it knows when the store does not answer', async () => {
  await learn(alert('acme-eu'));
  ms += 4 * MINUTE;
  await learn(alert('acme-eu'));
  expect(asked).toHaveLength(1);
  ms += MINUTE;
  fails = true;
  await learn(alert('acme-eu', { asOf: AS_OF + 5 * MINUTE }));
  expect(asked).toHaveLength(2);
  expect(explainer.of(alert('acme-eu'))).toMatchObject({ asOf: AS_OF });
  fails = false;
  await learn(alert('acme-eu', { asOf: AS_OF + 5 * MINUTE }));
  expect(asked).toHaveLength(2);
  ms += MINUTE;
  await learn(alert('acme-eu', { asOf: AS_OF + 6 * MINUTE }));
  expect(explainer.of(alert('acme-eu'))).toMatchObject({ asOf: AS_OF + 6 * MINUTE });
});

it('explains what fires and still holds, at most five at a time, and keeps what it said while that ends', async () => {
  const six = ['a', 'b', 'c', 'd', 'e', 'f'].map((gateway) => alert(gateway));
  await learn(alert('pending', {}, 'Pending'), alert('over', { breach: false }, 'Recovering'), ...six);
  expect(asked).toEqual(['a', 'b', 'c', 'd', 'e']);
  await learn(alert('a', { breach: false }, 'Recovering'));
  expect(explainer.of(alert('a'))).not.toBeNull();
  expect(explainer.of(alert('b'))).toBeNull();
  expect(asked).toHaveLength(5);
});
