import { JOBS, TABLES } from '../../../schemas/names.ts';
import { BATCH_STAMPED } from '../../../schemas/rows.ts';
import type { Store } from '../../../store/store.ts';

/**
 * Number of this collector's last batch, 0 before the first. A batch that was cut off before its row in the
 * ledger keeps its number: the audit distinguishes rows of acknowledged batches by it. The last batch
 * whose spans were exported counts as well: the ledger's rows may have expired, and a number below it would
 * never be exported.
 */
export async function loadBatchSeq(store: Store, collectorId: string): Promise<number> {
  const [exported] = await store.query<{ last: number }>(
    `SELECT max(done_batch) AS last FROM ${TABLES.jobs} WHERE job = {job:String} AND part = {collector:String}`,
    { job: JOBS.spans, collector: collectorId },
  );
  const ledger = await lastOf(store, collectorId, [TABLES.ingestLedger], exported?.last ?? 0);
  // Only numbers beyond count here, which the tables' indexes find without reading much.
  const tables = [...BATCH_STAMPED].map((key) => TABLES[key]);
  return lastOf(store, collectorId, tables, ledger);
}

async function lastOf(
  store: Store,
  collectorId: string,
  tables: readonly string[],
  after: number,
): Promise<number> {
  const parts = tables.map(
    (table) =>
      `SELECT max(batch_seq) AS seq FROM ${table} WHERE collector_id = {collector:String} AND batch_seq > {after:UInt64}`,
  );
  const [row] = await store.query<{ last: number }>(
    `SELECT max(seq) AS last FROM (${parts.join('\nUNION ALL\n')})`,
    { collector: collectorId, after },
  );
  return Math.max(row?.last ?? 0, after);
}
