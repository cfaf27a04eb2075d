import { sqlText, view } from '../../schemas/measures.ts';
import { labelFacts } from '../count/incident-orders.ts';
import { orderFacts, type Scope } from '../count/order-facts.ts';
import { settingSql } from '../count/scope.ts';
import type { CountingRule, Rule } from '../rules/rule.ts';
import { ofOrder, type CountedOrder } from './counted-order.ts';
import { measureCounts, type MeasureCounts } from './measure-counts.ts';

/**
 * Why is my number different? For one order: in which measures and rules it counts, since when, and why it
 * does not count in others. Every answer comes from the SQL that panels and rules use, with the order in the
 * place of the window, so that it cannot say something else.
 */

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

export interface WhereOrderCounts extends MeasureCounts {
  readonly order: CountedOrder;
  readonly rules: readonly RuleCount[];
}

type Query = <T>(sql: string) => Promise<T[]>;

export async function whereOrderCounts(
  query: Query,
  order: CountedOrder,
  rules: readonly Rule[],
): Promise<WhereOrderCounts> {
  const counting = rules.filter((rule): rule is CountingRule => rule.kind !== 'gauge');
  const [measures, counted] = await Promise.all([
    measureCounts(query, order),
    Promise.all(counting.map((rule) => ruleCounts(query, order, rule))),
  ]);
  const all = await withEvaluations(query, order, counted.flat());
  return { order, ...measures, rules: counting.flatMap((rule) => judgedOf(rule, all)) };
}

/** Of thresholds the one that was judged, or else the highest that the order exceeded. */
function judgedOf(rule: CountingRule, all: readonly RuleCount[]): RuleCount[] {
  const own = all.filter((one) => one.rule === rule.name);
  if (rule.kind !== 'share' || rule.threshold === undefined) return own;
  const one =
    own.find(({ evaluations }) => evaluations !== null) ??
    own.findLast(({ counts }) => counts === 'affected') ??
    own[0];
  return one === undefined ? [] : [one];
}

interface FactRow {
  readonly label: string;
  readonly seen_at: string;
  readonly hit_at: string;
}

async function ruleCounts(query: Query, order: CountedOrder, rule: CountingRule): Promise<RuleCount[]> {
  const { count } = rule;
  const facts = orderFacts(
    [count.from],
    scopeOf(order, rule),
    0,
    (latest) => `${labelFacts(rule, latest)} AS facts`,
  );
  const rows = await query<FactRow>(
    `SELECT fact.1 AS label, toString(fact.2) AS seen_at, toString(fact.3) AS hit_at FROM (${facts}) ARRAY JOIN facts AS fact`,
  );
  const isSeen = rows.some((row) => !isNever(row.seen_at));
  return count.counts.map(({ label, seen }): RuleCount => {
    const row = rows.find((one) => one.label === label);
    const named = { rule: rule.name, label, evaluations: null };
    if (row === undefined || isNever(row.seen_at))
      return {
        ...named,
        counts: 'no',
        at: null,
        because: reasonNotCounted(rule, isSeen ? seen : undefined),
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

/** @param seen the label's own condition, where the order is seen under another label */
function reasonNotCounted({ count: { from, where } }: CountingRule, seen: string | undefined): string {
  if (seen !== undefined) return `nothing of it is ${seen}`;
  const { kind } = from;
  if (where === undefined) return NOTHING[kind];
  return kind === 'items' ? `none of its items is ${where}` : `${NOTHING[kind]}, or it is not ${where}`;
}

/** What an order lacks that a rule of this source does not look at. */
const NOTHING: Readonly<Record<CountingRule['count']['from']['kind'], string>> = {
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
    settingSql(sqlText(rule.name), sqlText(order.gateway), name, otherwise);
  return {
    asOf: 'now64(6)',
    // Of rows, and of what is made of rows that were chosen before.
    within: (time) => `${COLUMNS.has(time) ? `${ofOrder(order)} AND ` : ''}${time} <= now64(6)`,
    end: 'now64(6)',
    reach: () => ofOrder(order),
    touched: () => ofOrder(order),
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
WHERE e.gateway = ${sqlText(order.gateway)} AND e.slice = '' AND e.window_from <= f.at AND e.window_to > f.at
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
