import { sqlList, sqlText } from '../../schemas/measures.ts';
import { TABLES, VIEWS } from '../../schemas/names.ts';
import type { Evaluation } from './evaluation.ts';

type Query = <T>(sql: string) => Promise<T[]>;

/** Older ones are of no use to whoever goes on. */
const LOOK_BACK_MS = 86_400_000;

/** The newest instant that has evaluations, in milliseconds since 1970; null: none within a day. */
export async function newestEvaluation(query: Query, nowMs: number): Promise<number | null> {
  const [row] = await query<{ newest: number }>(
    `SELECT toUnixTimestamp(max(as_of)) AS newest FROM ${TABLES.alertEvaluations} WHERE as_of > ${instant(nowMs - LOOK_BACK_MS)}`,
  );
  return row === undefined || row.newest === 0 ? null : row.newest * 1000;
}

/** The evaluations from an instant on, by instant, oldest first. */
export const evaluationsFrom = (query: Query, fromMs: number): Promise<Map<number, Evaluation[]>> =>
  evaluationsWhere(query, `e.as_of >= ${instant(fromMs)}`);

/** The evaluations of these rules at these instants (at least one of each), by instant. */
export const evaluationsAt = (
  query: Query,
  rules: readonly string[],
  instantsMs: readonly number[],
): Promise<Map<number, Evaluation[]>> =>
  evaluationsWhere(
    query,
    `e.rule IN (${sqlList(rules)}) AND e.as_of IN (${instantsMs.map(instant).join(', ')})`,
  );

async function evaluationsWhere(query: Query, where: string): Promise<Map<number, Evaluation[]>> {
  const rows = await query<Evaluation>(
    `SELECT ${COLUMNS}
FROM ${VIEWS.alertEvaluations} AS e
WHERE ${where}
ORDER BY e.as_of`,
  );
  return Map.groupBy(rows, ({ as_of }) => as_of / 1000);
}

export interface BreachOf {
  readonly rule: string;
  /** @default any */
  readonly gateway?: string | undefined;
  /** '' for the whole gateway. @default any */
  readonly slice?: string | undefined;
  /** @default any */
  readonly label?: string | undefined;
  /** Milliseconds since 1970: what was the newest then. */
  readonly atMs: number;
}

/** The newest evaluation that was an incident; of several at one instant the one that affects most. */
export async function newestBreach(
  query: Query,
  { rule, gateway, slice, label, atMs }: BreachOf,
): Promise<Evaluation | null> {
  const is = (column: string, value: string | undefined): string =>
    value === undefined ? '' : ` AND e.${column} = ${sqlText(value)}`;
  const [row] = await query<Evaluation>(
    `SELECT ${COLUMNS}
FROM ${VIEWS.alertEvaluations} AS e
WHERE e.rule = ${sqlText(rule)}${is('gateway', gateway)}${is('slice', slice)}${is('label', label)} AND e.as_of <= toDateTime(${Math.floor(atMs / 1000)}, 'UTC') AND e.breach
ORDER BY e.as_of DESC, e.affected DESC, e.gateway, e.slice, e.label
LIMIT 1`,
  );
  return row ?? null;
}

const micros = (column: string): string =>
  `toUnixTimestamp64Micro(toDateTime64(e.${column}, 6)) AS ${column}`;
const COLUMNS = `toString(e.kind) AS kind, rule, gateway, slice, label, seen, affected, expected, limit, share, number, breach, suppressed_by, definition, evaluator, took_ms,
  ${['as_of', 'window_from', 'window_to', 'evaluated_at'].map(micros).join(', ')}`;

const instant = (ms: number): string => `toDateTime(${Math.ceil(ms / 1000)}, 'UTC')`;
