import { createHash } from 'node:crypto';
import { EVERY_RULE } from '../count/calendar.ts';
import { type Clocks, settingOf } from '../count/clocks.ts';
import { WHOLE } from '../count/slices.ts';
import { hasBaseline } from '../count/usual.ts';
import type { Rule } from '../rules/rule.ts';
import type { Evaluation } from './evaluation.ts';

/** An evaluation before it is known who made it. */
export type Judged = Omit<Evaluation, 'evaluated_at' | 'evaluator' | 'took_ms'>;

/** Which evaluation it is: of the whole gateway, unless a slice is said. */
export function identity(rule: Rule, gateway: string, label: string, asOf: number, clocks: Clocks) {
  return {
    rule: rule.name,
    kind: rule.kind,
    gateway,
    slice: WHOLE,
    label,
    as_of: asOf * 1e6,
    definition: definitionOf(rule, gateway, clocks),
  };
}

const SETTINGS_IN_WORDS = 'settings';

/** Does it hold, and is the rule switched on for the gateway and label? */
export function breachOf(rule: Rule, holds: boolean, gateway: string, label: string, clocks: Clocks) {
  const isOff = isSwitchedOff(rule, gateway, label, clocks);
  return { breach: holds && !isOff ? 1 : 0, suppressed_by: holds && isOff ? SETTINGS_IN_WORDS : '' };
}

export function isSwitchedOff(rule: Rule, gateway: string, label: string, clocks: Clocks): boolean {
  const ofRule = settingOf(clocks, rule.name, gateway, 'enabled', rule.offByDefault === true ? 0 : 1);
  return settingOf(clocks, rule.name, gateway, `enabled/${label}`, ofRule) === 0;
}

/** Fingerprint of what the rule says and of what is set for it. */
function definitionOf(rule: Rule, gateway: string, { settings }: Clocks): string {
  // The calendar is set for all rules, and says something to those that compare with other days.
  const of: string[] = [rule.name, ...(rule.kind !== 'gauge' && hasBaseline(rule) ? [EVERY_RULE] : [])];
  const own = [...settings]
    .filter(([key]) => of.some((name) => key.startsWith(`${name}|${gateway}|`)))
    .toSorted();
  return createHash('sha256')
    .update(JSON.stringify([rule, own]))
    .digest('hex')
    .slice(0, 16);
}
