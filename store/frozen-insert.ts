import { createHash } from 'node:crypto';
import type { TableKey } from '../schemas/names.ts';
import { TABLES } from '../schemas/names.ts';
import { BATCH_STAMPED, COLUMNS } from '../schemas/rows.ts';
import type { Columns } from '../schemas/rows.ts';
import type { AnyRow } from '../schemas/rows.ts';
import { encodeArrow } from './arrow.ts';

/** Which batch wrote a row; sent with rows of the tables in BATCH_STAMPED. */
export interface BatchStamp {
  readonly collectorId: string;
  readonly batchSeq: number;
}

/**
 * One insert, ready to send as often as it takes. The token is a hash of table and bytes: ClickHouse drops a
 * repeated token whatever the rows are, so that only equal content may ever share one.
 */
export interface FrozenInsert {
  readonly table: TableKey;
  readonly tableName: string;
  readonly rows: readonly AnyRow[];
  readonly statement: string;
  readonly bytes: Uint8Array;
  readonly token: string;
}

export interface FreezeOptions {
  stamp?: BatchStamp | undefined;
  /** @default SHA-256 of table and bytes */
  token?: string | undefined;
}

const STAMP_COLUMNS = { collector_id: 'string', batch_seq: 'u64' } as const satisfies Columns;

/** @throws RowNotEncodable for the first row with a value that its column cannot carry. */
export function freezeInsert(
  table: TableKey,
  rows: readonly AnyRow[],
  { stamp, token }: FreezeOptions = {},
): FrozenInsert {
  const stamped = BATCH_STAMPED.has(table) && stamp !== undefined;
  const columns: Columns = stamped ? { ...COLUMNS[table], ...STAMP_COLUMNS } : COLUMNS[table];
  const constants = stamped ? { collector_id: stamp.collectorId, batch_seq: stamp.batchSeq } : {};
  const bytes = encodeArrow(columns, rows, constants);
  const tableName = TABLES[table];
  return {
    table,
    tableName,
    rows,
    statement: `INSERT INTO ${tableName} (${Object.keys(columns).join(', ')}) FORMAT ArrowStream`,
    bytes,
    token: token ?? createHash('sha256').update(`${tableName}\n`).update(bytes).digest('hex'),
  };
}
