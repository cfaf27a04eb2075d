import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { INCIDENT_DASHBOARD, incidentDashboard } from '../../../alerts/grafana/incident-dashboard.ts';
import { evaluateRule } from '../../support/grafana/evaluate-rule.ts';
import { loadRules } from '../../support/grafana/rule-file.ts';
import { renderTemplate } from '../../support/grafana/template.ts';
import { panelId } from '../../../dashboards/house/ids.ts';
import { expandPanelSql } from '../../support/macros.ts';
import { type SeededStore, startSeededStore } from '../../support/seed-store.ts';
import { evaluationRow } from '../support/evaluation-row.ts';
import { MINUTE, NOW, PAID, TIMED_OUT, traffic } from '../traffic.ts';

const OUT = fileURLToPath(new URL('../../../alerts/out/provisioning/alerting', import.meta.url));
/** A window that does not begin at a whole second: it ends where the picture of the gateway does. */
const WINDOW = { asOf: NOW, from: NOW - 10 * MINUTE + 123, to: NOW - 5001, breach: 1 } as const;
const TIMEOUTS = { ...WINDOW, rule: 'GatewatchTechTimeouts', kind: 'share', limit: 5 } as const;
const CHECKED_LATE = ['1.0.0.00', '2.1.1.00', '4.2.2.11'];

let store: SeededStore;
beforeAll(async () => {
  store = await startSeededStore();
  const orders = (gateway: string, count: number, from: number, to: number, codes = PAID) =>
    traffic({ gateway, orders: count, from, to, codes: () => codes });
  const recent = (gateway: string, count: number, codes: string[]) =>
    orders(gateway, count, NOW - 5 * MINUTE - count, NOW - 2 * MINUTE, codes);
  await store.seed({
    orders: [
      // Two stages time out at once: each has its own page.
      ...recent('two-stages', 40, TIMED_OUT),
      ...recent('two-stages', 25, CHECKED_LATE),
      ...recent('one-label', 31, ['1.0.0.00', '2.1.1.00', '5.2.2.16', '4.1.3.00']),
      // Before the window: hit as well, and none of the page.
      ...orders('two-stages', 9, NOW - 40 * MINUTE, NOW - 20 * MINUTE, TIMED_OUT),
      ...orders('dropped', 300, NOW - 360 * MINUTE, NOW - 10 * MINUTE),
      ...orders('dropped', 7, NOW - 9 * MINUTE, NOW - 2 * MINUTE),
    ],
    rows: {
      alertEvaluations: [
        evaluationRow({
          ...TIMEOUTS,
          gateway: 'two-stages',
          label: 'GATEWAY_CREATE',
          seen: 40,
          affected: 40,
        }),
        evaluationRow({ ...TIMEOUTS, gateway: 'two-stages', label: 'CHECK', seen: 25, affected: 25 }),
        evaluationRow({
          ...TIMEOUTS,
          rule: 'GatewatchSignatureMismatches',
          gateway: 'one-label',
          seen: 31,
          affected: 31,
        }),
        evaluationRow({
          ...WINDOW,
          rule: 'GatewatchTrafficDrop',
          kind: 'drop',
          gateway: 'dropped',
          seen: 7,
          affected: 7,
          expected: 40,
          limit: 12,
        }),
        // The minutes before: of the history that the dashboard shows.
        evaluationRow({
          ...TIMEOUTS,
          asOf: NOW - MINUTE,
          gateway: 'two-stages',
          label: 'CHECK',
          seen: 20,
          affected: 10,
          expected: 2,
        }),
        evaluationRow({
          ...TIMEOUTS,
          asOf: NOW - 420 * MINUTE,
          gateway: 'two-stages',
          label: 'CHECK',
          affected: 1,
        }),
      ],
    },
  });
});
afterAll(() => store?.stop());

/** The page that the rule sends for these labels: its numbers, and its texts as they are rendered. */
async function page(title: string, labels: Readonly<Record<string, string>>) {
  const rule = loadRules(OUT).find((one) => one.title === title) ?? expect.fail(`no rule ${title}`);
  const { instances } = await evaluateRule(rule, { now: new Date(NOW), query: store.query });
  const instance =
    instances.find((one) => JSON.stringify(one.labels) === JSON.stringify(labels)) ??
    expect.fail(`no instance among ${JSON.stringify(instances.map((one) => one.labels))}`);
  expect(instance.firing).toBe(true);
  const text = (name: string): string => renderTemplate(rule.annotations[name] ?? '', instance);
  return { values: instance.values, text };
}

