import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Evaluated, evaluationRow, stateRow } from '../evaluations.ts';
import { panelNamed } from '../generated.ts';
import { FROM, type Seeded, startSeeded, TO } from '../seeded.ts';
import { utc } from '../shape.ts';
import { MINUTE } from '../traffic.ts';

/** Panels show what the rules saw: the rows of evaluations and nothing else. */

const at = (minutesBeforeEnd: number): number => TO - minutesBeforeEnd * MINUTE;
const timeouts = (
  asOf: number,
  seen: number,
  affected: number,
  limit: number,
  label = 'CHECK',
): Evaluated => ({
  rule: 'GatewatchTechTimeouts',
  gateway: 'acme-eu',
  label,
  asOf,
  seen,
  affected,
  limit,
});

const ROWS: readonly Evaluated[] = [
  timeouts(FROM, 100, 2, 12),
  timeouts(at(6), 100, 30, 12),
  timeouts(at(5), 120, 11, 13),
  timeouts(at(4), 0, 0, 5),
  timeouts(at(3), 3, 1, 5),
  { ...timeouts(at(2), 50, 40, 9), suppressedBy: 'GatewatchGatewayUnreachable' },
  timeouts(at(1), 60, 7, 10),
  timeouts(at(1), 40, 20, 8, 'GATEWAY_CREATE'),
  // Outside of the range, and of another rule.
  timeouts(FROM - MINUTE, 100, 99, 12),
  timeouts(TO, 100, 98, 12),
  { ...timeouts(at(1), 77, 70, 10), rule: 'GatewatchAuthzFailures' },
  { ...timeouts(at(1), 10, 4, 4, ''), rule: 'GatewatchSignatureMismatches' },
  { ...timeouts(at(1), 20, 5, 14, ''), rule: 'GatewatchCallbackKeyBroken' },
  { ...timeouts(at(1), 20, 5, 3, ''), rule: 'GatewatchForgedCallbacks' },
  {
    rule: 'GatewatchTrafficDrop',
    kind: 'drop',
    gateway: 'acme-eu',
    asOf: at(1),
    seen: 8,
    affected: 8,
    expected: 32,
    limit: 15,
  },
  {
    rule: 'GatewatchConsumerLag',
    kind: 'gauge',
    gateway: '',
    label: 'collector-1',
    asOf: at(1),
    number: 20_000,
    limit: 10_000,
  },
];
const rowOf = (asOf: number, label = 'CHECK'): Evaluated =>
  ROWS.find((one) => one.rule === 'GatewatchTechTimeouts' && one.asOf === asOf && one.label === label) ??
  timeouts(asOf, 0, 0, 0);

let seeded: Seeded;
beforeAll(async () => {
  seeded = await startSeeded([
    {
      rows: {
        alertEvaluations: [
          ...ROWS.map(evaluationRow),
          // A second evaluator is later: what was said once stays.
          evaluationRow({ ...rowOf(at(5)), affected: 99, evaluatedAt: TO + MINUTE }),
        ],
        alertStates: STATES.map(stateRow),
      },
    },
  ]);
});
afterAll(() => seeded?.store.stop());
const runPanel: Seeded['runPanel'] = (...args) => seeded.runPanel(...args);

const SHARES = 'Orders with timeouts, share by stage';
const drawn = ({ asOf, gateway, label, seen = 0, affected = 0, limit }: Evaluated) => ({
  time: asOf,
  gateway,
  stage: label,
  share: seen === 0 ? null : affected / seen,
  rule_limit: seen === 0 || limit > seen ? null : limit / seen,
  orders: seen,
});
const withTime = (rows: readonly Record<string, unknown>[]) =>
  rows.map((row) => ({ ...row, time: utc(row['time']) }));

describe('a share that a rule watches', () => {
  it('is that of the row, minute by minute, beside the limit that the rule had then', async () => {
    const expected = ROWS.filter(
      ({ rule, asOf }) => rule === 'GatewatchTechTimeouts' && asOf >= FROM && asOf < TO,
    ).map(drawn);
    expect(withTime(await runPanel(SHARES))).toEqual(expected);
  });

  it('is not hidden by a wide interval when it was an incident, and else is the newest', async () => {
    const { targets } = panelNamed(SHARES);
    const { data } = await seeded.run(targets?.[0]?.rawSql ?? '', {}, 1e12);
    expect(data).toMatchObject([
      { stage: 'CHECK', share: 0.3, rule_limit: 0.12, orders: 100 },
      { stage: 'GATEWAY_CREATE', share: 0.5, rule_limit: 0.2, orders: 40 },
    ]);
  });

  it('has a series for each of several rules', async () => {
    expect(withTime(await runPanel('Orders with wrong signatures, by side'))).toEqual(
      [
        { side: 'gateway', share: 0.4, rule_limit: 0.4, orders: 10 },
        { side: 'ours, forged', share: 0.25, rule_limit: 0.15, orders: 20 },
        { side: 'ours, key', share: 0.25, rule_limit: 0.7, orders: 20 },
      ].map((one) => ({ time: at(1), gateway: 'acme-eu', ...one })),
    );
  });

  it('follows the chosen gateways', async () => {
    expect(await runPanel(SHARES, { gateway: ['blind-pay'] })).toEqual([]);
  });
});

