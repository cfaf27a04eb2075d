import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AlertInstance, RuleEvaluation } from '../support/grafana/evaluate-rule.ts';
import { loadRules, type ProvisionedRule } from '../support/grafana/rule-file.ts';
import { RULES } from '../../alerts/rules/all.ts';
import { type SeededStore, startSeededStore } from '../support/seed-store.ts';
import { type Evaluations, evaluationsOf } from './support/evaluation.ts';
import { merge, SCENARIOS } from './scenarios.ts';
import { MINUTE, NOW, PAID, traffic } from './traffic.ts';

const OUT = fileURLToPath(new URL('../../alerts/out/provisioning/alerting', import.meta.url));
const rules = new Map(loadRules(OUT).map((rule) => [rule.title, rule]));
const rule = (title: string): ProvisionedRule => rules.get(title) ?? expect.fail(`no rule ${title}`);

/** One gateway per rule and situation, so that one evaluation covers all of them. */
const gateway = (title: string, situation: string): string =>
  `${title.replace('Gatewatch', '').toLowerCase()}-${situation}`;
/** Stopped answering us twenty minutes ago, in the middle of its incident. */
const BLIND_AT = NOW - 20 * MINUTE;
const seeds = SCENARIOS.flatMap(({ rule: title, seed, minimum = 6 }) => [
  seed(gateway(title, 'healthy'), 0, 80, NOW - MINUTE),
  seed(gateway(title, 'incident'), 70, 10, NOW - MINUTE),
  seed(gateway(title, 'few'), minimum - 1, 0, NOW - MINUTE),
  seed(gateway(title, 'blind'), 70, 10, BLIND_AT),
]);
const seeing = SCENARIOS.flatMap(({ rule: title }) =>
  ['healthy', 'incident', 'few'].map((one) => gateway(title, one)),
);

let store: SeededStore;
let evaluations: Evaluations;
beforeAll(async () => {
  store = await startSeededStore();
  evaluations = evaluationsOf(store);
  await store.seed(
    merge([
      ...seeds,
      {
        orders: traffic({
          gateway: 'late',
          orders: 80,
          from: NOW - 10 * MINUTE,
          to: NOW - MINUTE,
          codes: () => PAID,
          observedAfterMs: 15 * MINUTE,
        }),
      },
      {
        gatewayStatus: [
          ...[...seeing, 'quiet', 'late'].map((one) => ({
            gateway: one,
            reportedAt: NOW - 5000,
            watermarkAt: NOW - 5000,
          })),
          // Two collectors: one that stopped long ago does not hold back the other.
          {
            gateway: 'quiet',
            collectorId: 'collector-0',
            reportedAt: NOW - 50 * MINUTE,
            watermarkAt: NOW - 50 * MINUTE,
          },
          ...SCENARIOS.flatMap(({ rule: title }) => [
            {
              gateway: gateway(title, 'blind'),
              reportedAt: NOW - 21 * MINUTE,
              watermarkAt: NOW - 21 * MINUTE,
            },
            { gateway: gateway(title, 'blind'), reportedAt: NOW - 5000, watermarkAt: BLIND_AT },
            // Reports of the future are not known yet.
            { gateway: gateway(title, 'blind'), reportedAt: NOW + MINUTE, watermarkAt: NOW + MINUTE },
          ]),
        ],
      },
    ]),
  );
});
afterAll(() => store?.stop());

const evaluated = new Map<string, Promise<RuleEvaluation>>();
/** Each rule and instant once: there are many gateways in it. */
function evaluate(title: string, at: number = NOW): Promise<RuleEvaluation> {
  const key = `${title} ${at}`;
  const known = evaluated.get(key) ?? evaluations.grafana(rule(title), at);
  evaluated.set(key, known);
  return known;
}

function instance({ instances }: RuleEvaluation, labels: Readonly<Record<string, string>>): AlertInstance {
  const found = instances.filter(
    (one) =>
      one.labels['slice'] === labels['slice'] &&
      Object.entries(labels).every(([name, value]) => one.labels[name] === value),
  );
  const [only] = found;
  if (only === undefined || found.length > 1)
    throw new Error(`${found.length} instances have ${JSON.stringify(labels)}`);
  return only;
}