/** Rows of a panel of the incident dashboard, opened by this link. */
async function panel(key: keyof typeof INCIDENT_DASHBOARD.panels, url: string) {
  const query = new URL(url, 'https://grafana.gatewatch.example').searchParams;
  const variables = (incidentDashboard().templating?.list ?? []).map(({ name }) => name);
  const found = (incidentDashboard().panels ?? []).find(
    ({ id }) => id === panelId(INCIDENT_DASHBOARD.panels[key]),
  ) as { targets?: { rawSql: string }[] } | undefined;
  const sql = expandPanelSql(
    found?.targets?.[0]?.rawSql ?? expect.fail(`panel ${key} has no query`),
    {
      from: new Date(Number(query.get('from'))),
      to: new Date(Number(query.get('to'))),
      intervalMs: 60_000,
    },
    Object.fromEntries(variables.map((name) => [name, [query.get(`var-${name}`) ?? '']])),
  );
  return (await store.query(sql)).data;
}

const total = (rows: readonly Readonly<Record<string, unknown>>[], column: string): number =>
  rows.reduce((sum, row) => sum + Number(row[column]), 0);

describe.each([
  ['GatewatchTechTimeouts', { gateway: 'two-stages', stage: 'GATEWAY_CREATE' }, 40],
  ['GatewatchTechTimeouts', { gateway: 'two-stages', stage: 'CHECK' }, 25],
  ['GatewatchSignatureMismatches', { gateway: 'one-label' }, 31],
  ['GatewatchTrafficDrop', { gateway: 'dropped' }, null],
] as const)('the page of %s for %j', (title, labels, expected) => {
  it('has the number of its panel, of its list and of its query', async () => {
    const { values, text } = await page(title, labels);
    const n = values['affected'] ?? values['counted'] ?? -1;
    if (expected !== null) expect(n).toBe(expected);
    expect(n).toBeGreaterThan(0);
    expect(text('description')).toContain(` ${n} `);
    expect((await store.query(text('orders_sql'))).data).toHaveLength(n);

    const url = text('orders_url');
    const stage = 'stage' in labels ? labels.stage : 'orders';
    expect(await panel('count', url)).toEqual([{ hit: stage, orders: n }]);
    expect(await panel('orders', url)).toHaveLength(n);
    expect(total(await panel('overTime', url), 'orders')).toBe(n);
  });

  it('says what its orders are worth, those without an amount apart', async () => {
    const { values, text } = await page(title, labels);
    const rows = await panel('amounts', text('orders_url'));
    const n = values['affected'] ?? values['counted'];
    expect(total(rows, 'orders')).toBe(n);
    expect(total(rows, 'without_amount')).toBe(n);
  });
});

it('leads from each order to its page, by its own gateway and type, in the same time range', () => {
  const orders = (incidentDashboard().panels ?? []).find(
    ({ id }) => id === panelId(INCIDENT_DASHBOARD.panels.orders),
  ) as {
    fieldConfig?: {
      overrides?: { matcher: { options: string }; properties: { id: string; value: unknown }[] }[];
    };
  };
  const links = orders.fieldConfig?.overrides
    ?.find(({ matcher }) => matcher.options === 'external_id')
    ?.properties.find(({ id }) => id === 'links')?.value;
  expect(links).toEqual([
    {
      title: 'Timeline of this order',
      url:
        '/d/gatewatch-order?${__url_time_range}&${datasource:queryparam}&var-order_id=${__value.raw:percentencode}' +
        '&var-gateway=${__data.fields.gateway:percentencode}&var-order_type=${__data.fields.order_type:percentencode}',
    },
  ]);
});

