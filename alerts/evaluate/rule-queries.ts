import type { TableResult } from '../../store/store.ts';
import { evaluateRule, type RuleEvaluation } from './evaluate-rule.ts';
import type { ProvisionedRule } from './rule-file.ts';
import { expandMacros } from '../../store/macros.ts';
import { joinQueries, splitResult, type JoinedQuery } from './join-queries.ts';

/** Evaluates rules by asking their own queries, at instants of the past or at the present one. */
export interface RuleQueries {
  /** One evaluation for each instant, in their order. */
  readonly evaluate: (rule: ProvisionedRule, instants: readonly Date[]) => Promise<readonly RuleEvaluation[]>;
}

export interface RuleQueriesOptions {
  /** Runs one SELECT and gives what `FORMAT JSON` says. */
  readonly query: (sql: string) => Promise<TableResult>;
  /** Statements under way at once. @default 2 */
  readonly concurrency?: number;
  /** Ask also for numbers that only the page's text shows, while nothing fires. @default false */
  readonly texts?: boolean;
}

/**
 * The rule's own SQL at every instant: what Grafana would have asked. Queries of a rule that differ in their
 * value only are asked for together, since planning them costs more than running them.
 */
export function createRuleQueries(options: RuleQueriesOptions): RuleQueries {
  const { query, concurrency = 2, texts = false } = options;

  /**
   * Asks a joined statement once, when the first of its members is needed; what only texts show waits until
   * it fires.
   */
  async function evaluateAt(
    rule: ProvisionedRule,
    joined: readonly JoinedQuery[],
    now: Date,
  ): Promise<RuleEvaluation> {
    const positionOf = new Map<string, { statement: string; index: number; members: number }>();
    for (const { sql, members, range } of joined) {
      const at = (seconds: number): Date => new Date(now.getTime() - seconds * 1000);
      const context = { from: at(range.from), to: at(range.to), intervalMs: range.intervalMs };
      const statement = expandMacros(sql, context);
      for (const [index, own] of members.entries())
        positionOf.set(expandMacros(own, context), { statement, index, members: members.length });
    }
    const asked = new Map<string, Promise<TableResult>>();
    const ask = (statement: string): Promise<TableResult> => {
      const answer = asked.get(statement) ?? query(statement);
      asked.set(statement, answer);
      return answer;
    };
    return evaluateRule(rule, {
      now,
      lazy: !texts,
      async query(sql) {
        const position = positionOf.get(sql);
        return position === undefined
          ? ask(sql)
          : splitResult(await ask(position.statement), position.index, position.members);
      },
    });
  }

  return {
    async evaluate(rule, instants) {
      const joined = joinQueries(rule);
      const out: RuleEvaluation[] = [];
      let next = 0;
      async function worker(): Promise<void> {
        for (let index = next++; index < instants.length; index = next++)
          out[index] = await evaluateAt(rule, joined, instants[index] as Date);
      }
      await Promise.all(Array.from({ length: Math.min(concurrency, instants.length) }, worker));
      return out;
    },
  };
}
