import type { OrderType } from '../../schemas/dictionary.ts';
import {
  APPROVAL_SHARE,
  FAILING,
  finishedOrders,
  JUDGED,
  sqlText,
  startedOrders,
  TECHNICAL_SUCCESS_SHARE,
  UNKNOWN_CODE,
  view,
  withWatermarks,
} from '../../schemas/measures.ts';
import { orderFacts, type Scope } from '../count/order-count.ts';
import type { DropRule, Rule, ShareRule } from '../rules/rule.ts';

/**
 * Why is my number different? For one order: in which measures and rules it counts, since when, and why it
 * does not count in others. Every answer comes from the SQL that panels and rules use, with the order in the
 * place of the window, so that it cannot say something else.
 */

/** Which order, in the store's terms. */
export interface CountedOrder {
  readonly gateway: string;
  readonly orderType: OrderType;
  readonly externalId: string;
}

/** In one measure of the dashboards. */
export interface MeasureCount {
  readonly measure: string;
  /** `numerator` counts in the denominator too; `no` in neither. */
  readonly counts: 'numerator' | 'denominator' | 'no';
  /**
   * Panels show it in the bucket of this instant. UTC, `YYYY-MM-DD HH:MM:SS.ffffff`; null where it does not
   * count.
   */
  readonly at: string | null;
  readonly because: string;
}

/** In one rule, under one label ('' without one). */
export interface RuleCount {
  readonly rule: string;
  readonly label: string;
  readonly counts: 'affected' | 'seen' | 'no';
  /** It counts in windows that hold this instant; of an affected order, when it was affected. */
  readonly at: string | null;
  readonly because: string;
  /** Evaluations whose window held that instant; null where it does not count, or none has been kept. */
  readonly evaluations: {
    readonly count: number;
    readonly first: string;
    readonly last: string;
    readonly breaches: number;
  } | null;
}

export interface WhereOrderCounts {
  readonly order: CountedOrder;
  /** Until when panels show what the gateway's history says; later items are known, and wait. */
  readonly knownUntil: string;
  readonly measures: readonly MeasureCount[];
  readonly rules: readonly RuleCount[];
}

type Query = <T>(sql: string) => Promise<T[]>;

export async function whereOrderCounts(
  query: Query,
  order: CountedOrder,
  rules: readonly Rule[],
): Promise<WhereOrderCounts> {
  const [row, groups, counted] = await Promise.all([
    one<MeasureRow>(query, measuresSql(order)),
    query<FailureRow>(failuresSql(order)),
    Promise.all(
      rules
        .filter((rule): rule is ShareRule | DropRule => rule.kind !== 'gauge')
        .map((rule) => ruleCounts(query, order, rule)),
    ),
  ]);
  return {
    order,
    knownUntil: row.known_until,
    measures: [...measuresOf(row), ...failuresOf(groups, row.known_until)],
    rules: await withEvaluations(query, order, counted.flat()),
  };
}

/** One order instead of a window: all that is known of it, by now. */
const mine = ({ gateway, orderType, externalId }: CountedOrder): string =>
  `gateway = ${sqlText(gateway)} AND order_type = ${sqlText(orderType)} AND external_id = ${sqlText(externalId)}`;

interface MeasureRow {
  readonly known_until: string;
  readonly items: number;
  readonly started: number;
  readonly started_at: string;
  readonly finished: number;
  readonly decided_at: string;
  readonly outcome: string;
  readonly technical: number | null;
  readonly judged: number;
  readonly approved: number | null;
  readonly unknown_codes: number;
}

function measuresSql(order: CountedOrder): string {
  const where = mine(order);
  return `${withWatermarks('now64(6)')}
SELECT toString(window_end(${sqlText(order.gateway)})) AS known_until, toUInt32(items) AS items, toUInt32(unknown_codes) AS unknown_codes,
  toUInt32(began.1) AS started, toString(began.2) AS started_at,
  toUInt32(ended.1) AS finished, toString(ended.2) AS decided_at, ended.3 AS outcome, ended.4 AS technical, toUInt32(ended.5) AS judged, ended.6 AS approved
FROM
(
  SELECT count() AS items, countIf(${UNKNOWN_CODE}) AS unknown_codes FROM ${view('historyEvents')} WHERE ${where}
) AS history
CROSS JOIN
(
  SELECT tuple(count(), max(started_at)) AS began FROM (${startedOrders(where)})
) AS head
CROSS JOIN
(
  SELECT tuple(count(), max(decided_at), max(outcome), ${TECHNICAL_SUCCESS_SHARE}, ${JUDGED}, ${APPROVAL_SHARE}) AS ended FROM (${finishedOrders(where)})
) AS decided`;
}

