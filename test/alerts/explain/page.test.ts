import { expect, it } from 'vitest';
import { panelId } from '../../../dashboards/house/ids.ts';
import { pageOf } from '../../../alerts/explain/page.ts';
import { RULES } from '../../../alerts/rules/all.ts';
import { evaluation, ruleNamed } from '../support/evaluations.ts';

const AS_OF = Date.UTC(2026, 10, 21, 10, 15);
const LINKS = { externalUrl: 'https://grafana.shop.de' };

it('says what, how bad, since when, whose side and what to do first', () => {
  const rule = ruleNamed('GatewatchTechTimeouts');
  const page = pageOf(rule, evaluation(rule, AS_OF, { window_to: AS_OF * 1000 - 29_999_999 }), LINKS);
  expect(page['summary']).toBe(rule.summary);
  expect(page['description']).toBe(
    `acme-eu CHECK: 12 of 40 orders (30%) ${rule.kind === 'share' ? rule.affectedOrders : ''} between 2026-11-21 10:09:30 ` +
      `and 2026-11-21 10:14:30 UTC. It fires from 9 of 40 on. ${rule.explanation}`,
  );
  expect(page['side']).toBe('the provider behind the gateway');
  expect(page['steps']).toMatch(/^1\. .*\n2\. .*\n3\. /);
});

it("shows times by the reader's clocks beside UTC", () => {
  const settings = { ...LINKS, timeZone: 'Pacific/Auckland' };
  const timeouts = ruleNamed('GatewatchTechTimeouts');
  expect(pageOf(timeouts, evaluation(timeouts, AS_OF), settings)['description']).toContain(
    ' between 2026-11-21 10:09:30 and 2026-11-21 10:14:30 UTC (23:09:30 and 23:14:30 Pacific/Auckland). ',
  );
  const behind = ruleNamed('GatewatchPictureBehind');
  const later = evaluation(behind, AS_OF + 3_600_000, { number: 300, limit: 120 });
  expect(pageOf(behind, later, settings)['description']).toContain(
    ' at 2026-11-21 11:15:00 UTC (2026-11-22 00:15:00 Pacific/Auckland). ',
  );
});

it('says what is usual and what the limit is, each by its name', () => {
  const rule = ruleNamed('GatewatchIssuerDeclines');
  const row = evaluation(rule, AS_OF, { seen: 1_462, affected: 160, expected: 7.2, limit: 135 });
  expect(pageOf(rule, row, LINKS)['description']).toContain(
    'About 7 are usual. It fires from 135 of 1462 on.',
  );
});

it('leads to exactly its orders', () => {
  const rule = ruleNamed('GatewatchTechTimeouts');
  const page = pageOf(rule, evaluation(rule, AS_OF, { window_to: AS_OF * 1000 - 29_999_999 }), LINKS);
  expect(page['orders_sql']).toBe(
    "SELECT * FROM gatewatch.incident_orders(rule='GatewatchTechTimeouts', gateway='acme-eu', from='1795255770.000000', " +
      "to='1795256070.000001', as_of='1795256100.000000') WHERE label = 'CHECK'",
  );
  expect(page['orders_url']).toBe(
    'https://grafana.shop.de/d/gatewatch-incident?from=1795255469999&to=1795256100000&var-rule=GatewatchTechTimeouts' +
      '&var-gateway=acme-eu&var-label=CHECK&var-as_of=2026-11-21+10%3A15%3A00',
  );
});

it('says of a drop what is usual, and of a number what is tolerated', () => {
  const drop = ruleNamed('GatewatchTrafficDrop');
  const row = evaluation(drop, AS_OF, { seen: 7, affected: 7, expected: 55.4, limit: 20 });
  expect(pageOf(drop, row, LINKS)['description']).toMatch(
    /^acme-eu: 7 orders .* when about 55 are usual\. 20 or fewer are beyond chance\. /,
  );
  const gauge = ruleNamed('GatewatchCollectorSilent');
  expect(pageOf(gauge, evaluation(gauge, AS_OF, { number: 300, limit: 120 }), LINKS)['description']).toMatch(
    /^acme-eu: 300 seconds .* at 2026-11-21 10:15:00 UTC\. Up to 120 are tolerated\. /,
  );
});

it('leads to the panel that shows the same, else to the incident', () => {
  for (const rule of RULES) {
    const url = pageOf(rule, evaluation(rule, AS_OF), LINKS)['dashboard_url'] ?? '';
    expect(url).toContain(`viewPanel=panel-${panelId(rule.panel ?? 'incident-seen')}`);
    expect(URL.canParse(url)).toBe(true);
  }
});