/** What a rule of shares has nothing of. */
const NOTHING = { usual_orders: null, found_number: null };

describe('what the rules saw last', () => {
  it('is the newest row of each rule, gateway and label, incidents first', async () => {
    const rows = await runPanel('What the rules saw last');
    expect(rows.map((row) => [row['incident'], row['rule'], row['label']])).toEqual([
      [1, 'GatewatchAuthzFailures', 'CHECK'],
      [1, 'GatewatchConsumerLag', 'collector-1'],
      [1, 'GatewatchForgedCallbacks', ''],
      [1, 'GatewatchSignatureMismatches', ''],
      [1, 'GatewatchTechTimeouts', 'CHECK'],
      [1, 'GatewatchTechTimeouts', 'GATEWAY_CREATE'],
      [1, 'GatewatchTrafficDrop', ''],
      [0, 'GatewatchCallbackKeyBroken', ''],
    ]);
  });

  it('has the numbers of the row, each kind its own', async () => {
    const rows = await runPanel('What the rules saw last');
    const of = (rule: string, label = '') =>
      rows.find((row) => row['rule'] === rule && row['label'] === label);
    // The end of the range belongs to "now".
    expect(of('GatewatchTechTimeouts', 'CHECK')).toMatchObject({
      ...NOTHING,
      affected_orders: 98,
      seen_orders: 100,
      rule_limit: 12,
      part: 0.98,
      window_seconds: 900,
      suppressed_by: '',
    });
    expect(of('GatewatchTrafficDrop')).toMatchObject({
      affected_orders: 8,
      seen_orders: 8,
      usual_orders: 32,
      rule_limit: 15,
      part: 0.25,
    });
    expect(of('GatewatchConsumerLag', 'collector-1')).toMatchObject({
      affected_orders: null,
      seen_orders: null,
      found_number: 20_000,
      rule_limit: 10_000,
      window_seconds: null,
    });
  });
});

const STATES = [
  {
    rule: 'GatewatchTechTimeouts',
    labels: { gateway: 'acme-eu', stage: 'GATEWAY_CREATE' },
    state: 'Alerting',
    changedAt: at(9),
    firingSince: at(9),
    evaluatedAt: at(1),
  },
  {
    rule: 'GatewatchForgedCallbacks',
    labels: { gateway: 'acme-eu' },
    state: 'Recovering',
    changedAt: at(2),
    firingSince: at(20),
    evaluatedAt: at(1),
  },
  // It fired a while ago, and is pending anew.
  {
    rule: 'GatewatchConsumerLag',
    labels: { gateway: '', collector: 'collector-1' },
    severity: 'warning',
    state: 'Pending',
    changedAt: at(3),
    firingSince: at(90),
    evaluatedAt: at(1),
  },
  // Without an evaluation; ended; no longer evaluated.
  {
    rule: 'GatewatchClockSkew',
    labels: { gateway: 'acme-eu' },
    state: 'Alerting',
    changedAt: at(30),
    firingSince: at(30),
    evaluatedAt: at(1),
  },
  {
    rule: 'GatewatchTrafficDrop',
    labels: { gateway: 'acme-eu' },
    state: 'Normal',
    changedAt: at(2),
    evaluatedAt: at(1),
  },
  {
    rule: 'GatewatchRejects',
    labels: { gateway: 'acme-eu' },
    state: 'Alerting',
    changedAt: at(90),
    firingSince: at(90),
    evaluatedAt: at(40),
  },
] as const;

describe('what fires now', () => {
  it('is each alert in its state, since when, with the numbers of its newest evaluation', async () => {
    const rows = await runPanel('What fires now, and by which numbers');
    expect(
      rows.map((row) => ({ ...row, since: utc(row['since']), evaluation: utc(row['evaluation']) })),
    ).toEqual(
      [
        {
          state: 'Alerting',
          severity: 'critical',
          rule: 'GatewatchTechTimeouts',
          gateway: 'acme-eu',
          slice: '',
          label: 'GATEWAY_CREATE',
          since: at(9),
          ...NOTHING,
          affected_orders: 20,
          seen_orders: 40,
          rule_limit: 8,
        },
        {
          state: 'Recovering',
          severity: 'critical',
          rule: 'GatewatchForgedCallbacks',
          gateway: 'acme-eu',
          slice: '',
          label: '',
          since: at(20),
          ...NOTHING,
          affected_orders: 5,
          seen_orders: 20,
          rule_limit: 3,
        },
        {
          state: 'Alerting',
          severity: 'critical',
          rule: 'GatewatchClockSkew',
          gateway: 'acme-eu',
          slice: '',
          label: '',
          since: at(30),
          ...NOTHING,
          affected_orders: null,
          seen_orders: null,
          rule_limit: null,
        },
        {
          state: 'Pending',
          severity: 'warning',
          rule: 'GatewatchConsumerLag',
          gateway: '',
          slice: '',
          label: 'collector-1',
          since: at(3),
          affected_orders: null,
          seen_orders: null,
          usual_orders: null,
          found_number: 20_000,
          rule_limit: 10_000,
        },
      ].map((row) => ({ ...row, evaluation: at(1) })),
    );
  });
});
