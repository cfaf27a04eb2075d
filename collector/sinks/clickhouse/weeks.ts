import type { EpochMicros } from '../../../schemas/rows.ts';
import type { TableKey } from '../../../schemas/names.ts';
import type { AnyRow } from '../../../schemas/rows.ts';

/**
 * Partitions that a statement writes to at most, and that bundles put together into one batch do. A partition
 * costs as much as a thousand rows: files of its own, each of them forced to the disk.
 */
export const MAX_WEEKS = 8;

const WEEK: EpochMicros = 7 * 86_400_000_000;
/** 1970 began on a Thursday. */
const TO_MONDAY: EpochMicros = 3 * 86_400_000_000;

/** Numbers the weeks from Monday to Sunday, as `toMonday` parts them. */
export const weekOf = (time: EpochMicros): number => Math.floor((time + TO_MONDAY) / WEEK);

/**
 * Splits rows into statements that each write to at most MAX_WEEKS partitions; one statement keeps the order
 * of the rows. Only history needs it: its times come from the gateway and can be any, while the times of the
 * other partitioned tables are those of our own clock.
 */
export function splitByWeeks(table: TableKey, rows: readonly AnyRow[]): readonly (readonly AnyRow[])[] {
  if (table !== 'historyEvents') return [rows];
  const byWeek = new Map<number, AnyRow[]>();
  for (const row of rows) {
    const week = weekOf(row['event_time'] as EpochMicros);
    const others = byWeek.get(week);
    if (others === undefined) byWeek.set(week, [row]);
    else others.push(row);
  }
  if (byWeek.size <= MAX_WEEKS) return [rows];
  const weeks = [...byWeek.keys()].toSorted((a, b) => a - b);
  const statements: AnyRow[][] = [];
  for (let from = 0; from < weeks.length; from += MAX_WEEKS)
    statements.push(weeks.slice(from, from + MAX_WEEKS).flatMap((week) => byWeek.get(week) ?? []));
  return statements;
}
