import { evaluateRule, type RuleEvaluation } from '../../../alerts/evaluate/evaluate-rule.ts';
import { createRuleQueries } from '../../../alerts/evaluate/rule-queries.ts';
import type { ProvisionedRule } from '../../../alerts/evaluate/rule-file.ts';
import type { SeededStore } from '../../support/seed-store.ts';

/**
 * A rule at one instant. A rule asks the same question several times, for one of its numbers each; here it is
 * asked once, which `backtest.test.ts` shows to be the same. The long suite asks as Grafana does.
 */
export async function evaluateAt(
  rule: ProvisionedRule,
  epochMs: number,
  query: SeededStore['query'],
): Promise<RuleEvaluation> {
  const now = new Date(epochMs);
  if (process.env['GATEWATCH_SUITE'] === 'long') return evaluateRule(rule, { now, query });
  const [evaluation] = await createRuleQueries({ query, texts: true }).evaluate(rule, [now]);
  if (evaluation === undefined) throw new Error('no evaluation');
  return evaluation;
}
