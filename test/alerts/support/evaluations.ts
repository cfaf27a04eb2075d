import type { Evaluation, EvaluationPass } from '../../../alerts/evaluate/evaluation.ts';
import { labelOf, type Rule } from '../../../alerts/rules/rule.ts';
import { RULES } from '../../../alerts/rules/all.ts';
import type { AlertRuleName } from '../../../schemas/names.ts';

/** A rule that ships, with waits of the test's own. */
export function ruleNamed(name: AlertRuleName, waits: Partial<Rule> = {}): Rule {
  const rule = RULES.find((one) => one.name === name);
  if (rule === undefined) throw new Error(`no rule ${name}`);
  return { ...rule, ...waits } as Rule;
}

/** What a rule sees: an incident or none, with numbers that go with it. */
export function evaluation(rule: Rule, asOfMs: number, given: Partial<Evaluation> = {}): Evaluation {
  const asOf = asOfMs * 1000;
  const windowTo = rule.kind === 'gauge' ? asOf : asOf - 30e6;
  const counted = rule.kind === 'gauge' ? {} : { seen: 40, affected: 12, share: 0.3 };
  return {
    rule: rule.name,
    kind: rule.kind,
    gateway: 'acme-eu',
    slice: '',
    label: labelOf(rule) === null ? '' : 'CHECK',
    as_of: asOf,
    window_from: rule.kind === 'gauge' ? asOf : windowTo - 300e6,
    window_to: windowTo,
    seen: 0,
    affected: 0,
    expected: null,
    limit: 9,
    share: null,
    number: rule.kind === 'gauge' ? 3 : null,
    ...counted,
    breach: 0,
    suppressed_by: '',
    definition: 'test',
    evaluated_at: asOf + 4e6,
    evaluator: 'collector-1',
    took_ms: 5,
    ...given,
  };
}

export interface Series {
  readonly gateway: string;
  readonly label: string;
  /** Null: it has no row. */
  readonly breach: boolean | null;
}

/** A pass over these rules that sees what `look` says. */
export const passOf =
  (
    rules: readonly Rule[],
    look: (rule: Rule, asOfMs: number) => readonly Series[],
    given: () => Partial<Evaluation> = () => ({}),
  ): EvaluationPass =>
  async (asOfMs, groups) =>
    rules
      .filter(({ group = 'fast' }) => groups.includes(group))
      .flatMap((rule) =>
        look(rule, asOfMs)
          .filter(({ breach }) => breach !== null)
          .map(({ gateway, label, breach }) =>
            evaluation(rule, asOfMs, { gateway, label, breach: Number(breach), ...given() }),
          ),
      );
