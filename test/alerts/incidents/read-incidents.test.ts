import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readIncidents } from '../../../alerts/incidents/read-incidents.ts';
import type { AlertRuleName } from '../../../schemas/names.ts';
import { dateTime64, startSeededStore, type SeededStore } from '../../support/seed-store.ts';
import { evaluationRow, passAt, stateRow } from '../support/evaluation-rows.ts';

const MINUTE = 60_000;
const NOW = Date.UTC(2026, 10, 21, 12, 0);
const ago = (minutes: number): number => NOW - minutes * MINUTE;
const TIMEOUTS = 'GatewatchTechTimeouts';

/** The rows of an alert that waited two minutes, and ended. */
function ended(
  rule: AlertRuleName,
  labels: Record<string, string>,
  firedAgo: number,
  endedAgo: number,
): object[] {
  const state = { rule, labels, firingSince: ago(firedAgo) };
  return [
    stateRow({
      rule,
      labels,
      state: 'Pending',
      changedAt: ago(firedAgo + 2),
      evaluatedAt: ago(firedAgo + 1),
    }),
    stateRow({ ...state, state: 'Alerting', changedAt: ago(firedAgo), evaluatedAt: ago(endedAgo + 1) }),
    {
      ...stateRow({ ...state, state: 'Normal', changedAt: ago(endedAgo), evaluatedAt: ago(endedAgo) }),
      resolved_at: dateTime64(ago(endedAgo)),
    },
  ];
}

let store: SeededStore;
beforeAll(async () => {
  store = await startSeededStore();
  const check = { gateway: 'acme-eu', stage: 'CHECK' };
  const count = (asOf: number, affected: number) =>
    evaluationRow({ rule: TIMEOUTS, label: 'CHECK', asOf, seen: 400, affected, limit: 9, breach: true });
  await store.seed({
    rows: {
      alertEvaluations: [passAt(NOW), count(ago(300), 20), count(ago(290), 55), count(ago(1), 12)],
      alertStates: [
        ...ended(TIMEOUTS, check, 302, 280),
        ...ended('GatewatchApprovalDrop', { gateway: 'acme-eu' }, 295, 270),
        ...ended('GatewatchPreviousKeyInUse', { gateway: 'acme-eu' }, 299, 271),
        stateRow({
          rule: TIMEOUTS,
          labels: check,
          state: 'Recovering',
          changedAt: ago(3),
          evaluatedAt: NOW,
          firingSince: ago(9),
        }),
        stateRow({
          rule: 'GatewatchHeartbeat',
          labels: { gateway: '' },
          state: 'Alerting',
          changedAt: ago(9_000),
          evaluatedAt: NOW,
          firingSince: ago(9_000),
        }),
      ],
      annotations: [
        {
          annotation_id: '1',
          starts_at: dateTime64(ago(310)),
          ends_at: null,
          gateway: '',
          title: 'Deployed 4.2',
          text: '',
          tags: [],
        },
        {
          annotation_id: '2',
          starts_at: dateTime64(ago(310)),
          ends_at: null,
          gateway: 'acme-us',
          title: 'Elsewhere',
          text: '',
          tags: [],
        },
        {
          annotation_id: '3',
          starts_at: dateTime64(ago(200)),
          ends_at: null,
          gateway: 'acme-eu',
          title: 'Later',
          text: '',
          tags: [],
        },
      ],
    },
  });
});
afterAll(() => store?.stop());

describe.each(['reader', 'writer'] as const)('asked by the %s', (who) => {
  const read = (fromMs: number, toMs = NOW) =>
    readIncidents(who === 'reader' ? store.query : store.queryAsWriter, { fromMs, toMs });

  it('tells incidents from the states: what was first, what followed, when it ended, orders and notes', async () => {
    const [running, past, ...others] = await read(ago(1_440));
    expect(others).toEqual([]);
    expect(running).toMatchObject({
      severity: 'critical',
      noticedAt: ago(9),
      endedAt: null,
      affectedOrders: 12,
      alerts: [{ rule: TIMEOUTS, recoveringSince: ago(3) }],
      notes: [],
    });
    expect(past).toMatchObject({
      id: 'acme-eu/2026-11-21T06:58:00Z',
      gateway: 'acme-eu',
      severity: 'critical',
      beganAt: ago(304),
      noticedAt: ago(302),
      endedAt: ago(270),
      affectedOrders: 55,
      alerts: [
        { rule: TIMEOUTS, label: 'CHECK', firedAt: ago(302), endedAt: ago(280), affectedOrders: 55 },
        { rule: 'GatewatchApprovalDrop', firedAt: ago(295), endedAt: ago(270), affectedOrders: null },
      ],
      notes: [{ title: 'Deployed 4.2', at: ago(310) }],
    });
  });

  it('knows which were under way at a time, and no more than was known then', async () => {
    expect(await read(ago(1))).toMatchObject([{ noticedAt: ago(9) }]);
    expect(await read(ago(298), ago(298))).toMatchObject([
      { id: 'acme-eu/2026-11-21T06:58:00Z', endedAt: null, alerts: [{ rule: TIMEOUTS }] },
    ]);
    expect(await read(ago(3_000), ago(2_000))).toEqual([]);
  });
});
