import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readNewest } from '../../../alerts/evaluate/newest.ts';
import { startSeededStore, type SeededStore } from '../../support/seed-store.ts';
import { evaluationRow, passAt, stateRow } from '../support/evaluation-rows.ts';

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
/** A whole minute. */
const NOW = Date.UTC(2026, 10, 21, 10, 30);
const CHECK = { gateway: 'acme-eu', stage: 'CHECK' };
const TIMEOUTS = 'GatewatchTechTimeouts';

let store: SeededStore;
beforeAll(async () => {
  store = await startSeededStore();
  const timeouts = (asOf: number, label: string, affected: number) =>
    evaluationRow({ rule: TIMEOUTS, asOf, label, seen: 340, affected, limit: 9, breach: affected >= 9 });
  const drop = { rule: 'GatewatchAntifraudSilent', seen: 12, affected: 12, expected: 13, limit: 2 } as const;
  await store.seed({
    rows: {
      alertEvaluations: [
        // Always fires, and is not shown: it says that there are evaluations.
        passAt(NOW - 3 * DAY),
        ...[3, 2, 1, 0].map((ago) => passAt(NOW - ago * MINUTE)),
        ...[3, 2, 1, 0].map((ago) => timeouts(NOW - ago * MINUTE, 'CHECK', ago === 3 ? 0 : 12)),
        ...[1, 0].map((ago) => timeouts(NOW - ago * MINUTE, 'GATEWAY_CREATE', 0)),
        // Found a moment ago: no state is written yet.
        evaluationRow({ rule: 'GatewatchCircuitOpen', asOf: NOW, number: 1, limit: 0, breach: true }),
        // It no longer holds, and has not ended.
        evaluationRow({ rule: 'GatewatchAuthzFailures', asOf: NOW, label: 'CHECK', seen: 340, affected: 1 }),
        // A slow rule was evaluated nine minutes ago, another one long before.
        evaluationRow({ ...drop, asOf: NOW - 9 * MINUTE }),
        evaluationRow({ rule: 'GatewatchTechnicalBurnSlow', asOf: NOW - 40 * MINUTE, breach: true }),
        evaluationRow({ rule: 'GatewatchRejects', asOf: NOW, number: null, gateway: 'acme-us' }),
        evaluationRow({ rule: 'GatewatchCollectorSilent', asOf: NOW, number: 4, limit: 120 }),
      ],
      alertStates: [
        stateRow({
          rule: TIMEOUTS,
          labels: CHECK,
          state: 'Pending',
          changedAt: NOW - 2 * MINUTE,
          evaluatedAt: NOW - 2 * MINUTE,
        }),
        stateRow({
          rule: TIMEOUTS,
          labels: CHECK,
          state: 'Alerting',
          changedAt: NOW - MINUTE,
          evaluatedAt: NOW,
          firingSince: NOW - MINUTE,
        }),
        stateRow({
          rule: 'GatewatchAuthzFailures',
          labels: CHECK,
          state: 'Recovering',
          changedAt: NOW - MINUTE,
          evaluatedAt: NOW,
          firingSince: NOW - 20 * MINUTE,
        }),
        stateRow({
          rule: 'GatewatchCollectorSilent',
          labels: {},
          state: 'NoData',
          changedAt: NOW,
          evaluatedAt: NOW,
          firingSince: NOW,
        }),
        // Ended, and one that nobody has evaluated for a day.
        stateRow({
          rule: TIMEOUTS,
          labels: { gateway: 'acme-eu', stage: 'GATEWAY_CREATE' },
          state: 'Normal',
          changedAt: NOW - MINUTE,
          evaluatedAt: NOW - MINUTE,
        }),
        stateRow({
          rule: 'GatewatchPictureBehind',
          labels: { gateway: 'gone' },
          state: 'Alerting',
          changedAt: NOW - 2 * DAY,
          evaluatedAt: NOW - DAY,
          firingSince: NOW - 2 * DAY,
        }),
      ],
    },
  });
});
afterAll(() => store?.stop());

const asked: string[] = [];
const read = (atMs: number, notable = false) =>
  readNewest(
    (sql) => {
      asked.push(sql);
      return store.query(sql);
    },
    { atMs, notable },
  );
const shown = async (atMs: number, notable = false) =>
  (await read(atMs, notable)).alerts.map(
    ({ line }) => `${line.state} ${[line.rule, ...Object.values(line.labels)].join(' ')}`,
  );

