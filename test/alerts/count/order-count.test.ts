import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RuleEvaluation } from '../../support/grafana/evaluate-rule.ts';
import { loadRules } from '../../support/grafana/rule-file.ts';
import { dateTime64, type SeededStore, type SeedOrder, startSeededStore } from '../../support/seed-store.ts';
import { type Evaluations, evaluationsOf } from '../support/evaluation.ts';
import { MINUTE, NOW, PAID } from '../traffic.ts';

const OUT = fileURLToPath(new URL('../../../alerts/out/provisioning/alerting', import.meta.url));
const SECOND = 1000;

type Item = readonly [atMs: number, action: string];
/** Orders that all have these items, each known a second after it happened. */
const orders = (gateway: string, count: number, items: readonly Item[]): SeedOrder[] =>
  Array.from({ length: count }, (_, n) => ({
    gateway,
    externalId: `${gateway}-${n}`,
    items: items.map(([at, action]) => ({ at, action, observedAt: at + SECOND })),
  }));
const paidAt = (at: number): Item[] => PAID.map((action, n) => [at - (PAID.length - 1 - n) * SECOND, action]);
const UNCONFIRMED = PAID.slice(0, -1);
const unconfirmedAt = (at: number): Item[] =>
  UNCONFIRMED.map((action, n) => [at - (UNCONFIRMED.length - 1 - n) * SECOND, action]);

const CALLBACKS = 'GatewatchMerchantCallbackMissing';
const REREADS = 'GatewatchRereadCoverage';
/** When the orders were decided that are judged now. */
const DECIDED = NOW - 14 * MINUTE;
const LONGEST_WINDOW = 180 * MINUTE;
const COUNT = 40;

const history = {
  // 58 of 434 paid orders were taken for unconfirmed, since a late item repeated their success.
  repeated: [...paidAt(DECIDED), [DECIDED + 2 * MINUTE, '4.1.3.00'], [DECIDED + 3 * MINUTE, '5.1.3.00']],
  'repeated-within-window': [
    ...paidAt(NOW - LONGEST_WINDOW - 15 * MINUTE),
    [NOW - LONGEST_WINDOW - 6 * MINUTE, '4.1.3.00'],
  ],
  missing: [...unconfirmedAt(DECIDED), [DECIDED + 2 * MINUTE, '4.1.3.00']],
  'late-callback': [...unconfirmedAt(DECIDED), [DECIDED + 2 * MINUTE, '6.1.1.00']],
  // The failure was confirmed, the success was not.
  reversed: [
    [DECIDED - 3 * MINUTE, '2.2.4.11'],
    [DECIDED - 2 * MINUTE, '6.1.1.00'],
    [DECIDED, '4.1.3.00'],
  ],
} satisfies Record<string, Item[]>;

/** Re-reads of the demo and of a patient configuration, as settings; see `alerts/settings.ts`. */
const REREAD_SETTINGS = {
  hurried: { rereadFromSeconds: 22, judgedAfterSeconds: 900 },
  'hurried-not-read': { rereadFromSeconds: 22, judgedAfterSeconds: 900 },
  patient: { rereadFromSeconds: 2400, judgedAfterSeconds: 3870 },
  'patient-not-due': { rereadFromSeconds: 2400, judgedAfterSeconds: 3870 },
  'patient-not-read': { rereadFromSeconds: 2400, judgedAfterSeconds: 3870 },
};
/** By gateway: when its orders were decided, and how long after that they were read again. */
const reads: Readonly<Record<string, readonly [decided: number, readonly number[]]>> = {
  usual: [NOW - 18 * MINUTE, [60, 180, 630]],
  'usual-cut': [NOW - 18 * MINUTE, [60, 180]],
  hurried: [NOW - 18 * MINUTE, [4, 12, 32]],
  'hurried-not-read': [NOW - 18 * MINUTE, [4, 12]],
  patient: [NOW - 70 * MINUTE, [60, 1200, 3600]],
  'patient-not-due': [NOW - 18 * MINUTE, [60]],
  'patient-not-read': [NOW - 70 * MINUTE, [60, 1200]],
};

