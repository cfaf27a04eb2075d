import type { Rule } from './rule.ts';
import { BLINDNESS_RULES } from './blindness.ts';
import { CONTRADICTION_RULES } from './contradictions.ts';
import { OUTCOME_RULES } from './outcomes.ts';
import { SLOWNESS_RULES } from './slowness.ts';
import { SYMPTOM_RULES } from './symptoms.ts';

/** Every rule, in the order in which they are provisioned. */
export const RULES: readonly Rule[] = [
  ...SYMPTOM_RULES,
  ...OUTCOME_RULES,
  ...SLOWNESS_RULES,
  ...CONTRADICTION_RULES,
  ...BLINDNESS_RULES,
];
