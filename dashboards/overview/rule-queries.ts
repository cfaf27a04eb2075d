import { sqlList, sqlText, view } from '../../schemas/measures.ts';
import type { AlertRuleName } from '../../schemas/names.ts';
import { bucket, CHOSEN_GATEWAY, END, inRange, OWN_GATEWAY } from '../house/filters.ts';

/** SQL of what the alert rules saw, as they saw it: rows of their evaluations, and the states of alerts. */

/** Series of one panel: rules, and what distinguishes their series of a gateway. */
export type RuleSeries =
  /** The labels of one rule. */
  | { readonly splitBy: string; readonly rule: AlertRuleName }
  /** Several rules without labels, each with the text that stands for it. */
  | { readonly splitBy: string; readonly rules: Partial<Record<AlertRuleName, string>> };

/**
 * time, gateway, what distinguishes series, share 0..1, rule_limit (the share from which on it would have
 * been an incident, NULL where all orders would be too few), orders seen. Of several evaluations in an
 * interval it shows the newest that found an incident, or else the newest.
 */
export function ruleSharesSql(series: RuleSeries): string {
  const rules = 'rule' in series ? { [series.rule]: '' } : series.rules;
  const names = sqlList(Object.keys(rules));
  const apart =
    'rule' in series ? 'label' : `transform(rule, [${names}], [${sqlList(Object.values(rules))}])`;
  return `SELECT time, gateway, ${series.splitBy}, shown.1 AS share, if(shown.3 = 0 OR shown.2 > shown.3, NULL, shown.2 / shown.3) AS rule_limit, shown.3 AS orders
FROM
(
  SELECT ${bucket('as_of')} AS time, toString(gateway) AS gateway, toString(${apart}) AS ${series.splitBy},
    argMax(tuple(share, limit, seen), tuple(breach, as_of)) AS shown
  FROM ${view('alertEvaluations')}
  WHERE rule IN (${names}) AND slice = '' AND ${inRange('as_of')} AND ${CHOSEN_GATEWAY}
  GROUP BY time, gateway, ${series.splitBy}
)
ORDER BY time, gateway, ${series.splitBy}`;
}

/** Rows are this new: rules in long windows have one every ten minutes. */
const lately = (time: string): string =>
  `${time} > ${END} - INTERVAL 1800 SECOND AND ${time} <= ${END} AND ${END} >= $__fromTime`;

/**
 * rule, gateway, slice, label, and `newest`: the numbers of the newest evaluation, orders NULL where none
 * count.
 */
const NEWEST = `SELECT toString(rule) AS rule, toString(gateway) AS gateway, toString(slice) AS slice, toString(label) AS label,
    argMax(tuple(
      if(kind = 'gauge', NULL, affected), if(kind = 'gauge', NULL, seen), expected, number, toNullable(limit), share,
      if(kind = 'gauge', NULL, dateDiff('second', window_from, window_to)), toNullable(breach), toNullable(toString(suppressed_by)), toNullable(as_of)
    ), as_of) AS newest
  FROM ${view('alertEvaluations')}
  WHERE ${lately('as_of')} AND ${OWN_GATEWAY}
  GROUP BY rule, gateway, slice, label`;

/** Of that row: the columns that both tables show. */
const NUMBERS = `newest.1 AS affected_orders, newest.2 AS seen_orders, newest.3 AS usual_orders, newest.4 AS found_number, newest.5 AS rule_limit`;

/** It always fires, to show that rules are evaluated. */
const SIGN_OF_LIFE: AlertRuleName = 'GatewatchHeartbeat';

/** One row a rule, gateway, slice and label: its newest evaluation, those that are an incident first. */
export const RULES_NOW_SQL = `SELECT newest.8 AS incident, rule, gateway, slice, label, ${NUMBERS}, newest.6 AS part, newest.7 AS window_seconds,
  newest.9 AS suppressed_by, newest.10 AS evaluation
FROM
(
  ${NEWEST}
)
ORDER BY incident DESC, rule, gateway, slice, label
LIMIT 500`;

/** The value of the label beside the gateway, which a rule has one of at most. */
const LABEL = `arrayFirst(one -> one.1 NOT IN ('gateway', 'slice'), JSONExtractKeysAndValues(labels, 'String')).2`;

/**
 * One row an alert that is pending, fires or recovers: its state, since when, and the numbers of its newest
 * evaluation.
 */
export const FIRING_SQL = `SELECT state, severity, rule, gateway, slice, label, since, ${NUMBERS}, evaluation
FROM
(
  SELECT toString(state) AS state, toString(severity) AS severity, toString(rule) AS rule, toString(gateway) AS gateway, JSONExtractString(labels, 'slice') AS slice, ${LABEL} AS label,
    if(state = ${sqlText('Pending')}, changed_at, ifNull(firing_since, changed_at)) AS since, evaluated_at AS evaluation
  FROM ${view('alertStates')}
  WHERE state != ${sqlText('Normal')} AND rule != ${sqlText(SIGN_OF_LIFE)} AND ${lately('evaluated_at')} AND ${OWN_GATEWAY}
) AS alert
LEFT JOIN
(
  ${NEWEST}
) AS evaluated USING (rule, gateway, slice, label)
ORDER BY state = ${sqlText('Pending')}, since DESC, rule, gateway, slice, label
LIMIT 100`;
