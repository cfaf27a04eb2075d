import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { evaluateRule, type RuleEvaluation } from '../../support/grafana/evaluate-rule.ts';
import { loadRules } from '../../support/grafana/rule-file.ts';
import { renderTemplate } from '../../support/grafana/template.ts';
import type { AlertRuleName } from '../../../schemas/names.ts';
import { type SeededStore, startSeededStore } from '../../support/seed-store.ts';
import { evaluationRow } from '../support/evaluation-row.ts';
import { MINUTE, NOW } from '../traffic.ts';

/** What Grafana makes of evaluations that are written by hand: the generated file, on the real engine. */
const OUT = fileURLToPath(new URL('../../../alerts/out/provisioning/alerting', import.meta.url));
const TIMEOUTS = { rule: 'GatewatchTechTimeouts', kind: 'share', asOf: NOW } as const;
const DROP = { rule: 'GatewatchTrafficDrop', kind: 'drop', gateway: 'acme-eu' } as const;
const BEHIND = { rule: 'GatewatchPictureBehind', kind: 'gauge', asOf: NOW } as const;
const BURN = { rule: 'GatewatchTechnicalBurnSlow', kind: 'share', gateway: 'acme-eu' } as const;
const HEARTBEAT = { rule: 'GatewatchHeartbeat', kind: 'gauge', gateway: '', limit: 0, number: 1 } as const;
const AS_OF = NOW / 1000;

let store: SeededStore;
beforeAll(async () => {
  store = await startSeededStore();
  const hit = { seen: 40, affected: 12, limit: 5 };
  const slow = { seen: 3000, affected: 70, limit: 60, breach: 1 } as const;
  await store.seed({
    rows: {
      alertEvaluations: [
        { ...TIMEOUTS, gateway: 'acme-eu', label: 'CHECK', ...hit, breach: 1 as const },
        { ...TIMEOUTS, gateway: 'acme-eu', label: 'GATEWAY_CREATE', seen: 90, affected: 2, limit: 14 },
        // As if it were a breach: the limit is beyond reach all the same.
        { ...TIMEOUTS, gateway: 'off', label: 'CHECK', ...hit, suppressedBy: 'settings' },
        { ...TIMEOUTS, gateway: 'quiet', label: 'CHECK', seen: 0, affected: 0, limit: 5 },
        // The evaluation before: only the newest counts.
        { ...TIMEOUTS, asOf: NOW - MINUTE, gateway: 'acme-eu', label: 'CHECK', ...hit, affected: 39 },
        { ...DROP, asOf: NOW, seen: 7, affected: 7, expected: 40.5, limit: 12, breach: 1 as const },
        { ...DROP, asOf: NOW, gateway: 'new', seen: 0, affected: 0, expected: 0, limit: -1 },
        { ...BEHIND, gateway: 'acme-eu', limit: 300, number: 412.5, breach: 1 as const },
        { ...BEHIND, gateway: 'fine', limit: 300, number: 0.25 },
        { ...BURN, asOf: NOW - 9 * MINUTE, ...slow },
        { ...HEARTBEAT, asOf: NOW - 2 * MINUTE, breach: 1 as const },
      ].map((row) => evaluationRow(row)),
    },
  });
});
afterAll(() => store?.stop());

const ruleOf = (title: AlertRuleName) =>
  loadRules(OUT).find((one) => one.title === title) ?? expect.fail(`no rule ${title}`);
const evaluate = (title: AlertRuleName, now = NOW): Promise<RuleEvaluation> =>
  evaluateRule(ruleOf(title), { now: new Date(now), query: store.query });
async function numbers(title: AlertRuleName, now = NOW) {
  const { instances } = await evaluate(title, now);
  return instances.map(({ labels, values, firing }) => ({ labels, ...values, firing }));
}

