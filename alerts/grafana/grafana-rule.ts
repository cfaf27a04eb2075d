import * as alerting from '@grafana/grafana-foundation-sdk/alerting';
import * as expr from '@grafana/grafana-foundation-sdk/expr';
import { clickHouseQuery, FORMAT, type Format } from '../../dashboards/house/clickhouse-query.ts';
import { view } from '../../schemas/measures.ts';
import { GRAFANA } from '../../schemas/names.ts';
import { ruleLabels } from '../explain/alert.ts';
import {
  type GaugeRule,
  isAskedDirectly,
  isHeartbeat,
  labelOf,
  type Rule,
  RULE_GROUPS,
  type RuleGroupName,
} from '../rules/rule.ts';
import { hasSlices } from '../count/usual.ts';
import { annotations } from './annotations.ts';

const EXPRESSIONS = { type: '__expr__', uid: '__expr__' } as const;

/** Links show six hours before an evaluation, or twice the longest window: as much again before it. */
const LINK_SECONDS = 21_600;

/** A number of an evaluation: the query's name and its SQL, and when the numbers mean an incident. */
interface Numbers {
  readonly queries: Readonly<Record<string, string>>;
  readonly breach: string;
}
/** While an evaluation is no incident, as that of a rule that is switched off, its limit is out of reach. */
const limitBeyond = (outOfReach: string): string => `if(breach = 1, limit, ${outOfReach})`;
const NUMBERS: Readonly<Record<Rule['kind'], Numbers>> = {
  share: {
    queries: {
      affected: 'affected',
      seen: 'seen',
      limit: limitBeyond('greatest(limit, toFloat64(affected) + 1)'),
    },
    breach: '$affected >= $limit',
  },
  drop: {
    queries: {
      counted: 'affected',
      expected: 'ifNull(expected, 0)',
      limit: limitBeyond('least(limit, toFloat64(affected) - 1)'),
    },
    breach: '$counted <= $limit',
  },
  gauge: {
    queries: { number: 'ifNull(number, 0)', limit: limitBeyond('greatest(limit, ifNull(number, 0))') },
    breach: '$number > $limit',
  },
};

/** How old an evaluation may be that is still read: alerts keep their state when evaluations stop. */
const HELD_SECONDS = 86_400;
/** A sign of life is no older than this. */
const FRESH_SECONDS = 300;

/**
 * A rule in the shape of Grafana's HTTP API. Everything the SDK would default is set: its defaults page on
 * errors.
 */
function grafanaRule(rule: Rule): alerting.RuleBuilder {
  const group = RULE_GROUPS[rule.group ?? 'fast'];
  const builder = new alerting.RuleBuilder(rule.name)
    .uid(rule.uid)
    .ruleGroup(group.name)
    .folderUID(GRAFANA.folderUid)
    .orgID(1)
    .isPaused(false);
  for (const node of isAskedDirectly(rule) ? askedNodes(rule) : evaluatedNodes(rule)) builder.withQuery(node);
  return (
    builder
      .withQuery(isTrue('firing', 'breach'))
      .condition('firing')
      .forDuration(duration(rule.pendingSeconds))
      .keepFiringFor(duration(rule.keepFiringSeconds))
      .noDataState(noDataState(rule))
      // While the store does not answer, alerts keep their state. Only one rule reports it, as
      // DatasourceError with a route of its own.
      .execErrState(rule.alertOnNoData === true ? 'Error' : 'KeepLast')
      .missingSeriesEvalsToResolve(3)
      .labels(ruleLabels(rule))
      .annotations(annotations(rule))
  );
}

/** Without evaluations alerts keep their state; a rule of its own says that there are none. */
function noDataState(rule: Rule): 'Alerting' | 'OK' | 'KeepLast' {
  if (isAskedDirectly(rule)) return 'Alerting';
  return isHeartbeat(rule) ? 'OK' : 'KeepLast';
}

export function ruleGroups(rules: readonly Rule[]): alerting.RuleGroup[] {
  return (Object.keys(RULE_GROUPS) as RuleGroupName[]).flatMap((name) => {
    const members = rules.filter(({ group = 'fast' }) => group === name);
    if (members.length === 0) return [];
    const group = new alerting.RuleGroupBuilder(RULE_GROUPS[name].name)
      .folderUid(GRAFANA.folderUid)
      .interval(RULE_GROUPS[name].intervalSeconds);
    for (const rule of members) group.withRule(grafanaRule(rule));
    return [group.build()];
  });
}

