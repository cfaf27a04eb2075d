import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadRules } from './rule-file.ts';
import { renderTemplate } from './template.ts';

const OUT = fileURLToPath(new URL('../../../alerts/out/provisioning/alerting', import.meta.url));
const context = {
  labels: { gateway: 'acme eu&co', stage: 'CHECK' },
  values: { affected: 12, share: 0.123456, window_from: 1_795_236_912.1234567, missing: null },
};

describe('annotations', () => {
  it.each([
    ['{{ .Labels.gateway }}: {{.Labels.stage}}', 'acme eu&co: CHECK'],
    ['{{ .Labels.gateway | urlquery }}', 'acme+eu%26co'],
    ['{{ printf "%.0f" .Values.affected.Value }} orders', '12 orders'],
    ['{{ printf "%.6f" .Values.window_from.Value }}', '1795236912.123457'],
    ['{{ humanizePercentage .Values.share.Value }}', '12.35%'],
    ['{{ humanizeTimestamp .Values.window_from.Value }}', '2026-11-21 04:55:12 +0000 UTC'],
    ['{{ printf "%.0f" .Values.missing.Value }}', '?'],
    ['{{ .Labels.nobody }}', ''],
    ['{{ externalURL }}d/gatewatch-incident', '/d/gatewatch-incident'],
  ])('%s', (text, expected) => {
    expect(renderTemplate(text, context)).toBe(expected);
  });

  it('refuse forms that only Grafana knows', () => {
    expect(() => renderTemplate('{{ range .Alerts }}', context)).toThrow('without Grafana');
  });

  it.each(loadRules(OUT).map((rule) => [rule.title, rule] as const))('of %s render', (_, rule) => {
    const values = Object.fromEntries(rule.data.map(({ refId }) => [refId, 1_795_236_912]));
    const labels = { gateway: 'acme', stage: 'CHECK', reason: '401', state: 'SUCCESS', collector: 'one' };
    for (const text of Object.values(rule.annotations))
      expect(renderTemplate(text, { labels, values })).not.toMatch(/\?\?|\{\{|undefined|NaN| \? /);
  });
});
