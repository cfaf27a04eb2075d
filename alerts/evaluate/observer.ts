import type { RuleGroupName } from '../rules/rule.ts';
import { groupsAt } from './due.ts';
import type { Evaluation, EvaluationPass } from './evaluation.ts';

/** What the rules see at an instant. */
export interface Observation {
  readonly rows: readonly Evaluation[];
  /** The rules that were evaluated. */
  readonly groups: readonly RuleGroupName[];
  /** Why those of the other groups were not. */
  readonly failure: Error | null;
}

/**
 * Evaluates the rules that are due at an instant. Those of long windows read most: when they cannot be
 * evaluated, the others are, and they themselves the next time.
 *
 * @throws whatever the pass throws for rules of short windows
 */
export function createObserver(pass: EvaluationPass): (asOfMs: number) => Promise<Observation> {
  let owed: readonly RuleGroupName[] = [];
  return async (asOfMs) => {
    const due = groupsAt(asOfMs);
    const groups = [...new Set([...due, ...owed])];
    try {
      const rows = await pass(asOfMs, groups);
      owed = [];
      return { rows, groups, failure: null };
    } catch (failure) {
      if (groups.length === 1) throw failure;
      const rows = await pass(asOfMs, ['fast']);
      // Once: then their own time comes again.
      owed = due.includes('slow') ? ['slow'] : [];
      return { rows, groups: ['fast'], failure: failure as Error };
    }
  };
}