it('shows amounts exactly, with their currency', async () => {
  const reply = {
    gateway: 'priced',
    observedAt: NOW - 2 * MINUTE,
    status: 'Failed',
    outcome: 'technical_failure',
  } as const;
  const hit = traffic({
    gateway: 'priced',
    orders: 40,
    from: NOW - 5 * MINUTE,
    to: NOW - 2 * MINUTE,
    codes: () => TIMED_OUT,
  });
  const [first, second] = hit;
  await store.seed({
    orders: hit,
    replies: [
      { ...reply, externalId: first?.externalId ?? '', amount: '12345678901.23', currency: 'EUR' },
      { ...reply, externalId: second?.externalId ?? '', amount: '0.1', currency: 'EUR' },
    ],
    rows: {
      alertEvaluations: [
        evaluationRow({ ...TIMEOUTS, gateway: 'priced', label: 'GATEWAY_CREATE', seen: 40, affected: 40 }),
      ],
    },
  });
  const { text } = await page('GatewatchTechTimeouts', { gateway: 'priced', stage: 'GATEWAY_CREATE' });
  const amounts = (await panel('orders', text('orders_url'))).map((row) => row['amount_text']);
  expect(amounts.filter((amount) => amount !== '').toSorted()).toEqual(['0.1 EUR', '12345678901.23 EUR']);
  expect(await panel('amounts', text('orders_url'))).toContainEqual(
    expect.objectContaining({ in_currency: 'EUR', at_risk: '12345678901.33', orders: 2 }),
  );
});

it('shows the window, and what the rule saw in the hours before, with its limit', async () => {
  const { text } = await page('GatewatchTechTimeouts', { gateway: 'two-stages', stage: 'CHECK' });
  const url = text('orders_url');
  expect(await panel('evaluation', url)).toMatchObject([
    { window_from: '2026-03-02 11:50:00.123000', window_to: '2026-03-02 11:59:54.999000', affected: 25 },
  ]);
  expect(await panel('seen', url)).toMatchObject([
    { time: '2026-03-02 11:59:00', counted: 10, fires_at: 5 },
    { time: '2026-03-02 12:00:00', counted: 25, fires_at: 5 },
  ]);
  expect(await panel('shares', url)).toMatchObject([
    { seen_share: 0.5, expected_share: 0.1 },
    { seen_share: 1, expected_share: null },
  ]);
});

it('shows what stands out: what explains most comes first, with the share of the rest', async () => {
  const orders = traffic({
    gateway: 'one-channel',
    orders: 80,
    from: NOW - 5 * MINUTE,
    to: NOW - 2 * MINUTE,
    // Of the channels card and p2p, one after the other.
    codes: (n) => (n % 2 === 0 && n < 60 ? TIMED_OUT : PAID),
  });
  await store.seed({
    orders,
    rows: {
      alertEvaluations: [
        evaluationRow({
          ...TIMEOUTS,
          gateway: 'one-channel',
          label: 'GATEWAY_CREATE',
          seen: 80,
          affected: 30,
        }),
      ],
    },
  });
  const { text } = await page('GatewatchTechTimeouts', { gateway: 'one-channel', stage: 'GATEWAY_CREATE' });
  expect(await panel('slices', text('orders_url'))).toEqual([
    { dimension: 'channel', part: 'card', hit: 30, orders: 40, share: 0.75, rest_share: 0, explained: 30 },
  ]);
});

it('says that nothing stands out where a slice is affected a little more, as chance has it', async () => {
  const orders = traffic({
    gateway: 'alike',
    orders: 80,
    from: NOW - 5 * MINUTE,
    to: NOW - 2 * MINUTE,
    // 16 of 40 orders by card, 14 of 40 by p2p.
    codes: (n) => ((n % 2 === 0 ? n < 32 : n < 28) ? TIMED_OUT : PAID),
  });
  const numbers = { ...TIMEOUTS, gateway: 'alike', label: 'GATEWAY_CREATE', seen: 80, affected: 30 };
  await store.seed({ orders, rows: { alertEvaluations: [evaluationRow(numbers)] } });
  const { text } = await page('GatewatchTechTimeouts', { gateway: 'alike', stage: 'GATEWAY_CREATE' });
  expect(await panel('slices', text('orders_url'))).toEqual([]);
});

it('the incident dashboard without a page shows nothing, and does not fail', async () => {
  for (const key of Object.keys(INCIDENT_DASHBOARD.panels) as (keyof typeof INCIDENT_DASHBOARD.panels)[])
    expect(await panel(key, '/d/gatewatch-incident')).toEqual([]);
});
