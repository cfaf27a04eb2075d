import {
  CATALOGUE,
  OUTCOME_OF_GROUP,
  type Outcome,
  REASON_GROUPS,
  type ReasonGroup,
  REASONS,
} from './dictionary.ts';
import { DATABASE, GATEWAY_STATUS_BY_HOUR, VIEWS } from './names.ts';
import { WINDOWS } from './windows.ts';

/**
 * The measures of gatewatch as ClickHouse SQL text: the one definition that panels, rules, runbooks and docs
 * share. Everything here is a pure function of its arguments and reads the public views only.
 */

/** A view with its database, e.g. `gatewatch.history_events`. */
export const view = (name: keyof typeof VIEWS): string => `${DATABASE}.${VIEWS[name]}`;
/** A string literal. */
export const sqlText = (value: string): string =>
  `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
/** A list of string literals for `IN (...)`. */
export const sqlList = (values: readonly string[]): string => values.map(sqlText).join(', ');

/** Columns that identify an order. */
export const ORDER_KEY = 'gateway, order_type, external_id';
/** n: distinct orders. Events are never counted, since polling repeats codes. */
export const DISTINCT_ORDERS = `uniqExact(${ORDER_KEY})`;

/** Items that can decide an order. Info items carry earlier states and never reopen it. */
export const DECIDING = `state IN ('SUCCESS', 'FAILED')`;
/**
 * Time order of items; list order within one instant, the code only to keep a tie from being decided by
 * chance.
 */
export const TIME_ORDER = 'tuple(event_time, list_position, action)';
/**
 * A failing item: the operation failed, or the payment did (issuer and risk declines are successful checks).
 */
export const FAILING = `(result = 'FAILURE' OR state = 'FAILED')`;
/** Items that only an order in processing has: the payer has submitted, or the service asks the provider. */
export const IN_PROCESSING = `reason_code = 55 OR stage IN ('CHECK', 'GATEWAY_CALLBACK') OR state = 'PROCESSING'`;
/** The head of an order's list: where the order began. */
export const FIRST_ITEM = 'list_position = 0';
/** The code is not in the catalogue, or not of the current format. */
export const UNKNOWN_CODE = `(code_format != 'v2' OR action NOT IN (${sqlList(CATALOGUE.map((entry) => entry.action))}))`;

/**
 * The outcome of an order from its deciding item's state and reason group; an order without one is `pending`.
 */
export function outcome(state: string, reasonGroup: string): string {
  const groups = Object.entries(OUTCOME_OF_GROUP) as [ReasonGroup, Outcome][];
  const cases = groups.map(([group, result]) => `${reasonGroup} = ${sqlText(group)}, ${sqlText(result)}`);
  return (
    `multiIf(${state} IS NULL, 'pending', ${state} = 'SUCCESS', 'succeeded', ` +
    `${cases.join(', ')}, 'unspecified_failure')`
  );
}

/** By the tens of a reason: 00 is NONE, 11 to 19 are TECH, 21 to 29 AUTHZ, and so on. */
const GROUP_NAMES = sqlList(REASON_GROUPS.map(({ name }) => name));
/** SQL of the group of a reason, from its code. */
export const groupOfReason = (code: string): string =>
  `arrayElement([${GROUP_NAMES}], intDiv(${code}, 10) + 1)`;
/** SQL of the name of a reason, from its code. */
export const detailOfReason = (code: string): string =>
  `transform(${code}, [${REASONS.map((reason) => reason.code).join(', ')}], [${sqlList(REASONS.map(({ detail }) => detail))}], concat('UNKNOWN_', toString(${code})))`;

/**
 * One row per order whose deciding item, as known at the end of the window, lies in the window:
 * gateway, order_type, external_id, decided_at, outcome. `where` must hold the window.
 */
export function finishedOrders(where: string): string {
  return `SELECT ${ORDER_KEY}, max(event_time) AS decided_at,
    argMax(tuple(state, reason_group), ${TIME_ORDER}) AS deciding_item,
    ${outcome('deciding_item.1', 'deciding_item.2')} AS outcome
  FROM ${view('historyEvents')}
  WHERE ${DECIDING} AND ${where}
  GROUP BY ${ORDER_KEY}`;
}

/**
 * One row per order that began in the window: gateway, order_type, external_id, started_at. `where` must hold
 * the window.
 */
export function startedOrders(where: string): string {
  return `SELECT ${ORDER_KEY}, min(event_time) AS started_at
  FROM ${view('historyEvents')}
  WHERE ${FIRST_ITEM} AND ${where}
  GROUP BY ${ORDER_KEY}`;
}

/**
 * What has become of an order's money where something technical came between. `at_risk`: undecided after an
 * operation failed technically, so that nobody knows; `delayed`: undecided for longer than `STUCK` after it
 * entered processing, without such a failure; `declined_technically`: failed for a technical reason;
 * `recovered`: paid after an operation had failed technically.
 */
export const MONEY_STATES = ['at_risk', 'delayed', 'declined_technically', 'recovered'] as const;
export type MoneyState = (typeof MONEY_STATES)[number];

const APPROVAL_OUTCOMES: readonly Outcome[] = [
  'succeeded',
  'risk_decline',
  'issuer_decline',
  'unspecified_failure',
];
/** A status request of ours that returned no usable answer: the gateway could not be read. */
export const UNREADABLE_POLL = `outcome IN ('unknown', 'invalid_response')`;

/**
 * Shares of orders by their outcomes. @param count SQL of how many orders there are, or meet a condition on
 * `outcome`: of rows that are orders, or counts of them
 */
export function outcomeShares(count: (condition?: string) => string) {
  const judged = count(`outcome IN (${sqlList(APPROVAL_OUTCOMES)})`);
  return {
    /** 0..1, NULL without orders. */
    technicalSuccess: ratio(count(`outcome != 'technical_failure'`), count()),
    /** Orders that someone judged, i.e. the denominator of approval. */
    judged,
    /** 0..1, NULL without judged orders. */
    approval: ratio(count(`outcome = 'succeeded'`), judged),
  };
}
/** Over rows of `finishedOrders`. */
export const {
  technicalSuccess: TECHNICAL_SUCCESS_SHARE,
  judged: JUDGED,
  approval: APPROVAL_SHARE,
} = outcomeShares((condition) => (condition === undefined ? 'count()' : `countIf(${condition})`));

/** numerator / denominator, NULL when there is nothing to divide by. */
export function ratio(numerator: string, denominator: string): string {
  return `if(${denominator} = 0, NULL, ${numerator} / ${denominator})`;
}

/** SQL of this instant. */
export const NOW = 'now64(6)';

const FORGET = `INTERVAL ${WINDOWS.forgetGatewayAfterSeconds} SECOND`;
/** Reports of these hours are not forgotten, with one that has just ended. */
const notForgotten = (asOf: string): string =>
  `hour > ${asOf} - INTERVAL ${WINDOWS.forgetGatewayAfterSeconds + 3600} SECOND`;

/**
 * SELECT of one row a gateway: gateway, watermark, the instant up to which our picture of it is complete as
 * known at `asOf`. Each collector's newest report counts, and of several collectors the one that sees
 * furthest.
 */
function watermarksOf(asOf: string): string {
  // Whole hours before that of `asOf` hold no report after it, so their newest will do.
  const hour = `toStartOfHour(toDateTime64(${asOf}, 6, 'UTC'))`;
  return `SELECT gateway, max(newest) AS watermark
      FROM
      (
        SELECT toString(gateway) AS gateway, argMax(watermark_at, reported_at) AS newest
        FROM
        (
          SELECT gateway, collector_id, reported_at, watermark_at
          FROM ${view('gatewayStatusHourly')}
          WHERE ${notForgotten(asOf)} AND hour < ${hour}
          UNION ALL
          SELECT gateway, collector_id, reported_at, watermark_at
          FROM ${view('gatewayStatus')}
          WHERE reported_at >= ${hour} AND reported_at <= ${asOf}
        )
        WHERE reported_at > ${asOf} - ${FORGET}
        GROUP BY gateway, collector_id
      )
      GROUP BY gateway
      ORDER BY gateway`;
}

/**
 * Text of the view `gateway_watermarks`: the same as known now. The newest report of this hour will do as
 * well, so it asks the table alone: a view of a view would be planned with each question.
 */
export const watermarksView =
  (): string => `-- One row: one gateway that a collector reported on within the last week.