/** The numbers of the newest evaluation, a query each: Grafana takes one number a row. */
function evaluatedNodes(rule: Rule): alerting.QueryBuilder[] {
  const { queries, breach } = NUMBERS[rule.kind];
  const held = isHeartbeat(rule) ? FRESH_SECONDS : HELD_SECONDS;
  const all = { ...queries, as_of: 'toUnixTimestamp(as_of)' };
  return [
    ...Object.entries(all).map(([name, sql]) =>
      sqlQuery(name, evaluationSql(rule, held, `toFloat64(${sql}) AS ${name}`), FORMAT.table, rule, held),
    ),
    ...(rule.kind === 'share' ? [math('share', '$affected / ($seen + ($seen == 0))')] : []),
    math('link_from', `$as_of - ${linkSeconds(rule)}`),
    math('breach', breach),
  ];
}

const linkSeconds = (rule: Rule): number =>
  rule.kind === 'gauge'
    ? LINK_SECONDS
    : Math.max(LINK_SECONDS, ...rule.condition.windows.map(({ windowSeconds }) => 2 * windowSeconds));

function evaluationSql(rule: Rule, heldSeconds: number, number: string): string {
  const label = labelOf(rule);
  const held = heldSeconds === HELD_SECONDS ? '1 DAY' : `${heldSeconds / 60} MINUTE`;
  const labels = [
    'toString(gateway) AS gateway',
    ...(label === null ? [] : [`toString(label) AS ${label}`]),
    ...(hasSlices(rule) ? ['toString(slice) AS slice'] : []),
  ].join(', ');
  return `SELECT ${labels}, ${number}
FROM ${view('alertEvaluations')} AS evaluation
WHERE rule = '${rule.name}' AND evaluation.as_of > $__toTime - INTERVAL ${held} AND evaluation.as_of <= $__toTime
ORDER BY evaluation.as_of DESC
LIMIT 1 WITH TIES`;
}

const askedNodes = (rule: GaugeRule): alerting.QueryBuilder[] => [
  sqlQuery('number', rule.sql, FORMAT.table, rule, HELD_SECONDS),
  math('breach', `$number > ${rule.above}`),
];

/** The SQL has its own bounds; this range only says which part of the past they can cover. */
function sqlQuery(
  refId: string,
  sql: string,
  format: Format,
  rule: Rule,
  seconds: number,
): alerting.QueryBuilder {
  return new alerting.QueryBuilder(refId)
    .datasourceUid(GRAFANA.datasourceUid)
    .queryType('')
    .relativeTimeRange({ from: seconds, to: 0 })
    .model(
      clickHouseQuery({
        sql,
        format,
        refId,
        datasourceUid: GRAFANA.datasourceUid,
        intervalMs: RULE_GROUPS[rule.group ?? 'fast'].intervalSeconds * 1000,
      }),
    );
}

const expression = (refId: string): alerting.QueryBuilder =>
  new alerting.QueryBuilder(refId)
    .datasourceUid(EXPRESSIONS.uid)
    .queryType('')
    .relativeTimeRange({ from: 0, to: 0 });

const math = (refId: string, text: string): alerting.QueryBuilder =>
  expression(refId).model(new expr.TypeMathBuilder().datasource(EXPRESSIONS).expression(text).refId(refId));

const isTrue = (refId: string, input: string): alerting.QueryBuilder =>
  expression(refId).model(
    new expr.TypeThresholdBuilder()
      .datasource(EXPRESSIONS)
      .expression(input)
      .refId(refId)
      .conditions([{ evaluator: { type: 'gt', params: [0] } }]),
  );

/** Seconds as Grafana writes durations: 5m, 90s. */
export const duration = (seconds: number): string =>
  seconds > 0 && seconds % 3600 === 0
    ? `${seconds / 3600}h`
    : seconds > 0 && seconds % 60 === 0
      ? `${seconds / 60}m`
      : `${seconds}s`;
