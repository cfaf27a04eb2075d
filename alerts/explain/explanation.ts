import { createHash } from 'node:crypto';
import { DASHBOARDS } from '../../dashboards/uids.ts';
import { sqlText } from '../../schemas/measures.ts';
import type { EpochMicros } from '../../schemas/rows.ts';
import { incidentOrders, incidentPopulation, isKnown } from '../count/incident-orders.ts';
import { atPage, type Page } from '../count/scope.ts';
import { sliceCondition } from '../count/slices.ts';
import type { EvaluationNumbers } from '../evaluate/instance.ts';
import type { DropRule, Rule, ShareRule } from '../rules/rule.ts';
import { readMainCause, type SignatureFinding } from './signature-finding.ts';
import { shownRange } from './incident-url.ts';
import { type Cell, type Slice, standOut, WHAT, WHERE } from './slices.ts';

/** What explains one evaluation, and what it may cost. */
export interface Explanation {
  /** At most three, what explains most first; none: nothing stands out. */
  readonly slices: readonly Slice[];
  /** Null for a drop, whose orders never came, and where orders lose nothing. */
  readonly atRisk: AtRisk | null;
  /** The newest affected order of those that are known otherwise than by callbacks that do not verify. */
  readonly example: Example | null;
  /** What is found most among callbacks that do not verify; null: the rule is not about them. */
  readonly signature?: SignatureFinding | null;
}

/** What affected orders are worth, as known now. */
export interface AtRisk {
  /** Exact decimals as text, by currency ('' where it is not known): never added over currencies. */
  readonly amounts: readonly { readonly currency: string; readonly amount: string }[];
  readonly withoutAmount: number;
}

export interface Example {
  readonly gateway: string;
  readonly orderType: string;
  readonly externalId: string;
  /** 32 hex digits. */
  readonly traceId: string;
  /** The order's dashboard, without a host. */
  readonly url: string;
}

/** Rows of a SELECT; 64-bit integers as numbers. */
export type Query = <T>(sql: string) => Promise<T[]>;

/**
 * Reads the orders of an evaluation and finds what explains it. Null for a rule that counts no orders.
 *
 * @throws StoreError when the store does not answer
 */
export async function readExplanation(
  query: Query,
  rule: Rule,
  numbers: EvaluationNumbers,
): Promise<Explanation | null> {
  if (rule.kind === 'gauge') return null;
  const what = whatIsOpen(rule);
  const [cells, orders, signature] = await Promise.all([
    query<CellRow>(cellsSql(rule, numbers, rule.kind === 'drop' || what.length > 0)),
    rule.kind === 'drop' ? null : query<OrdersRow>(ordersSql(rule, numbers)),
    readMainCause(query, rule, numbers),
  ]);
  const known = cells.map(toCell);
  const before = known.reduce((sum, { seenBefore }) => sum + seenBefore, 0);
  const excess =
    rule.kind === 'drop'
      ? (numbers.expected ?? before) - numbers.seen
      : numbers.affected - (numbers.expected ?? 0);
  return {
    slices: standOut(known, { kind: rule.kind, excess, what }),
    atRisk: orders === null || isAboutMessages(rule) ? null : atRiskOf(orders),
    example: orders === null ? null : exampleOf(orders, numbers),
    signature,
  };
}

/** It counts callbacks or requests of ours: the orders that they are about lose nothing by it. */
const isAboutMessages = ({ count }: ShareRule | DropRule): boolean =>
  ['callbacks', 'polls', 'asked', 'rereads'].includes(count.from.kind);

/** Stage and reason, unless the rule's own conditions are about them. */
function whatIsOpen({ kind, count }: ShareRule | DropRule): (typeof WHAT)[number][] {
  if (kind === 'drop') return [];
  const conditions = [count.where ?? '', ...count.counts.map(({ seen = '', hit }) => `${seen} ${hit}`)].join(
    ' ',
  );
  const fixed = { stage: /\bstage\b/, reason: /\breason_/ } as const;
  return WHAT.filter((one) => count.splitBy !== one && !fixed[one].test(conditions));
}

type CellRow = Readonly<Record<keyof Cell['values'], string>> &
  Readonly<Record<keyof Omit<Cell, 'values'>, number>>;

/** So many kinds of orders are enough: those with most affected orders come first. */
const MOST_CELLS = 20_000;