-- - As known now: measures of a gateway go no further. Of several collectors, the one that sees furthest counts.
CREATE OR REPLACE VIEW ${VIEWS.gatewayWatermarks}
(
    gateway LowCardinality(String) COMMENT 'The gateway''s name in the configuration. Part of every identity.',
    watermark DateTime64(6, 'UTC') COMMENT 'Up to when our picture of the gateway is complete.'
)
AS
SELECT toString(gateway) AS gateway, max(newest) AS watermark
FROM
(
  SELECT gateway, argMax(watermark_at, reported_at) AS newest
  FROM ${GATEWAY_STATUS_BY_HOUR}
  WHERE ${notForgotten(NOW)} AND hour <= ${NOW}
  GROUP BY gateway, collector_id
  HAVING max(reported_at) > ${NOW} - ${FORGET}
)
GROUP BY gateway
ORDER BY gateway;
`;

/**
 * `WITH` clause that every windowed query begins with. It names `watermarks`, a map from gateway to the
 * instant up to which our picture of it is complete as known at `asOf`, `window_end(gateway)`, where that
 * gateway's windows end (exclusive): least(asOf - lag, watermark), and `all_known`, the earliest of these.
 *
 * A blind gateway's watermark stands still; so does that of a gateway whose collectors are gone. A gateway
 * that no collector ever reported on, as in a store that was only backfilled, has no watermark to wait for:
 * its windows end at asOf - lag. As of now a view says it: the engine plans a question twice, and a
 * view's own text only once.
 *
 * @param asOf SQL of the instant of knowledge: the evaluation instant of a rule, `NOW` for a panel.
 */
export function withWatermarks(asOf: string, lagSeconds: number = WINDOWS.lagSeconds): string {
  const instant = `toDateTime64(${asOf}, 6, 'UTC')`;
  const latest = `${instant} - INTERVAL ${lagSeconds} SECOND`;
  return `WITH
  (
    SELECT mapFromArrays(groupArray(gateway), groupArray(watermark))
    FROM
    (
      ${asOf === NOW ? `SELECT gateway, watermark FROM ${view('gatewayWatermarks')}` : watermarksOf(asOf)}
    )
  ) AS watermarks,
  g -> least(${latest}, transform(toString(g), mapKeys(watermarks), mapValues(watermarks), ${instant})) AS window_end,
  arrayMin(arrayPushBack(mapValues(watermarks), ${latest})) AS all_known`;
}

/**
 * SQL: `time` lies before the window end of its row's gateway. Nearly always it lies before all of them, and
 * no gateway has to be looked up, which takes as long as all else that is done with a row. Needs
 * `withWatermarks` in front.
 */
export const isKnown = (time: string): string => `(${time} < all_known OR ${time} < window_end(gateway))`;

/** A half-open window of time. Needs `withWatermarks` of the same `asOf` in front. */
export interface Window {
  /** Condition on a time column. */
  readonly contains: (time: string) => string;
  /** Condition on history items, which carry when they were first seen. */
  readonly items: string;
}

/** From `from` to the earlier of `to` and the gateway's window end, with all that is known by now. */
export function rangeWindow(from: string, to: string): Window {
  const contains = (time: string): string => `${time} >= ${from} AND ${time} < ${to} AND ${isKnown(time)}`;
  return { contains, items: contains('event_time') };
}
