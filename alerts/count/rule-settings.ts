import { sqlText, view } from '../../schemas/measures.ts';
import type { Rule } from '../rules/rule.ts';

/** What the configuration says about a rule, as SQL. */

/** Names of a map of settings and of its lambda: the rule's own, and those of the rule that suppresses it. */
export const OWN = { map: 'settings', lambda: 'setting' } as const;
export const OTHERS = { map: 'others_settings', lambda: 'others' } as const;

/** What the configuration sets for the rule, as a map; and the lambda that looks a gateway's setting up. */
export const settingsOf = (rule: Rule, { map, lambda }: typeof OWN | typeof OTHERS = OWN): string => `(
    SELECT mapFromArrays(groupArray(concat(gateway, '/', setting)), groupArray(value)) FROM ${view('alertSettings')} WHERE rule = ${sqlText(rule.name)}
  ) AS ${map},
  (g, name, otherwise) -> if(mapContains(${map}, concat(g, '/', name)), ${map}[concat(g, '/', name)], otherwise) AS ${lambda}`;

/** A number that the configuration can set for a gateway: of the rule, or of the one that suppresses it. */
export type Knob = (name: string, otherwise: number) => string;
export const tunable: Knob = (name, otherwise) => `${OWN.lambda}(gateway, ${sqlText(name)}, ${otherwise})`;
export const tunableOther: Knob = (name, otherwise) =>
  `${OTHERS.lambda}(gateway, ${sqlText(name)}, ${otherwise})`;

/** Condition: the settings switch the rule off, or do not switch it on. */
export function disabled(rule: Rule, { lambda }: typeof OWN | typeof OTHERS = OWN): string {
  const normally = rule.offByDefault === true ? 0 : 1;
  return `${lambda}(gateway, concat('enabled/', label), ${lambda}(gateway, 'enabled', ${normally})) = 0`;
}