/**
 * One row for all orders that are alike: any slice can be counted from these. The statement holds this rule
 * alone: the views, which hold all of them, take the engine several times as long to read.
 */
function cellsSql(rule: Rule, numbers: EvaluationNumbers, withBefore: boolean): string {
  const { window_from: from, window_to: to, slice, label } = numbers;
  const orders = (begin: EpochMicros, end: EpochMicros, now: 0 | 1): string =>
    `SELECT *, ${now} AS now FROM (${atPage(incidentPopulation([rule]), pageOf(rule, numbers, begin, end))}) WHERE label = ${sqlText(label)} AND ${sliceCondition(slice)}`;
  const windows = [orders(from, to, 1), ...(withBefore ? [orders(2 * from - to, from, 0)] : [])];
  const dimensions = [...WHERE, ...WHAT].join(', ');
  return `SELECT ${dimensions}, countIf(now = 1) AS seen, countIf(now = 1 AND o.affected = 1) AS affected, countIf(now = 0) AS seenBefore, countIf(now = 0 AND o.affected = 1) AS affectedBefore
FROM (${windows.join(' UNION ALL ')}) AS o
GROUP BY ${dimensions} ORDER BY countIf(o.affected = 1) DESC, count() DESC LIMIT ${MOST_CELLS}`;
}

function toCell({ seen, affected, seenBefore, affectedBefore, ...values }: CellRow): Cell {
  return { values, seen, affected, seenBefore, affectedBefore };
}

interface OrdersRow {
  readonly in_currency: string;
  readonly total: string | null;
  readonly without_amount: number;
  readonly with_amount: number;
  readonly newest: string;
  readonly example_type: string;
  readonly example_id: string;
}

function ordersSql(rule: ShareRule, numbers: EvaluationNumbers): string {
  const page = pageOf(rule, numbers, numbers.window_from, numbers.window_to);
  return `SELECT ifNull(currency, '') AS in_currency, toString(sum(amount)) AS total, countIf(amount IS NULL) AS without_amount, countIf(amount IS NOT NULL) AS with_amount,
  toString(maxIf(affected_at, is_known)) AS newest, argMaxIf(order_type, tuple(affected_at, external_id), is_known) AS example_type, argMaxIf(external_id, tuple(affected_at, external_id), is_known) AS example_id
FROM (${atPage(incidentOrders([rule], `, ${isKnown(rule)} AS is_known`), page)}) WHERE label = ${sqlText(numbers.label)} AND ${sliceCondition(numbers.slice)}
GROUP BY in_currency ORDER BY count() DESC, in_currency`;
}

const pageOf = (
  { name: rule }: Rule,
  { gateway, as_of: asOf }: EvaluationNumbers,
  from: EpochMicros,
  to: EpochMicros,
): Page => ({ rule, gateway, from, to, asOf });

function atRiskOf(rows: readonly OrdersRow[]): AtRisk {
  return {
    amounts: rows.flatMap(({ in_currency: currency, total, with_amount: known }) =>
      known === 0 || total === null ? [] : [{ currency, amount: total }],
    ),
    withoutAmount: rows.reduce((sum, row) => sum + row.without_amount, 0),
  };
}

function exampleOf(rows: readonly OrdersRow[], numbers: EvaluationNumbers): Example | null {
  const known = rows.filter((row) => row.example_id !== '');
  const newest = known.toSorted((a, b) => (a.newest < b.newest ? 1 : -1))[0];
  if (newest === undefined) return null;
  const { gateway } = numbers;
  const { example_type: orderType, example_id: externalId } = newest;
  const range = shownRange({
    windowFrom: numbers.window_from / 1000,
    windowTo: numbers.window_to / 1000,
    asOf: numbers.as_of / 1000,
  });
  const params = new URLSearchParams({
    from: String(range.from),
    to: String(range.to),
    'var-order_id': externalId,
    'var-gateway': gateway,
    'var-order_type': orderType,
  });
  const url = `/d/${DASHBOARDS.order.uid}?${params.toString()}`;
  return { gateway, orderType, externalId, traceId: traceIdOf(gateway, orderType, externalId), url };
}

/** As in the exported spans: derived from the order, so that nothing has to be looked up. */
const traceIdOf = (...order: readonly [gateway: string, orderType: string, externalId: string]): string =>
  createHash('sha256').update(order.join('|')).digest('hex').slice(0, 32);