describe.each(SCENARIOS)('$rule', ({ rule: title, labels = {}, own = false, minimum = 6 }) => {
  const at = (situation: string) => ({ gateway: gateway(title, situation), ...labels });

  it('is silent for a healthy gateway, with a row that says so', async () => {
    const { instances } = await evaluate(title);
    const healthy = instances.filter((one) => one.labels['gateway'] === gateway(title, 'healthy'));
    expect(healthy.length).toBeGreaterThan(0);
    expect(healthy.filter(({ firing }) => firing)).toEqual([]);
    expect(instance(await evaluate(title), at('healthy')).values['affected']).toBe(0);
  });

  it('fires in an incident, for the right labels, with the numbers of the page', async () => {
    const { firing, values } = instance(await evaluate(title), at('incident'));
    expect(values).toMatchObject({ affected: 70, as_of: NOW / 1000, firing: 1 });
    expect(values['limit']).toBeLessThanOrEqual(70);
    expect(values['share']).toBeCloseTo(70 / (values['seen'] ?? 0), 6);
    expect(values['window_from']).toBeLessThan(values['window_to'] ?? 0);
    expect(firing).toBe(true);
  });

  it('is silent on fewer orders than it takes, were they all affected', async () => {
    const { firing, values } = instance(await evaluate(title), at('few'));
    expect(values['affected']).toBe(minimum - 1);
    expect(firing).toBe(false);
  });

  it.runIf(!own)('keeps its value while the gateway is blind, however late it is evaluated', async () => {
    const now = instance(await evaluate(title), at('blind'));
    expect(now.firing).toBe(true);
    const later = instance(await evaluate(title, NOW + 30_000), at('blind'));
    const seen = ({ values }: AlertInstance) =>
      ['affected', 'seen', 'limit', 'share', 'window_from', 'window_to'].map((name) => values[name]);
    expect(seen(later)).toEqual(seen(now));
    expect(later.firing).toBe(true);
  });

  it('names orders that are exactly those of the page', async () => {
    const { values, labels: found } = instance(await evaluate(title), at('incident'));
    const label = Object.entries(found).find(([name]) => name !== 'gateway')?.[1] ?? '';
    const instant = (name: string) => `'${(values[name] ?? 0).toFixed(6)}'`;
    const { data } = await store.query(
      `SELECT count() AS orders, uniqExact(external_id) AS ids FROM gatewatch.incident_orders(rule='${title}', gateway='${gateway(title, 'incident')}', from=${instant('window_from')}, to=${instant('window_to')}, as_of=${instant('as_of')}) WHERE label = '${label}'`,
    );
    expect(data.map(({ orders, ids }) => [Number(orders), Number(ids)])).toEqual([
      [values['affected'], values['affected']],
    ]);
    const population = await store.query(
      `SELECT count() AS seen, countIf(affected = 1) AS hit FROM gatewatch.incident_population(rule='${title}', gateway='${gateway(title, 'incident')}', from=${instant('window_from')}, to=${instant('window_to')}, as_of=${instant('as_of')}) WHERE label = '${label}'`,
    );
    expect(population.data.map(({ seen, hit }) => [Number(seen), Number(hit)])).toEqual([
      [values['seen'], values['affected']],
    ]);
  });
});

describe('every rule over orders', () => {
  it('has a scenario', () => {
    const shares = RULES.filter(({ kind }) => kind === 'share').map(({ name }) => name);
    expect(SCENARIOS.map(({ rule: title }) => title).toSorted()).toEqual([...shares].toSorted());
  });

  it('does not count what was first seen after the instant that is evaluated', async () => {
    const { values } = instance(await evaluate('GatewatchApprovalDrop'), { gateway: 'late' });
    expect(values).toMatchObject({ seen: 0 });
  });

  it('forgets a gateway that nobody has reported on for a week, and has no data when none is known', async () => {
    expect(await evaluate('GatewatchTechTimeouts', NOW + 8 * 86_400_000)).toMatchObject({
      noData: true,
      instances: [],
    });
    expect(await evaluate('GatewatchTechTimeouts', NOW - 86_400_000)).toMatchObject({ noData: true });
  });
});

describe('every rule', () => {
  it.each([...rules.keys()])(
    '%s asks a short question, with labels that name one row only',
    async (title) => {
      const { instances } = await evaluate(title);
      expect(new Set(instances.map((one) => JSON.stringify(one.labels))).size).toBe(instances.length);
      for (const { model } of rule(title).data)
        if ('rawSql' in model) expect(model.rawSql.length).toBeLessThan(500);
    },
  );
});
