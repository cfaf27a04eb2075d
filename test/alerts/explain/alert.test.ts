import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { advance } from '../../../alerts/evaluate/alert-state.ts';
import { instanceOf, numbersOf } from '../../../alerts/evaluate/instance.ts';
import { loadRules } from '../../support/grafana/rule-file.ts';
import { ruleTiming } from '../../../alerts/evaluate/timing.ts';
import { alertOf, ruleLabels } from '../../../alerts/explain/alert.ts';
import type { PageSettings } from '../../../alerts/explain/page.ts';
import { RULES } from '../../../alerts/rules/all.ts';
import { evaluation, ruleNamed } from '../support/evaluations.ts';

const OUT = fileURLToPath(new URL('../../../alerts/out/provisioning/alerting', import.meta.url));
const rule = ruleNamed('GatewatchTechTimeouts', { pendingSeconds: 0 });
const AS_OF = Date.UTC(2026, 10, 21, 10, 15);

function memoryOf() {
  const row = evaluation(rule, AS_OF, { breach: 1, window_to: AS_OF * 1000 - 29_999_999 });
  const outcome = { kind: 'instances', instances: [instanceOf(rule, row)] } as const;
  const [memory = expect.fail('no alert')] = advance(ruleTiming(rule), new Map(), outcome, AS_OF).alerts;
  expect(numbersOf(rule, memory)).toMatchObject({
    window_to: row.window_to,
    gateway: 'acme-eu',
    label: 'CHECK',
  });
  return memory;
}
const alertWith = (page: PageSettings) => alertOf(rule, memoryOf(), page) ?? expect.fail('no alert');

it("says since when, and until when, by the reader's clocks beside UTC", () => {
  const page = { externalUrl: '', timeZone: 'Europe/Berlin' };
  expect(alertWith(page).annotations).toMatchObject({
    since: 'began and fired at 2026-11-21 10:15:00 UTC (11:15:00 Europe/Berlin)',
  });
  const over = { ...memoryOf(), state: 'Normal', resolvedAt: AS_OF + 60_000 } as const;
  expect(alertOf(rule, over, page)?.annotations).toMatchObject({
    ended: '2026-11-21 10:16:00 UTC (11:16:00 Europe/Berlin)',
  });
  // Receivers know UTC.
  const { annotations } = alertWith({ externalUrl: '', timeZone: 'Etc/UTC' });
  expect([annotations['since'], annotations['ended']]).toEqual([
    'began and fired at 2026-11-21 10:15:00 UTC',
    undefined,
  ]);
});

it('says when its condition began to hold, where the rule waits before it fires', () => {
  const patient = { ...rule, pendingSeconds: 90 };
  expect(alertOf(patient, memoryOf(), { externalUrl: '' })?.annotations['since']).toBe(
    'began at 2026-11-21 10:13:30 UTC, fired at 2026-11-21 10:15:00 UTC',
  );
});

it('says that it recovers, and since when', () => {
  const recovering = { ...memoryOf(), state: 'Recovering', startsAt: AS_OF + 300_000 } as const;
  expect(alertOf(rule, recovering, { externalUrl: '' })?.annotations['since']).toMatch(
    /^began and fired at .* UTC; recovering since 10:20 UTC$/,
  );
});

it('links to Grafana wherever it is', () => {
  const { annotations } = alertWith({ externalUrl: 'https://grafana.shop.de' });
  for (const name of ['dashboard_url', 'orders_url', 'runbook_url'])
    expect(annotations[name]).toMatch(/^https:\/\/grafana\.shop\.de\/d\/gatewatch-/);
});

it('links within Grafana while its address is not known, and to runbooks where they are kept', () => {
  const { annotations } = alertWith({ externalUrl: '', runbookUrl: 'https://git.shop.de/runbooks' });
  expect(annotations['orders_url']).toMatch(/^\/d\/gatewatch-incident\?/);
  expect(annotations['runbook_url']).toBe(`https://git.shop.de/runbooks/${rule.name}.md`);
});

it('has the labels by which Grafana routes the same rule', () => {
  expect(alertWith({ externalUrl: '' }).labels).toEqual({
    alertname: rule.name,
    gateway: 'acme-eu',
    stage: 'CHECK',
    severity: 'critical',
    side: 'provider',
    service: 'gatewatch',
  });
  const generated = new Map(loadRules(OUT).map(({ title, labels }) => [title, labels]));
  for (const one of RULES) expect(generated.get(one.name)).toEqual(ruleLabels(one));
});
