import { createIncidentDesk } from '../../../alerts/incidents/incident-desk.ts';
import { createAlertsNow } from '../../../alerts/evaluate/alerts-now.ts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createConsole, type Console } from '../../../console/server/console.ts';
import { readDashboards } from '../../../console/server/dashboard-files.ts';
import { ALERT_DASHBOARDS_FOLDER, DASHBOARDS_FOLDER } from '../../../store/package-files.ts';
import { evaluationRow, passAt, stateRow } from '../../alerts/support/evaluation-rows.ts';
import { startSeededStore, type SeededStore } from '../../support/seed-store.ts';

const MINUTE = 60_000;
const NOW = Date.now();
/** The evaluation of the last whole minute. */
const AS_OF = Math.floor(NOW / MINUTE) * MINUTE;
const scope = { dashboard: 'gatewatch-overview', from: NOW - 60 * MINUTE, to: NOW, variables: {} };
const boards = readDashboards(DASHBOARDS_FOLDER);

let store: SeededStore;
let gatewatch: Console;
const asked: string[] = [];
beforeAll(async () => {
  store = await startSeededStore();
  // Forty orders in the last ten minutes, half of them lost to timeouts.
  await store.seed({
    orders: Array.from({ length: 40 }, (_, n) => {
      const at = NOW - 10 * MINUTE + n * 10_000;
      return {
        gateway: 'acme-eu',
        externalId: `order-${n}`,
        channel: "o'neil",
        items: [
          { at, action: '1.0.0.00' },
          { at: at + 1_000, action: n % 2 === 0 ? '2.2.4.11' : '2.1.1.00' },
          ...(n % 2 === 0 ? [] : [{ at: at + 5_000, action: '4.1.3.00' }]),
        ],
      };
    }),
    gatewayStatus: [{ gateway: 'acme-eu', reportedAt: NOW - 1_000, watermarkAt: NOW }],
    annotations: [{ gateway: '', title: 'release <b>7</b> & "more"', startsAt: NOW - 20 * MINUTE }],
    rows: {
      alertEvaluations: [
        passAt(AS_OF),
        evaluationRow({
          rule: 'GatewatchTechTimeouts',
          label: 'GATEWAY_CREATE',
          asOf: AS_OF,
          window: [AS_OF - 15 * MINUTE, AS_OF],
          seen: 40,
          affected: 20,
          breach: true,
        }),
      ],
      alertStates: [
        stateRow({
          rule: 'GatewatchTechTimeouts',
          labels: { gateway: 'acme-eu', stage: 'GATEWAY_CREATE' },
          state: 'Pending',
          changedAt: AS_OF,
          evaluatedAt: AS_OF,
        }),
      ],
    },
  });
  gatewatch = consoleOver(DASHBOARDS_FOLDER);
});
afterAll(() => store?.stop());

const consoleOver = (dashboardsFolder: string): Console =>
  createConsole({
    dashboardsFolder,
    linkedFolder: ALERT_DASHBOARDS_FOLDER,
    alerts: createAlertsNow,
    desk: (source) =>
      createIncidentDesk({ ...source, store: { insert: () => Promise.resolve() }, gateways: [] }),
    query(sql) {
      asked.push(sql);
      return store.query(sql);
    },
    now: () => NOW,
    monotonicMs: () => performance.now(),
    log: pino({ level: 'silent' }),
  });

const panelIds = (uid: string, title: string): number =>
  boards.get(uid)?.panels.find((panel) => panel['title'] === title)?.id ?? -1;
const answerOf = <T>(asking: { answer: T } | { problem: string }): T => {
  if ('problem' in asking) throw new Error(asking.problem);
  return asking.answer;
};

