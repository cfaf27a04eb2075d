import { describe, expect, it } from 'vitest';
import type { ProvisionedRule, RuleNode } from '../../../alerts/evaluate/rule-file.ts';
import { headlineOf } from '../../../alerts/backtest/headline.ts';
import { isNamed, limitsOf, override, parseOverride } from '../../../alerts/backtest/overrides.ts';

const range = { from: 60, to: 0 };
const sql = (refId: string, rawSql: string): RuleNode => ({
  refId,
  relativeTimeRange: range,
  model: { rawSql, format: 1, intervalMs: 1000 },
});
const math = (refId: string, expression: string): RuleNode => ({
  refId,
  relativeTimeRange: range,
  model: { type: 'math', expression },
});
const above = (refId: string, expression: string, limit: number): RuleNode => ({
  refId,
  relativeTimeRange: range,
  model: { type: 'threshold', expression, conditions: [{ evaluator: { type: 'gt', params: [limit] } }] },
});
const ruleOf = (...data: RuleNode[]): ProvisionedRule => ({
  uid: 'gatewatch-tech-timeouts',
  title: 'GatewatchTechTimeouts',
  condition: 'firing',
  data,
  for: '1m',
  keepFiringFor: '5m',
  noDataState: 'OK',
  execErrState: 'Error',
  missing_series_evals_to_resolve: 3,
  labels: {},
  annotations: {},
  isPaused: false,
  group: 'group',
  interval: '1m',
});
const LIMIT = `SELECT setting(gateway, 'shareAbove', 0.05) AS p, setting(gateway, 'minimumAffectedOrders', 6) AS n, setting(gateway, 'enabled', 1) AS value`;
const share = ruleOf(
  sql('affected', 'SELECT 1 AS value'),
  sql('limit', LIMIT),
  math('breach', '$affected >= $limit'),
  above('firing', 'breach', 0),
);
const gauge = ruleOf(sql('number', 'SELECT 1 AS value'), above('firing', 'number', 120));
const compared = ruleOf(
  sql('share_low', 'SELECT 1 AS value'),
  math('breach', '($share_low > 0.05) && (${affected} >= 10) && ($seen == 0)'),
);
const set = (rule: ProvisionedRule, text: string): ProvisionedRule | string => {
  const change = parseOverride(text);
  return change === null ? expect.fail(`cannot read ${text}`) : override(rule, change);
};

describe('limits of a rule for one run', () => {
  it('are those in its SQL, its expressions and its threshold', () => {
    expect(limitsOf(share)).toEqual({ shareAbove: 0.05, minimumAffectedOrders: 6 });
    expect(limitsOf(gauge)).toEqual({ number: 120 });
    expect(limitsOf(compared)).toEqual({ share_low: 0.05, affected: 10 });
  });

  it('change the one that is named, whatever the configuration says, and nothing else', () => {
    expect(set(share, 'TechTimeouts.minimumAffectedOrders=3')).toMatchObject({
      data: [
        share.data[0],
        { model: { rawSql: LIMIT.replace(`setting(gateway, 'minimumAffectedOrders', 6)`, '3') } },
        share.data[2],
        share.data[3],
      ],
    });
    expect(limitsOf(set(gauge, 'x.number=200') as ProvisionedRule)).toEqual({ number: 200 });
    expect(limitsOf(set(compared, 'x.affected=3') as ProvisionedRule)).toEqual({
      share_low: 0.05,
      affected: 3,
    });
    expect(set(share, 'x.for=10m')).toMatchObject({ for: '10m' });
  });

  it('take threshold for the first of them', () => {
    expect(limitsOf(set(compared, 'x.threshold=0.2') as ProvisionedRule)).toMatchObject({ share_low: 0.2 });
    expect(limitsOf(set(share, 'x.threshold=0.2') as ProvisionedRule)).toEqual({ minimumAffectedOrders: 6 });
  });

  it('are refused with what there is', () => {
    expect(set(share, 'x.share=0.2')).toBe(
      'GatewatchTechTimeouts has no share to set; it has shareAbove (0.05), minimumAffectedOrders (6), for (1m), keepFiringFor (5m)',
    );
    expect(set(share, 'x.for=ten')).toContain('a duration like 5m');
    expect(set(share, 'x.threshold=much')).toContain('expected a number');
    expect(parseOverride('TechTimeouts=3')).toBeNull();
  });

  it('find their rule by title or uid, with or without the prefix, in any case', () => {
    for (const name of ['GatewatchTechTimeouts', 'techtimeouts', 'gatewatch-tech-timeouts', 'tech-timeouts'])
      expect(isNamed(share, name)).toBe(true);
    expect(isNamed(share, 'Tech')).toBe(false);
  });
});

describe('the value that a plot shows', () => {
  it('is what the condition compares, with its limit', () => {
    expect(headlineOf(share)).toEqual({ value: 'affected', limit: 'limit', fires: 'above' });
    expect(headlineOf(gauge)).toEqual({ value: 'number', limit: 120, fires: 'above' });
    expect(headlineOf(ruleOf(math('breach', '$seen <= $limit')))).toEqual({
      value: 'seen',
      limit: 'limit',
      fires: 'below',
    });
  });
});
