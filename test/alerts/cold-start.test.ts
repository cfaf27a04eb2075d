import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { evaluateRule, type RuleEvaluation } from '../../collector/alerts/evaluate.ts';
import { loadRules } from '../../collector/alerts/rule-file.ts';
import { type SeededStore, startSeededStore } from '../support/seed-store.ts';
import { MINUTE, NOW, PAID, traffic } from './traffic.ts';

const OUT = fileURLToPath(new URL('../../alerts/out/provisioning/alerting', import.meta.url));
const GATEWAYS = ['gone', 'half', 'steady', 'quiet'];

let store: SeededStore;
let evaluation: RuleEvaluation;
beforeAll(async () => {
  store = await startSeededStore();
  const orders = (gateway: string, aMinute: number, fromMinute: number, toMinute: number) =>
    traffic({
      gateway,
      orders: Math.round(aMinute * (fromMinute - toMinute)),
      from: NOW - fromMinute * MINUTE,
      to: NOW - toMinute * MINUTE,
      codes: () => PAID,
    });
  // Known since this morning: there are no other weeks to compare with.
  await store.seed({
    orders: [
      ...orders('gone', 10, 240, 20),
      ...orders('half', 10, 240, 20),
      ...orders('half', 5, 20, 0),
      ...orders('steady', 10, 240, 0),
      ...orders('quiet', 0.2, 240, 20),
    ],
    gatewayStatus: GATEWAYS.map((gateway) => ({
      gateway,
      reportedAt: NOW - 5000,
      watermarkAt: NOW - 5000,
    })),
  });
  const rule =
    loadRules(OUT).find(({ title }) => title === 'GatewatchTrafficDrop') ?? expect.fail('no such rule');
  evaluation = await evaluateRule(rule, { now: new Date(NOW), query: store.query });
});
afterAll(() => store?.stop());

it('a traffic drop is noticed before there are weeks to compare with, when hardly anything is left', () => {
  const firing = Object.fromEntries(
    evaluation.instances.map(({ labels, firing: fires }) => [labels['gateway'], fires]),
  );
  expect(firing).toEqual({ gone: true, half: false, steady: false, quiet: false });
});
