import type { RuleTiming } from './alert-state.ts';
import { durationMs } from '../../schemas/duration.ts';
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