describe('the newest evaluations', () => {
  it('are one row a rule, gateway and label, with the state, what needs attention first', async () => {
    expect(await shown(NOW + 20_000)).toEqual([
      'Alerting GatewatchTechTimeouts acme-eu CHECK',
      'NoData GatewatchCollectorSilent',
      'Pending GatewatchCircuitOpen acme-eu',
      'Recovering GatewatchAuthzFailures acme-eu CHECK',
      'Normal GatewatchTechTimeouts acme-eu GATEWAY_CREATE',
      'Normal GatewatchCollectorSilent acme-eu',
      'Normal GatewatchAntifraudSilent acme-eu',
      'Normal GatewatchRejects acme-us',
    ]);
  });

  it('are not called quiet where the history is dated elsewhere and no order was in the window', async () => {
    const asOf = NOW - 6 * DAY;
    const of = { asOf, gateway: 'local-time', affected: 0 };
    await store.seed({
      rows: {
        alertEvaluations: [
          passAt(asOf),
          evaluationRow({
            rule: 'GatewatchHistoryMisdated',
            ...of,
            number: 28_800,
            limit: 600,
            breach: true,
          }),
          evaluationRow({ rule: TIMEOUTS, ...of, label: 'CHECK', seen: 0 }),
          evaluationRow({ rule: 'GatewatchIssuerDeclines', ...of, seen: 7 }),
          evaluationRow({ rule: TIMEOUTS, ...of, gateway: 'acme-eu', label: 'CHECK', seen: 0 }),
        ],
      },
    });
    expect(await shown(asOf)).toEqual([
      'Pending GatewatchHistoryMisdated local-time',
      'NotJudged GatewatchTechTimeouts local-time CHECK',
      'Normal GatewatchTechTimeouts acme-eu CHECK',
      'Normal GatewatchIssuerDeclines local-time',
    ]);
    expect(await shown(asOf, true)).toEqual(['Pending GatewatchHistoryMisdated local-time']);
  });

  it('can be those alone that somebody should look at, by one statement that shows their age, too', async () => {
    asked.splice(0);
    expect(await shown(NOW + 20_000, true)).toEqual([
      'Alerting GatewatchTechTimeouts acme-eu CHECK',
      'NoData GatewatchCollectorSilent',
      'Pending GatewatchCircuitOpen acme-eu',
      'Recovering GatewatchAuthzFailures acme-eu CHECK',
    ]);
    expect(asked).toHaveLength(1);
    expect(asked[0]?.length).toBeLessThan(1_500);
    expect((await read(NOW - 2 * DAY, true)).alerts).toEqual([]);
    expect((await read(NOW - 2 * DAY, true)).asOf).toBe(NOW - 3 * DAY);
  });

  it('come with their numbers, and a sentence', async () => {
    const { alerts, asOf } = await read(NOW);
    expect(asOf).toBe(NOW);
    expect(alerts[0]).toEqual({
      rule: TIMEOUTS,
      gateway: 'acme-eu',
      slice: '',
      label: 'CHECK',
      line: {
        rule: TIMEOUTS,
        severity: 'critical',
        summary: 'The gateway does not answer in time.',
        labels: CHECK,
        state: 'Alerting',
        since: NOW - MINUTE,
        detail:
          '12 of 340 orders (3.5 %) timed out (reason 11) between 10:14:30 and 10:29:30 UTC; 9 would have been enough.',
        numbers: {
          kind: 'share',
          asOf: NOW,
          windowFrom: NOW - 15.5 * MINUTE,
          windowTo: NOW - 0.5 * MINUTE,
          seen: 340,
          affected: 12,
          expected: null,
          limit: 9,
          share: 12 / 340,
          number: null,
          breach: true,
          suppressedBy: '',
        },
      },
      // As the row has it, for those who go on reckoning with it.
      evaluation: expect.objectContaining({
        gateway: 'acme-eu',
        label: 'CHECK',
        as_of: NOW * 1000,
        window_to: (NOW - 0.5 * MINUTE) * 1000,
        affected: 12,
        limit: 9,
      }) as object,
    });
    const { line } = alerts.find(({ rule }) => rule === 'GatewatchAuthzFailures') ?? {};
    // An alert that is about to end fires since it began to.
    expect(line).toMatchObject({ state: 'Recovering', since: NOW - 20 * MINUTE, numbers: { breach: false } });
    expect(alerts.find(({ line: { state } }) => state === 'NoData')?.line).toMatchObject({
      numbers: null,
      detail: '',
    });
  });

  it('can be those of the past, with the states of then', async () => {
    expect(await shown(NOW - 1.5 * MINUTE, true)).toEqual(['Pending GatewatchTechTimeouts acme-eu CHECK']);
    expect(await shown(NOW - 2.5 * MINUTE, true)).toEqual([]);
    expect((await read(NOW - 2.5 * MINUTE)).asOf).toBe(NOW - 3 * MINUTE);
  });

  it('are none where nobody has evaluated anything for days', async () => {
    expect(await read(NOW - 30 * DAY)).toEqual({ asOf: null, alerts: [] });
    expect(await read(NOW + 30 * DAY, true)).toEqual({ asOf: null, alerts: [] });
  });
});
