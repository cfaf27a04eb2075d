import type { RuleTiming } from './advance.ts';
import { durationMs } from './duration.ts';
import type { ProvisionedRule } from './rule-file.ts';

/** What a rule file says about time. */
export const timingOf = (rule: ProvisionedRule): RuleTiming => ({
  intervalMs: durationMs(rule.interval),
  forMs: durationMs(rule.for),
  keepFiringForMs: durationMs(rule.keepFiringFor),
  missingSeriesEvals: rule.missing_series_evals_to_resolve,
  noDataState: rule.noDataState,
  execErrState: rule.execErrState,
});
