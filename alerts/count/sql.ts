import type { DropRule, Rule, ShareRule } from '../rules/rule.ts';
import { dropBody } from './drop-sql.ts';
import { disabled, OTHERS, settingsOf, tunable, tunableOther } from './rule-settings.ts';
import { NOW, windowEnd, withClocks } from './scope.ts';
import { shareBody } from './share-sql.ts';
import { epoch } from './windows.ts';

/**
 * A rule as SQL. Each number of a rule is a query of its own, since Grafana takes one number a query; all of
 * them read the same body. Every gateway that is known has a row for every label, zeros included.
 */

/** The numbers of each kind of rule, by refId. */
export const RULE_VALUES = {
  share: {
    /** Orders hit. */
    affected: 'affected',
    /** Orders seen at the same place: n. */
    seen: 'seen',
    /**
     * The number of affected orders from which on it is an incident. Beyond `affected` while the rule must
     * not fire.
     */
    limit: 'limit',
    /** Where the window begins, in seconds since 1970. */
    window_from: 'window_from',
  },
  drop: {
    /** Orders counted. */
    seen: 'seen',
    /** What the same hours of other weeks make one expect. */
    expected: 'expected',
    /** So few orders are an incident; -1: none are too few. */
    limit: 'limit',
    window_from: 'window_from',
  },
  gauge: {
    number: 'number',
    /** Above it, the number is too large. */
    limit: 'limit',
  },
} as const;

/** Where the windows end, in seconds since 1970: by gateway only, so that it joins every label. */
export function windowToSql(rule: ShareRule | DropRule): string {
  return `${withClocks(rule.count)}
SELECT arrayJoin(mapKeys(watermarks)) AS gateway, ${epoch(windowEnd(rule.count))} AS value`;
}

/** The evaluation instant, in seconds since 1970: without labels, it joins everything. */
export const asOfSql = (): string => `SELECT toFloat64(toUnixTimestamp(${NOW})) AS value`;

/** SQL of one number of a rule: the columns `gateway`, the rule's label if it has one, and `value`. */
export function ruleSql(rule: Rule, value: string, rules: readonly Rule[]): string {
  const label = rule.kind === 'gauge' ? rule.splitBy : rule.count.splitBy;
  const columns = `gateway${label === null ? '' : `, label AS ${label}`}`;
  if (rule.kind === 'gauge')
    return `WITH ${settingsOf(rule)}
SELECT ${columns}, toFloat64(${value}) AS value
FROM
(
  SELECT gateway, label, number, if(${disabled(rule)}, ${OUT_OF_REACH}, ${tunable('above', rule.above)}) AS limit
  FROM
  (
  ${rule.sql.replaceAll('as_of', NOW)}
  )
)
ORDER BY ALL`;
  const suppressor = rules.find(({ name }) => name === rule.suppressedBy);
  const silent = [...(suppressor === undefined ? [] : [suppressedGateways(suppressor)]), disabled(rule)];
  return `${withRule(rule, suppressor)}
SELECT ${columns}, toFloat64(${value}) AS value
FROM
(
  ${rule.kind === 'share' ? shareBody(rule, silent, tunable) : dropBody(rule, silent)}
)
ORDER BY ALL`;
}

/** A limit that no number exceeds. */
const OUT_OF_REACH = '1e15';

const withRule = (rule: ShareRule | DropRule, suppressor: Rule | undefined): string =>
  [
    withClocks(rule.count),
    settingsOf(rule),
    ...(suppressor === undefined ? [] : [settingsOf(suppressor, OTHERS)]),
  ].join(',\n  ');

/** Condition: the other rule fires for the gateway, under any label, as it is configured. */
function suppressedGateways(other: Rule): string {
  if (other.kind !== 'share') throw new Error(`${other.name} cannot suppress: it is not a share`);
  return `gateway IN (SELECT gateway FROM (${shareBody(other, [disabled(other, OTHERS)], tunableOther)}) WHERE affected >= limit)`;
}
