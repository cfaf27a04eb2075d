import { expect, it } from 'vitest';
import { createAlertsNow } from '../../../alerts/evaluate/alerts-now.ts';
import type { TableResult } from '../../../store/store.ts';

const NOW = Date.UTC(2026, 10, 21, 10, 30);
const row = {
  newest: '2026-11-21 10:29:00',
  rule: 'GatewatchTechTimeouts',
  gateway: 'acme-eu',
  slice: '',
  label: 'CHECK',
  kind: 'share',
  as_of: '2026-11-21 10:29:00',
  window_from: '2026-11-21 10:13:30.000000',
  window_to: '2026-11-21 10:28:30.000000',
  seen: '340',
  affected: '12',
  expected: null,
  limit: 9,
  share: 12 / 340,
  number: null,
  breach: 1,
  suppressed_by: '',
  state: 'Alerting',
  changed_at: '2026-11-21 10:29:00.000000',
  firing_since: '2026-11-21 10:29:00.000000',
};

/** Alerts over a store that is played by the test. */
function played(answer: () => Promise<TableResult>, timeZone?: string) {
  let [asked, ms] = [0, 0];
  const alerts = createAlertsNow({
    query() {
      asked++;
      return answer();
    },
    now: () => NOW + ms,
    monotonicMs: () => ms,
    ...(timeZone === undefined ? {} : { timeZone }),
  });
  return { alerts, asked: () => asked, later: (byMs: number) => (ms += byMs) };
}

it('asks the store once for all who ask within ten seconds', async () => {
  const { alerts, asked, later } = played(() => Promise.resolve({ meta: [], data: [row] }));
  const [first, second] = await Promise.all([alerts(), alerts()]);
  expect(first).toEqual(second);
  expect(first).toMatchObject({ asOf: NOW - 60_000, ageMs: 60_000, error: null });
  expect(asked()).toBe(1);
  later(9_999);
  expect(await alerts()).toMatchObject({ asOf: NOW - 60_000, ageMs: 69_999 });
  expect(asked()).toBe(1);
  later(1);
  await alerts();
  expect(asked()).toBe(2);
});

it("names the reader's zone, and times by its clocks", async () => {
  const { alerts } = played(() => Promise.resolve({ meta: [], data: [row] }), 'Asia/Kolkata');
  const answer = await alerts();
  expect(answer.timeZone).toBe('Asia/Kolkata');
  expect(answer.alerts[0]?.detail).toMatch(
    / between [\d:]+ and [\d:]+ UTC \([\d:]+ and [\d:]+ Asia\/Kolkata\); /,
  );
});

it('leads to the evaluation, and to the orders where there are any', async () => {
  const gauge = { ...row, rule: 'GatewatchCircuitOpen', label: '', kind: 'gauge', number: 1, limit: 0 };
  const unknown = { ...row, as_of: '1970-01-01 00:00:00', state: 'Error' };
  const { alerts } = played(() => Promise.resolve({ meta: [], data: [row, gauge, unknown] }));
  const links = (await alerts()).alerts.map(({ state, panelUrl, ordersUrl }) => ({
    state,
    panel: panelUrl?.replace(/\?.*&var-rule/, '?var-rule'),
    sameOrders: ordersUrl === panelUrl,
  }));
  const incident = '/d/gatewatch-incident?var-rule=';
  const asOf = encodeURIComponent(
    new Date(NOW - 60_000).toISOString().slice(0, 19).replace('T', ' '),
  ).replace('%20', '+');
  expect(links).toEqual([
    {
      state: 'Alerting',
      panel: `${incident}GatewatchTechTimeouts&var-gateway=acme-eu&var-label=CHECK&var-as_of=${asOf}`,
      sameOrders: true,
    },
    {
      state: 'Alerting',
      panel: `${incident}GatewatchCircuitOpen&var-gateway=acme-eu&var-label=&var-as_of=${asOf}`,
      sameOrders: false,
    },
    { state: 'Error', panel: undefined, sameOrders: true },
  ]);
});

it('says what it knew, and why there is nothing newer, while the store does not answer', async () => {
  let isAway = true;
  const { alerts, asked, later } = played(() =>
    isAway ? Promise.reject(new Error('the store is away')) : Promise.resolve({ meta: [], data: [row] }),
  );
  expect(await alerts()).toEqual({
    alerts: [],
    asOf: null,
    ageMs: null,
    error: 'the store is away',
    timeZone: 'UTC',
  });
  // Not asked by every page at once either.
  await alerts();
  expect(asked()).toBe(1);
  isAway = false;
  later(10_000);
  expect(await alerts()).toMatchObject({ error: null, alerts: [{ rule: 'GatewatchTechTimeouts' }] });
  isAway = true;
  later(600_000);
  expect(await alerts()).toMatchObject({
    error: 'the store is away',
    asOf: NOW - 60_000,
    ageMs: 670_000,
    alerts: [{ rule: 'GatewatchTechTimeouts' }],
  });
});
