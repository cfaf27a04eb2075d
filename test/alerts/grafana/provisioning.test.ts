import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ruleGroups } from '../../../alerts/grafana/grafana-rule.ts';
import { INCIDENT_DASHBOARD, incidentDashboard } from '../../../alerts/grafana/incident-dashboard.ts';
import { provisioningFile } from '../../../alerts/grafana/provisioning.ts';
import { runbookDashboard } from '../../../alerts/grafana/runbooks.ts';
import { SEVERITIES, SIDES } from '../../../alerts/rules/rule.ts';
import { RULES } from '../../../alerts/rules/all.ts';
import { refsOf } from '../../support/grafana/math.ts';
import { ruleFileSchema, sdkCheck } from '../../support/grafana-schema.ts';
import { generatedDashboards } from '../../dashboards/generated.ts';

const FILE = fileURLToPath(
  new URL('../../../alerts/out/provisioning/alerting/gatewatch-rules.yaml', import.meta.url),
);
const file = ruleFileSchema.parse(parse(readFileSync(FILE, 'utf8')));
const rules = file.groups.flatMap((group) => group.rules);
/** About evaluations themselves. */
const OUTSIDE: ReadonlySet<string> = new Set(['GatewatchEvaluationsLate', 'GatewatchHeartbeat']);

describe('the rule file', () => {
  it('holds every rule once, under uids and titles that differ', () => {
    expect(rules.map(({ title }) => title).toSorted()).toEqual(RULES.map(({ name }) => name).toSorted());
    expect(new Set(rules.map(({ uid }) => uid)).size).toBe(rules.length);
  });

  it('is what the SDK takes for a rule group, before its names are changed', () => {
    const check = sdkCheck('alerting', 'RuleGroup');
    const [group] = JSON.parse(JSON.stringify(ruleGroups(RULES))) as [{ rules: object[] }];
    expect(check(group)).toEqual([]);
    expect(check({ ...group, rules: [{ ...group.rules[0], noDataState: 'Ok' }] })).not.toEqual([]);
  });

  it('cannot be made of no rules', () => {
    expect(() => provisioningFile(ruleGroups([]), String)).toThrow('no alert rule');
  });
});

describe.each(rules.map((rule) => [rule.title, rule] as const))('rule %s', (title, rule) => {
  it('says what happened, how bad, what to do and where to look', () => {
    expect(rule.annotations['summary']).toMatch(/\.$/);
    if (!OUTSIDE.has(title))
      expect(rule.annotations['description']).toMatch(
        /\.Values\.(affected|counted|number)\.Value.*\.Values\.as_of\.Value.*\.Values\.limit\.Value/s,
      );
    expect(rule.annotations['steps']).toMatch(/^1\. .*\n2\. .*\n3\. /);
    expect(rule.annotations['side']).not.toBe('');
    expect(SIDES).toContain(rule.labels['side']);
    const runbooks = runbookDashboard(RULES).panels ?? [];
    const opened = runbooks.find(({ id }) => rule.annotations['runbook_url']?.endsWith(`=panel-${id}`));
    expect(
      rule.annotations['runbook_url']?.startsWith('{{ externalURL }}d/gatewatch-runbooks?viewPanel='),
    ).toBe(true);
    expect(opened).toMatchObject({ title, options: { content: expect.stringContaining(`# ${title}\n`) } });
    expect(SEVERITIES).toContain(rule.labels['severity']);
    expect(rule.labels['service']).toBe('gatewatch');
  });

  it('links to a panel that exists', () => {
    const ids =
      rule.dashboardUid === INCIDENT_DASHBOARD.uid
        ? (incidentDashboard().panels ?? []).map((panel) => panel.id)
        : generatedDashboards()
            .find(({ uid }) => uid === rule.dashboardUid)
            ?.panels.map(({ id }) => id);
    expect(ids).toContain(rule.panelId);
    expect(rule.annotations['dashboard_url']).toContain(`viewPanel=panel-${rule.panelId}`);
  });

  it('has links that can be opened from anywhere, and those that Grafana makes itself', () => {
    const links = Object.entries(rule.annotations).filter(([name]) => name.endsWith('_url'));
    expect(links.length).toBeGreaterThanOrEqual(2);
    for (const [, link] of links) expect(link).toMatch(/^\{\{ externalURL \}\}d\/gatewatch-/);
    expect(rule.annotations).toMatchObject({
      __dashboardUid__: rule.dashboardUid,
      __panelId__: String(rule.panelId),
    });
  });

  it('names only refs that come before', () => {
    const refIds = rule.data.map(({ refId }) => refId);
    expect(new Set(refIds).size).toBe(refIds.length);
    expect(rule.data.map(({ model }) => model.refId)).toEqual(refIds);
    expect(refIds).toContain(rule.condition);
    const dangling = rule.data.flatMap(({ model }, index) =>
      refsReadBy(model).filter((ref) => !refIds.slice(0, index).includes(ref)),
    );
    expect(dangling).toEqual([]);
  });

  it('asks short questions that are named for what they return', () => {
    const asked = rule.data.flatMap(({ refId, model }) => {
      const sql = model['rawSql'];
      return typeof sql === 'string' ? [{ refId, sql }] : [];
    });
    expect(asked.length).toBeGreaterThan(0);
    for (const { refId, sql } of asked) {
      expect(Buffer.byteLength(sql)).toBeLessThan(500);
      expect(sql).toMatch(new RegExp(`^SELECT .*AS ${refId}\n`));
    }
  });

  it('uses no variable of dashboards, and the range it declares', () => {
    for (const { model, relativeTimeRange, datasourceUid } of rule.data) {
      const sql = model['rawSql'];
      if (typeof sql !== 'string') continue;
      expect(datasourceUid).toBe('clickhouse-gatewatch');
      expect(sql).not.toMatch(/\$__conditionalAll|\$__adHoc|\$\{|\$(?!__)\w/);
      expect(sql).toContain('$__toTime');
      expect(sql).not.toMatch(/\bnow(64)?\(/);
      expect(relativeTimeRange?.from).toBeGreaterThan(relativeTimeRange?.to ?? Number.NaN);
      expect([60_000, 600_000]).toContain(model['intervalMs']);
    }
  });

  it('has states for missing data and for errors that do not page for the wrong reason', () => {
    // Evaluations that stop leave every alert as it was, and a rule of their own reports them.
    expect(rule.noDataState).toBe(
      title === 'GatewatchEvaluationsLate' ? 'Alerting' : title === 'GatewatchHeartbeat' ? 'OK' : 'KeepLast',
    );
    expect(rule.execErrState).toBe(title === 'GatewatchCollectorSilent' ? 'Error' : 'KeepLast');
  });
});

function refsReadBy(model: Record<string, unknown>): string[] {
  const { expression, type } = model as { expression?: string; type?: string };
  if (expression === undefined) return [];
  return type === 'math' ? refsOf(expression) : [expression];
}
