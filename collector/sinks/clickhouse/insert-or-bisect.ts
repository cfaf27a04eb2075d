import type { TableKey } from '../../../schemas/names.ts';
import type { AnyRow } from '../../../schemas/rows.ts';
import { RowNotEncodable } from '../../../store/arrow-buffers.ts';
import type { BatchStamp, FrozenInsert } from '../../../store/frozen-insert.ts';
import { freezeInsert } from '../../../store/frozen-insert.ts';
import type { RefusedRow } from './refused-row.ts';
import { isDataError } from '../../../store/store-error.ts';
import { splitByWeeks } from './weeks.ts';

/** Rows of one table, encoded; rows which could not be encoded are set apart. */
export interface EncodedRows {
  readonly inserts: readonly FrozenInsert[];
  readonly refused: readonly RefusedRow[];
}

/** Freezes rows in slices of `maxRows` rows and MAX_WEEKS weeks, one insert each. */
export function encodeRows(
  table: TableKey,
  rows: readonly AnyRow[],
  stamp: BatchStamp | undefined,
  maxRows: number,
): EncodedRows {
  const inserts: FrozenInsert[] = [];
  const refused: RefusedRow[] = [];
  for (const some of splitByWeeks(table, rows)) {
    for (let from = 0; from < some.length; from += maxRows) encodeSlice(some.slice(from, from + maxRows));
  }
  return { inserts, refused };

  function encodeSlice(slice: AnyRow[]): void {
    while (slice.length > 0) {
      try {
        inserts.push(freezeInsert(table, slice, { stamp }));
        break;
      } catch (error) {
        if (!(error instanceof RowNotEncodable)) throw error;
        for (const row of slice.splice(error.row, 1)) refused.push({ table, row, error });
      }
    }
  }
}

/**
 * Sends one insert. When ClickHouse refuses its rows, halves them until the culprits stand alone: these are
 * returned, the others are stored. `send` repeats by itself until the store answers, and throws data errors.
 */
export async function insertOrBisect(
  insert: FrozenInsert,
  stamp: BatchStamp | undefined,
  send: (insert: FrozenInsert) => Promise<void>,
): Promise<RefusedRow[]> {
  try {
    await send(insert);
    return [];
  } catch (error) {
    if (!isDataError(error)) throw error;
    const { rows, table } = insert;
    const [only] = rows;
    if (rows.length === 1 && only !== undefined) return [{ table, row: only, error }];
    const middle = rows.length >> 1;
    const left = await insertOrBisect(freezeInsert(table, rows.slice(0, middle), { stamp }), stamp, send);
    const right = await insertOrBisect(freezeInsert(table, rows.slice(middle), { stamp }), stamp, send);
    return [...left, ...right];
  }
}
