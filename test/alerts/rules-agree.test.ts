import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { conditionsOf } from '../../alerts/count/order-count.ts';
import type { Evaluation } from '../../alerts/evaluate/evaluation.ts';
import { loadRules } from '../support/grafana/rule-file.ts';
import { sentenceOf } from '../../alerts/explain/sentence.ts';
import { RULES } from '../../alerts/rules/all.ts';
import { sliceCondition, WHOLE } from '../../alerts/count/slices.ts';
import { type CountingRule, labelOf, type Rule } from '../../alerts/rules/rule.ts';
import { panelNamed } from '../dashboards/generated.ts';
import { expandPanelSql } from '../support/macros.ts';
import { type SeededStore, startSeededStore } from '../support/seed-store.ts';
import { merge, SCENARIOS } from './scenarios.ts';
import { type Evaluations, evaluationsOf } from './support/evaluation.ts';
import { MINUTE, NOW, PAID, TIMED_OUT, traffic } from './traffic.ts';

/**
 * One number, wherever it stands: for every rule and fifty instants around its incident, the row, what
 * Grafana makes of the generated file, the panel, the orders behind the page and the sentence of the page.
 */

const OUT = fileURLToPath(new URL('../../alerts/out/provisioning/alerting', import.meta.url));
const files = new Map(loadRules(OUT).map((rule) => [rule.title, rule]));
const INSTANTS = Array.from({ length: 50 }, (_, n) => NOW + (n - 20) * MINUTE);
const gateways = ['acme-eu', 'blue-pay', 'card-hub'];
const gatewayOf = (scenario: number): string => gateways[scenario % gateways.length] ?? '';

let store: SeededStore;
let evaluations: Evaluations;
beforeAll(async () => {
  store = await startSeededStore();
  evaluations = evaluationsOf(store);
  await store.seed(
    merge([
      ...SCENARIOS.map(({ seed }, n) =>
        // All of it goes wrong somewhere, each at another minute, in the midst of orders that go right.
        seed(gatewayOf(n), 37, 23, NOW - (n % 17) * MINUTE - n),
      ),
      ...gateways.map((gateway, n) => ({
        orders: traffic({
          gateway,
          orders: 900,
          from: NOW - 120 * MINUTE,
          to: NOW + 30 * MINUTE,
          codes: (order) => (order % 11 === n ? TIMED_OUT : PAID),
        }),
      })),
      {
        gatewayStatus: INSTANTS.flatMap((at) =>
          gateways.map((gateway, n) => ({
            gateway,
            reportedAt: at - 5_000,
            // One of them is behind, by another time than whole minutes.
            watermarkAt: at - 5_000 - (n === 1 ? 137_123 : 0),
          })),
        ),
      },
    ]),
  );
});
afterAll(() => store?.stop());

const rows = async (rule: Rule, at: number): Promise<Evaluation[]> =>
  (await evaluations.rows(at)).filter((row) => row.rule === rule.name);
const time = (micros: number): string => `toDateTime64('${(micros / 1e6).toFixed(6)}', 6, 'UTC')`;
const grouped = (n: number): string => n.toLocaleString('en-US');
const numberOf = async (sql: string): Promise<number> => Number((await store.query(sql)).data[0]?.['n']);