describe('the console', () => {
  it('lists the dashboards and gives each as it was generated, without its SQL', () => {
    expect(gatewatch.dashboards().map(({ uid }) => uid)).toEqual([...boards.keys()]);
    expect(boards.size).toBeGreaterThanOrEqual(6);
    const board = gatewatch.dashboard('gatewatch-overview');
    expect(board).toMatchObject({ uid: 'gatewatch-overview', title: 'Gateway health' });
    expect(JSON.stringify(board)).not.toMatch(/SELECT|rawSql/);
    expect(gatewatch.dashboard('nothing')).toBeNull();
  });

  it('answers a panel with typed columns', async () => {
    const panel = panelIds('gatewatch-overview', 'Technical success');
    const { frames, error } = answerOf(await gatewatch.panel({ ...scope, panel, maxDataPoints: 500 }));
    expect(error).toBeNull();
    expect(frames).toEqual([
      {
        refId: 'A',
        format: 1,
        columns: [
          { name: 'technical_success', kind: 'number', values: [0.5] },
          { name: 'finished_orders', kind: 'number', values: [40] },
        ],
      },
    ]);
  });

  it('answers every panel of every dashboard, with everything chosen and with values chosen', async () => {
    for (const [uid, board] of boards)
      for (const variables of [{}, { gateway: ['acme-eu', "x' OR 1=1 --"] }])
        for (const panel of board.panels.filter(({ targets = [] }) => targets.length > 0)) {
          const asking = await gatewatch.panel({
            ...scope,
            dashboard: uid,
            variables,
            panel: panel.id,
            maxDataPoints: 300,
          });
          expect([uid, panel['title'], answerOf(asking).error]).toEqual([uid, panel['title'], null]);
        }
  });

  it('narrows a panel by the chosen values', async () => {
    const panel = panelIds('gatewatch-overview', 'Technical success');
    const finished = async (variables: Record<string, string[]>): Promise<unknown> =>
      answerOf(await gatewatch.panel({ ...scope, variables, panel, maxDataPoints: 500 })).frames[0]
        ?.columns[1]?.values;
    expect(await finished({ channel: ["o'neil"] })).toEqual([40]);
    expect(await finished({ channel: ['card'] })).toEqual([0]);
    expect(await finished({ channel: ["') OR ('' = '"] })).toEqual([0]);
  });

  it('asks the store nothing when a variable is not one of the dashboard', async () => {
    asked.splice(0);
    const panel = panelIds('gatewatch-overview', 'Technical success');
    expect(await gatewatch.panel({ ...scope, variables: { sql: ['1'] }, panel, maxDataPoints: 1 })).toEqual({
      status: 400,
      problem: 'gatewatch-overview has no variable sql',
    });
    expect(await gatewatch.panel({ ...scope, panel: 1, maxDataPoints: 1 })).toMatchObject({ status: 404 });
    expect(await gatewatch.panel({ ...scope, dashboard: 'x', panel, maxDataPoints: 1 })).toMatchObject({
      status: 404,
    });
    expect(asked).toEqual([]);
  });

  it('fills the variables that a query fills', async () => {
    const { options, errors } = answerOf(await gatewatch.variables(scope));
    expect(errors).toEqual({});
    expect(options).toMatchObject({
      gateway: [{ value: 'acme-eu', text: 'acme-eu' }],
      channel: [{ value: "o'neil", text: "o'neil" }],
    });
  });

  it('has the notes of the time range', async () => {
    const { annotations, errors } = answerOf(await gatewatch.annotations(scope));
    expect(errors).toEqual([]);
    expect(annotations).toEqual([
      {
        time: NOW - 20 * MINUTE,
        timeEnd: null,
        title: 'release <b>7</b> & "more"',
        text: 'about release <b>7</b> & "more"',
        tags: ['deployment', 'test'],
        colour: expect.any(String),
      },
    ]);
  });

  it('says which alerts there are, in what state, in words, and where each is shown', async () => {
    asked.splice(0);
    const { alerts, ...answer } = await gatewatch.alerts();
    expect(answer).toEqual({ asOf: AS_OF, ageMs: NOW - AS_OF, error: null, timeZone: 'UTC' });
    expect(alerts).toMatchObject([
      {
        rule: 'GatewatchTechTimeouts',
        severity: 'critical',
        state: 'Pending',
        since: AS_OF,
        summary: 'The gateway does not answer in time.',
        labels: { gateway: 'acme-eu', stage: 'GATEWAY_CREATE' },
        numbers: { affected: 20, seen: 40 },
      },
    ]);
    expect(alerts[0]?.detail).toMatch(
      /^20 of 40 orders \(50 %\) timed out .* UTC; 5 would have been enough\.$/,
    );
    expect(asked).toHaveLength(1);
    await gatewatch.alerts();
    expect(asked).toHaveLength(1);
    // The link opens, on a dashboard that the list of dashboards does not show.
    const { pathname } = new URL(alerts[0]?.ordersUrl ?? '', 'http://console');
    const uid = pathname.replace('/d/', '');
    expect(gatewatch.dashboards().map((one) => one.uid)).not.toContain(uid);
    expect(gatewatch.dashboard(uid)).toMatchObject({ title: 'Incident' });
  });

  it('leads to a range that young data fills', async () => {
    // A store that is busy keeps nobody waiting: the next one is sent to the better range.
    await expect.poll(() => gatewatch.landing()).toBe('/d/gatewatch-overview?from=now-15m&to=now&refresh=5s');
  });
});

describe('a dashboard with a broken panel', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatewatch-boards-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const target = (refId: string, rawSql: string) => ({ refId, rawSql, format: 1 });
  const board = {
    uid: 'broken',
    title: 'Broken',
    panels: [
      {
        id: 7,
        type: 'table',
        targets: [
          target('A', 'SELECT 1 AS one'),
          target('B', 'SELECT nonsense'),
          { ...target('C', 'x'), hide: true },
        ],
      },
    ],
  };

  it('shows what answered beside what went wrong', async () => {
    writeFileSync(join(folder, 'broken.json'), JSON.stringify(board));
    const asking = await consoleOver(folder).panel({
      ...scope,
      dashboard: 'broken',
      panel: 7,
      maxDataPoints: 100,
    });
    const { frames, error } = answerOf(asking);
    expect(frames.map(({ refId }) => refId)).toEqual(['A']);
    expect(error).toMatch(/^B: .*nonsense/);
    expect(error?.length).toBeLessThan(320);
  });

  it('is no dashboard when it has no uid, and then nothing is shown and nothing stops', () => {
    writeFileSync(join(folder, 'broken.json'), '{}');
    expect(() => readDashboards(folder)).toThrow(/broken\.json is not a dashboard/);
    expect(consoleOver(folder).dashboards()).toEqual([]);
  });
});
