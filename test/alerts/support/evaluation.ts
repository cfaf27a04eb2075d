import { evaluateRule, type RuleEvaluation } from '../../support/grafana/evaluate-rule.ts';
import type { Evaluation } from '../../../alerts/evaluate/evaluation.ts';
import { createPass } from '../../../alerts/evaluate/pass.ts';
import type { ProvisionedRule } from '../../support/grafana/rule-file.ts';
import { labelOf, type Rule } from '../../../alerts/rules/rule.ts';
import { RULES } from '../../../alerts/rules/all.ts';
import { dateTime64, type SeededStore } from '../../support/seed-store.ts';

/** What the rules see, worked out by the pass of the product and written down as it does. */
export interface Evaluations {
  /** All rows of an instant, in epoch milliseconds. */
  readonly rows: (atMs: number) => Promise<readonly Evaluation[]>;
  /** What Grafana makes of a generated rule that reads them, with the window of the row among the values. */
  readonly grafana: (rule: ProvisionedRule, atMs: number) => Promise<RuleEvaluation>;
}

export function evaluationsOf(
  store: Pick<SeededStore, 'query' | 'queryAsWriter' | 'seed'>,
  rules: readonly Rule[] = RULES,
): Evaluations {
  const pass = createPass({
    rules,
    query: async <T>(sql: string) => (await store.queryAsWriter(sql)).data as T[],
    evaluator: 'collector-1',
    now: () => Date.now() * 1000,
    monotonicMs: () => performance.now(),
  });
  const known = new Map<number, Promise<readonly Evaluation[]>>();
  const rows = (atMs: number): Promise<readonly Evaluation[]> => {
    const made = known.get(atMs) ?? evaluate(atMs);
    known.set(atMs, made);
    return made;
  };
  const evaluate = async (atMs: number): Promise<readonly Evaluation[]> => {
    const evaluations = await pass(atMs, ['fast', 'slow']);
    await store.seed({ rows: { alertEvaluations: evaluations.map(storedRow) } });
    return evaluations;
  };
  return {
    rows,
    async grafana(rule, atMs) {
      const evaluations = await rows(atMs);
      const evaluation = await evaluateRule(rule, { now: new Date(atMs), query: store.query });
      const windows = new Map(evaluations.map((row) => [`${row.rule}|${row.gateway}|${row.label}`, row]));
      const ofRule = RULES.find(({ name }) => name === rule.title);
      const label = ofRule === undefined ? null : labelOf(ofRule);
      return {
        ...evaluation,
        instances: evaluation.instances.map((one) => {
          const own = label === null ? '' : (one.labels[label] ?? '');
          const row = windows.get(`${rule.title}|${one.labels['gateway'] ?? ''}|${own}`);
          const window = {
            window_from: (row?.window_from ?? 0) / 1e6,
            window_to: (row?.window_to ?? 0) / 1e6,
          };
          return { ...one, values: { ...one.values, ...window } };
        }),
      };
    },
  };
}

/** A row as plain inserts take it. */
const storedRow = (row: Evaluation): object => ({
  ...row,
  as_of: row.as_of / 1e6,
  window_from: dateTime64(row.window_from / 1000),
  window_to: dateTime64(row.window_to / 1000),
  evaluated_at: dateTime64(row.evaluated_at / 1000),
});
