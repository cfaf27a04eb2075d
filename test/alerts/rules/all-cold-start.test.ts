import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadRules } from '../../support/grafana/rule-file.ts';
import { type SeededStore, startSeededStore } from '../../support/seed-store.ts';
import { type Evaluations, evaluationsOf } from '../support/evaluation.ts';
import { MINUTE, NOW, PAID, traffic } from '../traffic.ts';

const DECLINED = ['1.0.0.00', '1.1.1.00', '2.1.1.00', '4.1.4.41'];

const OUT = fileURLToPath(new URL('../../../alerts/out/provisioning/alerting', import.meta.url));
const GATEWAYS = ['gone', 'half', 'steady', 'quiet', 'new'];

let store: SeededStore;
let evaluations: Evaluations;
beforeAll(async () => {
  store = await startSeededStore();
  evaluations = evaluationsOf(store);
  const orders = (
    gateway: string,
    aMinute: number,
    fromMinute: number,
    toMinute: number,
    codes: readonly string[] = PAID,
  ) =>
    traffic({
      gateway,
      orders: Math.round(aMinute * (fromMinute - toMinute)),
      from: NOW - fromMinute * MINUTE,
      to: NOW - toMinute * MINUTE,
      codes: () => codes,
    });
  // Known since this morning: there are no other weeks to compare with.
  await store.seed({
    orders: [
      ...orders('gone', 10, 240, 20),
      ...orders('half', 10, 240, 20),
      ...orders('half', 5, 20, 0),
      ...orders('steady', 10, 240, 0),
      ...orders('quiet', 0.2, 240, 20),
      // Known for three quarters of an hour, and antifraud declines some of its orders all the time.
      ...orders('new', 10, 45, 0),
      ...orders('new', 0.3, 40, 0, DECLINED),
    ],
    gatewayStatus: GATEWAYS.map((gateway) => ({
      gateway,
      reportedAt: NOW - 5000,
      watermarkAt: NOW - 5000,
    })),
  });
});
afterAll(() => store?.stop());

/** By gateway: does the rule fire? */
async function firing(name: string): Promise<Record<string, boolean>> {
  const rule = loadRules(OUT).find(({ title }) => title === name) ?? expect.fail('no such rule');
  const { instances } = await evaluations.grafana(rule, NOW);
  return Object.fromEntries(instances.map(({ labels, firing: fires }) => [labels['gateway'], fires]));
}

it('a traffic drop is noticed before there are weeks to compare with, when hardly anything is left', async () => {
  expect(await firing('GatewatchTrafficDrop')).toEqual({
    gone: true,
    half: false,
    steady: false,
    quiet: false,
    new: false,
  });
});

it('a gateway that has just been added is not called silent by windows in which it was not yet known', async () => {
  expect(await firing('GatewatchAntifraudSilent')).toMatchObject({ new: false });
});