describe.each(RULES.filter((rule) => !('asked' in rule)))('$name', (rule) => {
  it('has a row for every gateway and label at every instant, and Grafana says the same of each', async () => {
    const file = files.get(rule.name) ?? expect.fail('no file');
    for (const at of INSTANTS) {
      const seen = await rows(rule, at);
      const { instances } = await evaluations.grafana(file, at);
      const label = labelOf(rule);
      const fromGrafana = instances.map(({ labels, values, firing }) => ({
        gateway: labels['gateway'] ?? '',
        slice: labels['slice'] ?? WHOLE,
        label: label === null ? '' : (labels[label] ?? ''),
        firing,
        as_of: values['as_of'],
        compared: values['affected'] ?? values['counted'] ?? values['number'],
        n: values['seen'] ?? values['expected'] ?? 0,
        limit: firing ? values['limit'] : null,
      }));
      const written = seen.map((row) => ({
        gateway: row.gateway,
        slice: row.slice,
        label: row.label,
        firing: row.breach === 1,
        as_of: at / 1000,
        compared: row.number ?? row.affected,
        n: { share: row.seen, drop: row.expected ?? 0, gauge: 0 }[rule.kind],
        limit: row.breach === 1 ? row.limit : null,
      }));
      const placeOf = (one: { gateway: string; slice: string; label: string }): string =>
        `${one.gateway} ${one.slice} ${one.label}`;
      const byPlace = <T extends { gateway: string; slice: string; label: string }>(all: readonly T[]) =>
        all.toSorted((a, b) => placeOf(a).localeCompare(placeOf(b)));
      expect(byPlace(fromGrafana)).toEqual(
        byPlace(written).map((row) => ({
          ...row,
          n: expect.closeTo(row.n, 3),
          limit: row.limit === null ? null : expect.closeTo(row.limit, 6),
        })),
      );
      const wholes = seen.filter(({ slice }) => slice === WHOLE);
      if (rule.kind !== 'gauge') expect(wholes).toHaveLength(gateways.length * rowsOfGateway(rule));
    }
  });

  if (rule.kind === 'gauge') return;

  it('names as many orders as it counts, and counts as many as are there', async () => {
    let compared = 0;
    for (const at of INSTANTS.filter((_, n) => n % 12 === 8))
      for (const row of await rows(rule, at)) {
        if (row.affected === 0 && compared > 5) continue;
        compared += 1;
        const orders = await numberOf(
          `SELECT count() AS n FROM gatewatch.incident_orders(rule='${rule.name}', gateway='${row.gateway}', from=${time(row.window_from)}, to=${time(row.window_to)}, as_of=${time(row.as_of)}) WHERE label = '${row.label}' AND ${sliceCondition(row.slice)}`,
        );
        expect([rule.name, row, orders]).toEqual([rule.name, row, row.affected]);
        if (rule.count.from.kind !== 'items' || row.slice !== WHOLE) continue;
        const label = rule.count.counts.find((one) => one.label === row.label) ?? expect.fail('no label');
        const { seen } = conditionsOf(rule.count, label);
        expect(
          await numberOf(
            `SELECT uniqExact(order_type, external_id) AS n FROM gatewatch.history_events WHERE gateway = '${row.gateway}' AND event_time >= ${time(row.window_from)} AND event_time < ${time(row.window_to)} AND observed_at <= ${time(row.as_of)} AND ifNull(${seen}, 0)`,
          ),
        ).toBe(row.seen);
      }
    expect(compared).toBeGreaterThan(5);
  });

  it('says its numbers in the sentence of the page', async () => {
    for (const at of INSTANTS)
      for (const row of await rows(rule, at)) {
        const sentence = sentenceOf(rule, row);
        if (rule.kind === 'share')
          expect(sentence).toContain(`${grouped(row.affected)} of ${grouped(row.seen)} orders`);
        else expect(sentence).toContain(`${grouped(row.seen)} orders ${rule.countedOrders}`);
      }
  });
});

it('a panel shows the share that the rule saw, beside the limit that it had', async () => {
  const { targets } = panelNamed('Orders with timeouts, share by stage');
  const at = NOW + 5 * MINUTE;
  const seen = (await evaluations.rows(at)).filter((row) => row.rule === 'GatewatchTechTimeouts');
  const range = { from: new Date(at), to: new Date(at + MINUTE), intervalMs: MINUTE };
  const sql = expandPanelSql(targets?.[0]?.rawSql ?? '', range);
  const { data } = await store.query(sql);
  expect(data.length).toBeGreaterThan(0);
  for (const row of data)
    expect(seen).toContainEqual(
      expect.objectContaining({
        gateway: row['gateway'],
        label: row['stage'],
        share: row['share'],
        seen: Number(row['orders']),
      }),
    );
});

/** Of thresholds one is judged, of other labels each. */
const rowsOfGateway = (rule: CountingRule): number =>
  rule.kind === 'share' && rule.threshold !== undefined ? 1 : rule.count.counts.length;