let store: SeededStore;
let evaluations: Evaluations;
beforeAll(async () => {
  store = await startSeededStore();
  evaluations = evaluationsOf(store);
  const gateways = [...Object.keys(history), ...Object.keys(reads)];
  const setting = (gateway: string, rule: string, name: string, value: number) => ({
    gateway,
    rule,
    setting: name,
    value,
    configured_at: dateTime64(NOW - 300 * MINUTE),
  });
  await store.seed({
    orders: [
      ...Object.entries(history).flatMap(([gateway, items]) => orders(gateway, COUNT, items as Item[])),
      ...Object.entries(reads).flatMap(([gateway, [decided]]) => orders(gateway, COUNT, paidAt(decided))),
    ],
    gatewayStatus: gateways.map((gateway) => ({
      gateway,
      reportedAt: NOW - 5 * SECOND,
      watermarkAt: NOW - 5 * SECOND,
    })),
    rows: {
      polls: Object.entries(reads).flatMap(([gateway, [decided, seconds]]) =>
        Array.from({ length: COUNT }).flatMap((_, n) =>
          seconds.map((second) => ({
            gateway,
            started_at: dateTime64(decided + second * SECOND),
            poll_id: `${gateway}-${n}-${second}`,
            endpoint: 'status',
            order_type: 'Deposit',
            order_id: `${gateway}-${n}`,
            id_kind: 'external-id',
            outcome: 'ok',
          })),
        ),
      ),
      alertSettings: [
        ...Object.keys(history).map((gateway) => setting(gateway, CALLBACKS, 'enabled', 1)),
        ...Object.entries(REREAD_SETTINGS).flatMap(([gateway, settings]) =>
          Object.entries(settings).map(([name, value]) => setting(gateway, REREADS, name, value)),
        ),
      ],
    },
  });
});
afterAll(() => store?.stop());

const evaluated = new Map<string, Promise<RuleEvaluation>>();
function evaluate(title: string): Promise<RuleEvaluation> {
  const rule = loadRules(OUT).find((one) => one.title === title) ?? expect.fail(`no rule ${title}`);
  const known = evaluated.get(title) ?? evaluations.grafana(rule, NOW);
  evaluated.set(title, known);
  return known;
}

/** What the rule counts at a gateway, and how many orders its page would list. */
async function counted(title: string, labels: Readonly<Record<string, string>>) {
  const { instances } = await evaluate(title);
  const found = instances.find((one) =>
    Object.entries(labels).every(([name, value]) => one.labels[name] === value),
  );
  const { values, firing } = found ?? expect.fail(`no instance ${JSON.stringify(labels)}`);
  const instant = (name: string) => `'${(values[name] ?? 0).toFixed(6)}'`;
  const { data } = await store.query(
    `SELECT count() AS orders FROM gatewatch.incident_orders(rule='${title}', gateway='${labels['gateway']}', from=${instant('window_from')}, to=${instant('window_to')}, as_of=${instant('as_of')}) WHERE label = '${labels['state'] ?? ''}'`,
  );
  expect(Number(data[0]?.['orders'])).toBe(values['affected']);
  return { affected: values['affected'], seen: values['seen'], firing };
}

describe('a merchant callback', () => {
  it.each([
    ['repeated', { affected: 0, seen: COUNT, firing: false }],
    ['repeated-within-window', { affected: 0, seen: 0, firing: false }],
    ['late-callback', { affected: 0, seen: COUNT, firing: false }],
    ['missing', { affected: COUNT, seen: COUNT, firing: true }],
    ['reversed', { affected: COUNT, seen: COUNT, firing: true }],
  ])('is wanted once after the decision, and not after its late repeats: %s', async (gateway, expected) => {
    expect(await counted(CALLBACKS, { gateway, state: 'SUCCESS' })).toEqual(expected);
  });
});

describe('re-reads', () => {
  it.each([
    ['usual', { affected: 0, seen: COUNT, firing: false }],
    ['usual-cut', { affected: COUNT, seen: COUNT, firing: true }],
    ['hurried', { affected: 0, seen: COUNT, firing: false }],
    ['hurried-not-read', { affected: COUNT, seen: COUNT, firing: true }],
    ['patient', { affected: 0, seen: COUNT, firing: false }],
    ['patient-not-due', { affected: 0, seen: 0, firing: false }],
    ['patient-not-read', { affected: COUNT, seen: COUNT, firing: true }],
  ])('are judged by those that are configured: %s', async (gateway, expected) => {
    expect(await counted(REREADS, { gateway })).toEqual(expected);
  });
});
