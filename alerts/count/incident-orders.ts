import { FAILING, FIRST_ITEM, sqlList, sqlText, TIME_ORDER, view } from '../../schemas/measures.ts';
import { DATABASE, INCIDENT_ORDERS, INCIDENT_POPULATION } from '../../schemas/names.ts';
import type { CountingRule, Rule, ShareRule } from '../rules/rule.ts';
import { sourcesOfRules } from './met-at.ts';
import { conditionsOf } from './order-count.ts';
import { type LatestOf, orderFacts, type Scope, scanOf } from './order-facts.ts';
import { PAGE_SCOPE } from './scope.ts';
import { lengthsOf } from './windows.ts';

/**
 * How far before the window an order may have had its last item: some rules judge orders some time after it.
 */
const LOOKBACK_SECONDS = 3_600;

/**
 * Text of the parameterized view `incident_orders(rule, gateway, from, to, as_of)`: the orders behind a page,
 * one row per order and label, with the amount at risk. It is built from the same facts as the rules, so its
 * rows are those that the page counts: the affected orders of a share, the counted ones of a drop. Gauges
 * have none, since they count no orders.
 */
export const incidentOrdersView = (rules: readonly Rule[]): string =>
  viewOf(INCIDENT_ORDERS, incidentOrders(rules));

/**
 * Is the order known otherwise than by callbacks that do not verify? Whoever counts anything else counts what
 * the gateway or we have named; of callbacks, those that verify make an order known, as a watch message does.
 */
export const isKnown = ({ count }: ShareRule): string =>
  count.from.kind === 'callbacks' ? "known.external_id != ''" : 'true';

/**
 * What `incident_orders` selects, of these rules.
 * @param more columns besides, each with a comma before. @default none
 */
export function incidentOrders(rules: readonly Rule[], more = ''): string {
  return `SELECT {rule:String} AS rule, hit.gateway AS gateway, hit.order_type AS order_type, hit.external_id AS external_id, hit.label AS label,
  hit.affected_at AS affected_at, toString(known.status) AS status, known.amount AS amount, toString(known.currency) AS currency, known.channel AS channel${more}
FROM
(
  SELECT gateway, order_type, external_id, fact.1 AS label, assumeNotNull(fact.3) AS affected_at
  FROM
  (
    ${scansOf(rules)}
  )
  ARRAY JOIN facts AS fact
  WHERE affected_at >= {from:DateTime64(6, 'UTC')}
) AS hit
LEFT JOIN
(
  ${KNOWN_ORDERS}
) AS known ON known.gateway = hit.gateway AND known.order_type = hit.order_type AND known.external_id = hit.external_id`;
}

/**
 * Text of the parameterized view `incident_population`, with the same parameters: every order that the rule
 * saw, whether it is affected, and what distinguishes it from others. A value that is not known is ''.
 * `stage` and `reason` are those of the newest failing item; '' when nothing failed.
 */
export const incidentPopulationView = (rules: readonly Rule[]): string =>
  viewOf(INCIDENT_POPULATION, incidentPopulation(rules));

/** What `incident_population` selects, of these rules. */
export function incidentPopulation(rules: readonly Rule[]): string {
  const text = (sql: string): string => `ifNull(toString(${sql}), '')`;
  return `SELECT {rule:String} AS rule, hit.gateway AS gateway, hit.order_type AS order_type, hit.external_id AS external_id, hit.label AS label,
  hit.seen_at AS seen_at, hit.affected AS affected, if(known.channel != '', known.channel, item.channel) AS channel, ${text('known.currency')} AS currency, known.amount AS amount,
  multiIf(known.amount IS NULL, '', known.amount = 0, '0', known.amount < 10, 'below 10', known.amount < 100, '10 to 100', known.amount < 1000, '100 to 1,000', '1,000 or more') AS amount_band,
  multiIf(item.items = 0, '', item.began_at > toDateTime64(0, 6, 'UTC') AND hit.seen_at < item.began_at + INTERVAL 1 HOUR, 'first hour', 'later') AS age,
  ${text('item.failing.1')} AS stage, if(item.failing.2 IS NULL, '', concat(toString(assumeNotNull(item.failing.2)), ' ', ${text('item.failing.3')})) AS reason
FROM
(
  SELECT gateway, order_type, external_id, fact.1 AS label, assumeNotNull(fact.2) AS seen_at, toUInt8(assumeNotNull(fact.3) >= {from:DateTime64(6, 'UTC')}) AS affected
  FROM
  (
    ${scansOf(rules)}
  )
  ARRAY JOIN facts AS fact
  WHERE seen_at >= {from:DateTime64(6, 'UTC')}
) AS hit
LEFT JOIN
(
  ${KNOWN_ORDERS}
) AS known ON known.gateway = hit.gateway AND known.order_type = hit.order_type AND known.external_id = hit.external_id
LEFT JOIN
(
  SELECT toString(gateway) AS gateway, toString(order_type) AS order_type, external_id, count() AS items, max(channel) AS channel, minIf(event_time, ${FIRST_ITEM}) AS began_at,
    argMaxIf(tuple(stage, reason_code, reason_detail), ${TIME_ORDER}, ifNull(${FAILING}, 0)) AS failing
  FROM ${view('historyEvents')}
  WHERE ${near('event_time')} AND observed_at <= ${PAGE_SCOPE.asOf}
  GROUP BY gateway, order_type, external_id
) AS item ON item.gateway = hit.gateway AND item.order_type = hit.order_type AND item.external_id = hit.external_id`;
}

