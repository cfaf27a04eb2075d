import { createHash } from 'node:crypto';
import type { TableKey } from '../../../schemas/names.ts';
import { TABLES } from '../../../schemas/names.ts';
import type { EpochMicros, RejectRow } from '../../../schemas/rows.ts';
import { COLUMNS } from '../../../schemas/rows.ts';
import type { AnyRow } from '../../../schemas/rows.ts';
import { RowNotEncodable } from '../../../store/arrow-buffers.ts';
import { StoreError } from '../../../store/store-error.ts';

/** A row that the store refuses however often it is sent, and why. */
export interface RefusedRow {
  readonly table: TableKey;
  readonly row: AnyRow;
  readonly error: unknown;
}

/** Columns that identify a row; `rejects` holds no other value of a refused row. */
const IDENTITY: Readonly<Partial<Record<TableKey, readonly string[]>>> = {
  historyEvents: ['gateway', 'order_type', 'external_id', 'event_time', 'action', 'occurrence'],
  orders: ['gateway', 'order_type', 'external_id', 'observed_at'],
  orderClaims: ['gateway', 'order_type', 'external_id', 'observed_at', 'kind'],
  callbackDeliveries: ['gateway', 'delivery_id', 'received_at', 'topic', 'kafka_partition', 'kafka_offset'],
  polls: ['gateway', 'started_at', 'poll_id', 'order_id'],
  watchRequests: ['gateway', 'request_id', 'received_at', 'order_type', 'order_id'],
  settlements: ['gateway', 'order_type', 'external_id', 'settled_at'],
  orderWatch: ['gateway', 'order_type', 'id_kind', 'order_id', 'updated_at'],
  rejects: ['gateway', 'reason', 'reject_id'],
};

/**
 * The row of `rejects` which stands for a refused row: table, column names, ClickHouse's code and the
 * identity, no other value. Equal rows get equal ids, so that a repetition is absorbed.
 */
export function rejectRefusedRow({ table, row, error }: RefusedRow, rejectedAt: EpochMicros): RejectRow {
  const identity: Record<string, unknown> = {};
  for (const column of IDENTITY[table] ?? []) identity[column] = shorten(row[column]);
  const content = { table: TABLES[table], columns: Object.keys(COLUMNS[table]), identity };
  return {
    gateway: text(row['gateway']),
    reason: 'row_refused_by_store',
    reject_id: createHash('sha256')
      .update(`${table}\n${JSON.stringify(row)}`)
      .digest('hex')
      .slice(0, 32),
    rejected_at: rejectedAt,
    source: 'store',
    field: error instanceof RowNotEncodable ? error.column : '',
    expected: `a row of ${TABLES[table]}`,
    received: describeError(error),
    content: JSON.stringify(content),
    topic: text(row['topic']),
    kafka_partition: integer(row['kafka_partition']),
    kafka_offset: integer(row['kafka_offset']),
    delivery_id: text(row['delivery_id']),
    order_type: textOrNull(row['order_type']),
    order_id: textOrNull(row['external_id'] ?? row['order_id']),
  };
}

function describeError(error: unknown): string {
  if (error instanceof StoreError)
    return `ClickHouse error ${error.clickhouseCode} ${error.clickhouseType ?? ''}`.trim();
  return error instanceof RowNotEncodable ? 'value does not fit the column' : 'refused';
}

const SHOWN_CHARACTERS = 200;

function shorten(value: unknown): unknown {
  if (typeof value === 'string') return value.slice(0, SHOWN_CHARACTERS);
  return typeof value === 'number' ? value : null;
}

function text(value: unknown): string {
  return textOrNull(value) ?? '';
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value.slice(0, SHOWN_CHARACTERS) : null;
}

function integer(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null;
}
