import type { AlertEvaluationRow } from '../../schemas/rows.ts';
import type { RuleGroupName } from '../rules/rule.ts';

/** What a rule saw at one instant, for one gateway, slice and label: a row of `alert_evaluations`. */
export type Evaluation = AlertEvaluationRow;

/**
 * Works out what the rules of these groups see at an instant: a whole minute, in milliseconds since 1970. It
 * counts what was known then, so that a later pass of the same instant sees the same. Reads only.
 *
 * @throws StoreError when the store does not answer
 */
export type EvaluationPass = (
  asOfMs: number,
  groups: readonly RuleGroupName[],
) => Promise<readonly Evaluation[]>;