const viewOf = (name: string, select: string): string =>
  `CREATE OR REPLACE VIEW ${name} AS\n${select};\n`.replaceAll(`${DATABASE}.`, '');

/**
 * The facts of the orders of the rule that is asked for: an array of (label, seen_at, hit_at), with 1970 for
 * never. One scan for each source: reading the statement costs the engine more than the orders of a window.
 */
function scansOf(rules: readonly Rule[]): string {
  const counting = rules.filter((rule): rule is CountingRule => rule.kind !== 'gauge');
  const together = Map.groupBy(counting, ({ count }) => scanOf(count.from)).values();
  const scans = [...together].flatMap(([first, ...others]) =>
    first === undefined ? [] : [factsOfPage([first, ...others])],
  );
  return scans.join('\n    UNION ALL\n    ');
}

function factsOfPage(rules: readonly [CountingRule, ...CountingRule[]]): string {
  const isWanted = `{rule:String} IN (${sqlList(rules.map(({ name }) => name))})`;
  const scope: Scope = {
    ...PAGE_SCOPE,
    within: (...range) => `${isWanted} AND ${PAGE_SCOPE.within(...range)}`,
    reach: (...range) => `${isWanted} AND ${PAGE_SCOPE.reach(...range)}`,
    touched: (before) => `${isWanted} AND ${PAGE_SCOPE.touched(before)}`,
  };
  return orderFacts(sourcesOfRules(rules), scope, Math.max(...rules.flatMap(lengthsOf)), (latest) => {
    const facts = rules.map((rule) => `{rule:String} = ${sqlText(rule.name)}, ${labelFacts(rule, latest)}`);
    return `multiIf(${facts.join(', ')}, ${NO_FACTS}) AS facts`;
  });
}

const NO_FACTS = `CAST([], 'Array(Tuple(String, DateTime64(6, ''UTC''), DateTime64(6, ''UTC'')))')`;

/** SQL of (label, seen_at, hit_at) for each label of a rule: when an order was last seen, and last hit. */
export function labelFacts({ count }: CountingRule, latest: LatestOf): string {
  const facts = count.counts.map((label) => {
    const { seen, hit } = conditionsOf(count, label);
    return `(${sqlText(label.label)}, ${latest(count.from, seen)}, ${latest(count.from, hit)})`;
  });
  return `[${facts.join(', ')}]`;
}

const near = (time: string): string => PAGE_SCOPE.within(time, LOOKBACK_SECONDS);

/** What is known of the orders that can be in the window. */
const KNOWN_ORDERS = `SELECT toString(gateway) AS gateway, toString(order_type) AS order_type, external_id, status, amount, currency, channel
  FROM ${view('orders')}
  WHERE gateway = {gateway:String} AND external_id IN
  (
    SELECT external_id FROM ${view('historyEvents')} WHERE ${near('event_time')}
    UNION DISTINCT
    SELECT order_id AS external_id FROM ${view('polls')} WHERE ${near('started_at')}
    UNION DISTINCT
    SELECT assumeNotNull(external_id) AS external_id FROM ${view('callbackArrivals')} WHERE ${near('received_at')} AND external_id IS NOT NULL
  )`;