describe('what Grafana reads of an evaluation', () => {
  it('are the numbers of a share, exactly', async () => {
    const all = await numbers('GatewatchTechTimeouts');
    expect(all).toHaveLength(4);
    const of = (gateway: string, stage: string) =>
      all.find(({ labels }) => labels['gateway'] === gateway && labels['stage'] === stage);
    const instants = { as_of: AS_OF, link_from: AS_OF - 21_600 };
    const seen = (affected: number, n: number, limit: number, share: number) =>
      expect.objectContaining({ affected, seen: n, limit, share, ...instants });
    expect(of('acme-eu', 'CHECK')).toEqual(seen(12, 40, 5, 0.3));
    expect(of('acme-eu', 'CHECK')).toMatchObject({ breach: 1, firing: true });
    expect(of('acme-eu', 'GATEWAY_CREATE')).toEqual(seen(2, 90, 14, 2 / 90));
    expect(of('off', 'CHECK')).toEqual(seen(12, 40, 13, 0.3));
    expect(of('quiet', 'CHECK')).toEqual(seen(0, 0, 5, 0));
    for (const silent of [of('acme-eu', 'GATEWAY_CREATE'), of('off', 'CHECK'), of('quiet', 'CHECK')])
      expect(silent).toMatchObject({ breach: 0, firing: false });
  });

  it('are the numbers of a drop, exactly', async () => {
    expect(await numbers('GatewatchTrafficDrop')).toMatchObject([
      { labels: { gateway: 'acme-eu' }, counted: 7, expected: 40.5, limit: 12, breach: 1, as_of: AS_OF },
      { labels: { gateway: 'new' }, counted: 0, expected: 0, limit: -1, breach: 0, as_of: AS_OF },
    ]);
  });

  it('are the number of a gauge and its limit', async () => {
    expect(await numbers('GatewatchPictureBehind')).toMatchObject([
      { labels: { gateway: 'acme-eu' }, number: 412.5, limit: 300, breach: 1, as_of: AS_OF },
      { labels: { gateway: 'fine' }, number: 0.25, limit: 300, breach: 0, as_of: AS_OF },
    ]);
  });

  it('make the texts of the page', async () => {
    const rule = ruleOf('GatewatchTechTimeouts');
    const { instances } = await evaluate('GatewatchTechTimeouts');
    const page = instances.find(({ firing }) => firing) ?? expect.fail('nothing fires');
    expect(renderTemplate(rule.annotations['description'] ?? '', page)).toContain(
      'acme-eu CHECK: 12 of 40 orders (30%) timed out (reason 11), in the window before ' +
        '2026-03-02 12:00:00 +0000 UTC. It fires from 5 of 40 on.',
    );
    const url = new URL(renderTemplate(rule.annotations['orders_url'] ?? '', page), 'https://a.test');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      from: `${NOW - 21_600_000}`,
      to: `${NOW}`,
      'var-rule': 'GatewatchTechTimeouts',
      'var-gateway': 'acme-eu',
      'var-label': 'CHECK',
      'var-slice': '',
      'var-as_of': `${AS_OF}`,
    });
  });
});

describe('when evaluations stop', () => {
  const HOUR = 60 * MINUTE;

  it('alerts keep what was seen last, for a day, and then the state that they had', async () => {
    expect(await numbers('GatewatchTechTimeouts', NOW + 23 * HOUR)).toEqual(
      await numbers('GatewatchTechTimeouts'),
    );
    const later = await evaluate('GatewatchTechTimeouts', NOW + 25 * HOUR);
    expect(later).toMatchObject({ noData: true, rule: { noDataState: 'KeepLast' } });
  });

  it('rules of the slow group hold their row between two evaluations', async () => {
    expect(await numbers('GatewatchTechnicalBurnSlow')).toMatchObject([
      { affected: 70, seen: 3000, limit: 60, as_of: AS_OF - 540, firing: true },
    ]);
  });

  it('one rule says so, from three minutes on, and also when there never was one', async () => {
    const age = async (now: number) =>
      (await evaluate('GatewatchEvaluationsLate', now)).instances.map(({ values, firing }) => ({
        number: values['number'],
        firing,
      }));
    expect(await age(NOW + MINUTE)).toEqual([{ number: 180, firing: false }]);
    expect(await age(NOW + MINUTE + 1000)).toEqual([{ number: 181, firing: true }]);
    expect(await age(NOW + 48 * HOUR)).toEqual([{ number: 86_400, firing: true }]);
  });

  it('the heartbeat fires while they come, and falls silent with them', async () => {
    expect(await numbers('GatewatchHeartbeat')).toMatchObject([{ number: 1, firing: true }]);
    const silent = await evaluate('GatewatchHeartbeat', NOW + 4 * MINUTE);
    expect(silent).toMatchObject({ noData: true, rule: { noDataState: 'OK' } });
  });
});
