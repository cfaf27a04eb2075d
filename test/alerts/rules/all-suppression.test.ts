import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadRules } from '../../support/grafana/rule-file.ts';
import { dateTime64, type SeededStore, startSeededStore } from '../../support/seed-store.ts';
import { type Evaluations, evaluationsOf } from '../support/evaluation.ts';
import { MINUTE, NOW, PAID, traffic } from '../traffic.ts';

const OUT = fileURLToPath(new URL('../../../alerts/out/provisioning/alerting', import.meta.url));
const UNREACHABLE = ['1.0.0.00', '1.1.1.00', '2.2.4.12'];
/**
 * The provider cannot be reached; of two of them the configuration says something about the rule that
 * notices.
 */
const GATEWAYS = ['usual', 'switched-off', 'tolerant'];

let store: SeededStore;
let evaluations: Evaluations;
beforeAll(async () => {
  store = await startSeededStore();
  evaluations = evaluationsOf(store);
  const orders = (gateway: string, count: number, codes: string[], from: number) =>
    traffic({ gateway, orders: count, from, to: NOW - 2 * MINUTE, codes: () => codes });
  const setting = (gateway: string, name: string, value: number) => ({
    gateway,
    rule: 'GatewatchProviderUnreachable',
    setting: name,
    value,
    configured_at: dateTime64(NOW - 60 * MINUTE),
  });
  await store.seed({
    orders: GATEWAYS.flatMap((gateway) => [
      ...orders(gateway, 40, UNREACHABLE, NOW - 5 * MINUTE),
      ...orders(gateway, 40, PAID, NOW - 5 * MINUTE - 1),
    ]),
    gatewayStatus: GATEWAYS.map((gateway) => ({
      gateway,
      reportedAt: NOW - 5000,
      watermarkAt: NOW - 5000,
    })),
    rows: {
      alertSettings: [setting('switched-off', 'enabled', 0), setting('tolerant', 'shareAbove', 0.9)],
    },
  });
});
afterAll(() => store?.stop());

/** Gateways for which the rule fires. */
async function firing(title: string): Promise<string[]> {
  const rule = loadRules(OUT).find((one) => one.title === title) ?? expect.fail(`no rule ${title}`);
  const { instances } = await evaluations.grafana(rule, NOW);
  const names = instances.filter((one) => one.firing).map(({ labels }) => labels['gateway'] ?? '');
  return [...new Set(names)].toSorted();
}

it('a rule that only repeats what another one says is silent, unless that one cannot speak', async () => {
  expect(await firing('GatewatchProviderUnreachable')).toEqual(['usual']);
  expect(await firing('GatewatchTechnicalBurnFast')).toEqual(['switched-off', 'tolerant']);
});