function measuresOf(row: MeasureRow): MeasureCount[] {
  const open = row.items === 0 ? 'no history item of it is known' : 'no item says SUCCESS or FAILED yet';
  const late = (at: string, text: string): string =>
    at < row.known_until ? text : `${text}; panels wait until the gateway's picture reaches it`;
  const finished = (measure: string, counts: MeasureCount['counts'], because: string): MeasureCount =>
    row.finished === 0
      ? { measure, counts: 'no', at: null, because: open }
      : {
          measure,
          counts,
          at: counts === 'no' ? null : row.decided_at,
          because: late(row.decided_at, because),
        };
  const began: MeasureCount =
    row.started === 0
      ? {
          measure: 'new orders',
          counts: 'no',
          at: null,
          because: 'the head of its history (position 0) is not known',
        }
      : {
          measure: 'new orders',
          counts: 'numerator',
          at: row.started_at,
          because: late(row.started_at, 'its first item'),
        };
  return [
    began,
    finished('finished orders', 'numerator', `outcome ${row.outcome}, by its latest item with SUCCESS or FAILED`),
    finished(
      'technical success',
      row.technical === 1 ? 'numerator' : 'denominator',
      row.technical === 1 ? `${row.outcome} is no technical failure` : 'its outcome is technical_failure',
    ),
    finished(
      'approval',
      row.judged === 0 ? 'no' : row.approved === 1 ? 'numerator' : 'denominator',
      row.judged === 0
        ? `nobody judged the payment: its outcome is ${row.outcome}`
        : `its outcome is ${row.outcome}`,
    ),
    {
      measure: 'unknown codes',
      counts: row.unknown_codes > 0 ? 'numerator' : 'no',
      at: null,
      because: `${row.unknown_codes} of its ${row.items} items have a code that the catalogue lacks`,
    },
  ]; // prettier-ignore
}

interface FailureRow {
  readonly reason_group: string;
  readonly stage: string;
  readonly items: number;
  readonly first_at: string;
  readonly actions: readonly string[];
}

const failuresSql = (order: CountedOrder): string =>
  `SELECT ifNull(toString(reason_group), 'NONE') AS reason_group, ifNull(toString(stage), '') AS stage, toUInt32(count()) AS items,
  toString(min(event_time)) AS first_at, arraySort(groupUniqArray(10)(toString(action))) AS actions
FROM ${view('historyEvents')}
WHERE ${FAILING} AND ${mine(order)}
GROUP BY reason_group, stage
ORDER BY first_at, stage, reason_group`;

function failuresOf(groups: readonly FailureRow[], knownUntil: string): MeasureCount[] {
  const measure = 'orders with failures';
  if (groups.length === 0)
    return [{ measure, counts: 'no', at: null, because: 'no item failed, and none says FAILED' }];
  return groups.map(({ reason_group, stage, items, first_at, actions }) => ({
    measure: `${measure}: ${reason_group}${stage === '' ? '' : ` at ${stage}`}`,
    counts: 'numerator',
    at: first_at,
    because:
      `${items} ${items === 1 ? 'item' : 'items'} (${actions.join(', ')}): counted once in each bucket that has one` +
      (first_at < knownUntil ? '' : "; panels wait until the gateway's picture reaches it"),
  }));
}

interface FactRow {
  readonly label: string;
  readonly seen_at: string;
  readonly hit_at: string;
}

async function ruleCounts(
  query: Query,
  order: CountedOrder,
  rule: ShareRule | DropRule,
): Promise<RuleCount[]> {
  const { count } = rule;
  const facts = orderFacts([{ count, longestSeconds: 0 }], scopeOf(order, rule));
  const rows = await query<FactRow>(
    `SELECT fact.1 AS label, toString(fact.2) AS seen_at, toString(fact.3) AS hit_at FROM (${facts}) ARRAY JOIN facts AS fact`,
  );
  return count.counts.map(({ label, seen }): RuleCount => {
    const row = rows.find((one) => one.label === label);
    const named = { rule: rule.name, label, evaluations: null };
    if (row === undefined || isNever(row.seen_at))
      return {
        ...named,
        counts: 'no',
        at: null,
        because: whyNot(rule, row === undefined ? undefined : seen),
      };
    if (rule.kind === 'drop')
      return {
        ...named,
        counts: 'seen',
        at: row.seen_at,
        because: `one of the orders that ${rule.countedOrders}`,
      };
    return isNever(row.hit_at)
      ? {
          ...named,
          counts: 'seen',
          at: row.seen_at,
          because: `none of the orders that ${rule.affectedOrders}`,
        }
      : {
          ...named,
          counts: 'affected',
          at: row.hit_at,
          because: `one of the orders that ${rule.affectedOrders}`,
        };
  });
}

