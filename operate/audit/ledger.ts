import { TABLES } from '../../schemas/names.ts';
import type { Query } from './report.ts';

/** How far each collector's ledger reached at one moment. The rows of these batches were stored before. */
export interface LedgerBounds {
  readonly collectors: readonly string[];
  readonly lasts: readonly number[];
}

/**
 * Asked before anything else: batches that are acknowledged while the audit reads are left out, so that it
 * can run beside working collectors, whatever their clocks say.
 */
export async function readBounds(query: Query): Promise<LedgerBounds> {
  const rows = await query<{ collector: string; last: number }>(
    `SELECT toString(collector_id) AS collector, max(batch_seq) AS last FROM ${TABLES.ingestLedger} GROUP BY collector_id`,
  );
  return { collectors: rows.map((row) => row.collector), lasts: rows.map((row) => row.last) };
}

/** Condition on the ledger: batches within the bounds, acknowledged in the window. */
export const WITHIN = `acknowledged_at >= fromUnixTimestamp64Micro({since:Int64})
    AND batch_seq <= transform(toString(collector_id), {collectors:Array(String)}, {lasts:Array(UInt64)}, toUInt64(0))`;

/** Parameters of WITHIN. */
export function withinParams(bounds: LedgerBounds, sinceMicros: number): Record<string, unknown> {
  return { since: sinceMicros, collectors: bounds.collectors, lasts: bounds.lasts };
}
