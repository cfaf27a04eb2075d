import type { RuleTiming } from './alert-state.ts';
import { type Rule, RULE_GROUPS } from '../rules/rule.ts';

/** Evaluations without a series after which its alert ends. */
const MISSING_SERIES_EVALS = 3;

/** What a rule says about time. */
export const ruleTiming = (rule: Rule): RuleTiming => ({
  intervalMs: RULE_GROUPS[rule.group ?? 'fast'].intervalSeconds * 1000,
  forMs: rule.pendingSeconds * 1000,
  keepFiringForMs: rule.keepFiringSeconds * 1000,
  missingSeriesEvals: MISSING_SERIES_EVALS,
  noDataState: 'KeepLast',
  execErrState: 'KeepLast',
});