/** @param seen the label's own condition, where the rule's holds */
function whyNot({ count: { from, where } }: ShareRule | DropRule, seen: string | undefined): string {
  if (seen !== undefined) return `nothing of it is ${seen}`;
  const { kind } = from;
  if (where === undefined) return NOTHING[kind];
  return kind === 'items' ? `none of its items is ${where}` : `${NOTHING[kind]}, or it is not ${where}`;
}

/** What an order lacks that a rule of this source does not look at. */
const NOTHING: Readonly<Record<ShareRule['count']['from']['kind'], string>> = {
  items: 'no history item of it is known',
  finished: `no item says SUCCESS or FAILED`,
  callbacks: 'no callback about it has come',
  polls: 'it has not been read',
  asked: 'it has not been read, but for repetitions',
  processing: 'it has not entered processing, or not long enough ago',
  confirmed: 'it has no last state, or not for long enough',
  reversed: `no item says SUCCESS or FAILED`,
  rereads: `its decision has not been known for long enough`,
};

function scopeOf(order: CountedOrder, rule: Rule): Scope {
  const setting = (name: string, otherwise: number): string =>
    `(SELECT if(count() = 0, ${otherwise}, max(value)) FROM ${view('alertSettings')} WHERE rule = ${sqlText(rule.name)} AND gateway = ${sqlText(order.gateway)} AND setting = ${sqlText(name)})`;
  return {
    asOf: 'now64(6)',
    // Of rows, and of what is made of rows that were chosen before.
    within: (time) => `${COLUMNS.has(time) ? `${mine(order)} AND ` : ''}${time} <= now64(6)`,
    reach: () => mine(order),
    setting,
    greatestSetting: setting,
  };
}

/** Of the tables that rules count from. */
const COLUMNS: ReadonlySet<string> = new Set(['event_time', 'started_at', 'received_at']);

interface EvaluationsRow {
  readonly rule: string;
  readonly label: string;
  readonly evaluations: number;
  readonly first: string;
  readonly last: string;
  readonly breaches: number;
}

/** Adds which evaluations can have counted it: those whose window held the instant. */
async function withEvaluations(
  query: Query,
  order: CountedOrder,
  counted: readonly RuleCount[],
): Promise<RuleCount[]> {
  const asked = counted.flatMap(({ rule, label, at }) =>
    at === null ? [] : [`(${sqlText(rule)}, ${sqlText(label)}, toDateTime64(${sqlText(at)}, 6, 'UTC'))`],
  );
  if (asked.length === 0) return [...counted];
  const rows = await query<EvaluationsRow>(
    `SELECT toString(e.rule) AS rule, toString(e.label) AS label, toUInt32(count()) AS evaluations, toString(min(e.as_of)) AS first, toString(max(e.as_of)) AS last, toUInt32(countIf(e.breach)) AS breaches
FROM ${view('alertEvaluations')} AS e
INNER JOIN (SELECT fact.1 AS of_rule, fact.2 AS of_label, fact.3 AS at FROM (SELECT arrayJoin([${asked.join(', ')}]) AS fact)) AS f ON toString(e.rule) = f.of_rule AND toString(e.label) = f.of_label
WHERE e.gateway = ${sqlText(order.gateway)} AND e.window_from <= f.at AND e.window_to > f.at
GROUP BY rule, label`,
  );
  return counted.map((one) => {
    const row = rows.find(({ rule, label }) => rule === one.rule && label === one.label);
    if (row === undefined) return one;
    const { evaluations, first, last, breaches } = row;
    return { ...one, evaluations: { count: evaluations, first, last, breaches } };
  });
}

const isNever = (instant: string): boolean => instant.startsWith('1970-01-01 00:00:00');

async function one<T>(query: Query, sql: string): Promise<T> {
  const [row] = await query<T>(sql);
  if (row === undefined) throw new Error('a question about one order has one answer');
  return row;
}
