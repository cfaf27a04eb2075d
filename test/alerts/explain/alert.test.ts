import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { advance } from '../../../alerts/evaluate/alert-state.ts';
import { loadRules } from '../../../alerts/evaluate/rule-file.ts';
import { timingOf } from '../../../alerts/evaluate/timing.ts';
import { alertOf, type AlertTexts } from '../../../alerts/explain/alert.ts';

const OUT = fileURLToPath(new URL('../../../alerts/out/provisioning/alerting', import.meta.url));
const [rule = expect.fail('no rule')] = loadRules(OUT);

function annotationsOf(texts: AlertTexts): Readonly<Record<string, string>> {
  const outcome = {
    kind: 'instances',
    instances: [{ labels: { gateway: 'acme-eu', stage: 'CHECK' }, firing: true, values: {} }],
  } as const;
  const [memory = expect.fail('no alert')] = advance(
    { ...timingOf(rule), forMs: 0 },
    new Map(),
    outcome,
    0,
  ).alerts;
  return alertOf(rule, memory, texts)?.annotations ?? {};
}

it('links to Grafana wherever it is, and leaves out what is only for Grafana', () => {
  const annotations = annotationsOf({ externalUrl: 'https://grafana.shop.de' });
  for (const name of ['dashboard_url', 'orders_url', 'runbook_url'])
    expect(annotations[name]).toMatch(/^https:\/\/grafana\.shop\.de\/d\/gatewatch-/);
  expect(Object.keys(annotations).filter((name) => name.startsWith('__'))).toEqual([]);
});

it('links within Grafana while its address is not known, and to runbooks where they are kept', () => {
  const annotations = annotationsOf({ externalUrl: '', runbookUrl: 'https://git.shop.de/runbooks' });
  expect(annotations['orders_url']).toMatch(/^\/d\/gatewatch-incident\?/);
  expect(annotations['runbook_url']).toBe(`https://git.shop.de/runbooks/${rule.title}.md`);
});
