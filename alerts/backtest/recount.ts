import type { Clocks, SettingOverrides } from '../count/clocks.ts';
import type { Evaluation, EvaluationPass } from '../evaluate/evaluation.ts';
import { createPass } from '../evaluate/pass.ts';
import { RULES } from '../rules/all.ts';
import { type Rule, RULE_GROUPS, type RuleGroupName } from '../rules/rule.ts';

/** The rules without which one cannot be judged: what names its cause, and what knows its threshold. */
const needs = (rule: Rule): readonly string[] => [
  ...(rule.suppressedBy === undefined ? [] : [rule.suppressedBy]),
  ...(rule.kind === 'share' ? (rule.threshold?.rules ?? []) : []),
];

/** What these rules see at a past instant, counted anew from what was known then. */
export type Recount = (rules: readonly Rule[], asOfMs: number) => Promise<Evaluation[]>;

/** @param limits what is tried instead of the limits that are set */
export function createRecount(
  query: <T>(sql: string) => Promise<T[]>,
  limits: SettingOverrides,
  settings?: Clocks['settings'],
): Recount {
  // A pass remembers what the next instant needs as well. Few sets of rules are asked for together.
  const passes = new Map<string, EvaluationPass>();
  return async (rules, asOfMs) => {
    if (rules.length === 0) return [];
    const names = new Set<string>(rules.map(({ name }) => name));
    const key = [...names].join();
    const pass = passes.get(key) ?? passOf(rules);
    passes.set(key, pass);
    const rows = await pass(asOfMs, Object.keys(RULE_GROUPS) as RuleGroupName[]);
    return rows.filter(({ rule }) => names.has(rule));
  };

  function passOf(rules: readonly Rule[]): EvaluationPass {
    const causes = RULES.filter(({ name }) => rules.some((rule) => needs(rule).includes(name)));
    return createPass({
      rules: [...new Map([...causes, ...rules].map((rule) => [rule.name, rule])).values()],
      query,
      overrides: limits,
      settings,
      evaluator: 'backtest',
      now: () => 0,
      monotonicMs: () => 0,
    });
  }
}
