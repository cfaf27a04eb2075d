import * as alerting from '@grafana/grafana-foundation-sdk/alerting';
import * as expr from '@grafana/grafana-foundation-sdk/expr';
import { clickHouseQuery, FORMAT } from '../../dashboards/house/clickhouse-query.ts';
import { GRAFANA } from '../../schemas/names.ts';
import { WINDOWS } from '../../schemas/windows.ts';
import { ruleLabels } from '../explain/alert.ts';
import { type Rule, RULE_GROUPS, type RuleGroupName } from '../rules/rule.ts';
import { asOfSql, RULE_VALUES, ruleSql, windowToSql } from '../count/sql.ts';
import { annotations } from './annotations.ts';

const EXPRESSIONS = { type: '__expr__', uid: '__expr__' } as const;

/** When a rule's numbers mean an incident, in Grafana's expressions. */
const BREACH = {
  share: '$affected >= $limit',
  drop: '$seen <= $limit',
  gauge: '$number > $limit',
} as const satisfies Record<Rule['kind'], string>;

/**
 * A rule in the shape of Grafana's HTTP API. Everything the SDK would default is set: its defaults page on
 * errors.
 *
 * @param rules all rules, among which it finds the one that suppresses it
 */
function grafanaRule(rule: Rule, rules: readonly Rule[]): alerting.RuleBuilder {
  const group = RULE_GROUPS[rule.group ?? 'fast'];
  const builder = new alerting.RuleBuilder(rule.name)
    .uid(rule.uid)
    .ruleGroup(group.name)
    .folderUID(GRAFANA.folderUid)
    .orgID(1)
    .isPaused(false);
  const query = (refId: string, sql: string): void =>
    void builder.withQuery(sqlQuery(refId, sql, rule, group.intervalSeconds));
  for (const value of Object.keys(RULE_VALUES[rule.kind])) query(value, ruleSql(rule, value, rules));
  if (rule.kind !== 'gauge') query('window_to', windowToSql(rule));
  query('as_of', asOfSql());
  if (rule.kind === 'share') builder.withQuery(math('share', '$affected / ($seen + ($seen == 0))'));
  return (
    builder
      .withQuery(math('breach', BREACH[rule.kind]))
      .withQuery(isTrue('firing', 'breach'))
      .condition('firing')
      .forDuration(duration(rule.pendingSeconds))
      .keepFiringFor(duration(rule.keepFiringSeconds))
      // No row at all: no gateway is known. A gateway that goes blind keeps its rows.
      .noDataState(rule.alertOnNoData === true ? 'Alerting' : 'OK')
      // While the store does not answer, alerts keep their state. Only one rule reports it, as
      // DatasourceError with a route of its own.
      .execErrState(rule.alertOnNoData === true ? 'Error' : 'KeepLast')
      .missingSeriesEvalsToResolve(3)
      .labels(ruleLabels(rule))
      .annotations(annotations(rule))
  );
}

export function ruleGroups(rules: readonly Rule[]): alerting.RuleGroup[] {
  return (Object.keys(RULE_GROUPS) as RuleGroupName[]).flatMap((name) => {
    const members = rules.filter(({ group = 'fast' }) => group === name);
    if (members.length === 0) return [];
    const group = new alerting.RuleGroupBuilder(RULE_GROUPS[name].name)
      .folderUid(GRAFANA.folderUid)
      .interval(RULE_GROUPS[name].intervalSeconds);
    for (const rule of members) group.withRule(grafanaRule(rule, rules));
    return [group.build()];
  });
}

/** The SQL has its own windows; this range only says which part of the past they can cover. */
function sqlQuery(refId: string, sql: string, rule: Rule, intervalSeconds: number): alerting.QueryBuilder {
  const longest =
    rule.kind === 'gauge' ? 900 : Math.max(...rule.condition.windows.map((window) => window.windowSeconds));
  return new alerting.QueryBuilder(refId)
    .datasourceUid(GRAFANA.datasourceUid)
    .queryType('')
    .relativeTimeRange({ from: longest + WINDOWS.lagSeconds, to: 0 })
    .model(
      clickHouseQuery({
        sql,
        format: FORMAT.table,
        refId,
        datasourceUid: GRAFANA.datasourceUid,
        intervalMs: intervalSeconds * 1000,
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
