import { TABLES } from '../../../schemas/names.ts';
import { BATCH_STAMPED } from '../../../schemas/rows.ts';
import type { Store } from '../../../store/store.ts';
import { MAX_WEEKS } from './weeks.ts';

/**
 * Number of this collector's last batch, 0 before the first. A batch that was cut off before its row in the
 * ledger keeps its number: the audit distinguishes rows of acknowledged batches by it. The span cursor counts
 * as well: the ledger's rows may have expired, and a number below the cursor would never be exported.
 *
 * @param completed weeks of batches that were cut off, as far as they were completed: a repetition goes on
 * there
 */
export async function loadBatchSeq(
  store: Store,
  collectorId: string,
  completed: Set<string> = new Set(),
): Promise<number> {
  const ledger = await lastOf(store, collectorId, [TABLES.ingestLedger, TABLES.exportCursor], 0);
  // Only numbers beyond count here, which the tables' indexes find without reading much.
  const tables = [...BATCH_STAMPED].map((key) => TABLES[key]);
  const last = await lastOf(store, collectorId, tables, ledger);
  if (last > ledger) await completeCutOff(store, { collector: collectorId, ledger }, completed);
  return last;
}

/**
 * Inserts the history of batches that were cut off again. An insert puts its rows into the table first and
 * then into the copies that materialized views fill; a store that is killed in between has them in the table
 * only. They would stay missing from the copies, since a later poll finds the items known. The rows are the
 * same, so the tables fold them into one. Each statement covers a few weeks and has the usual deadline.
 */
async function completeCutOff(
  store: Store,
  after: { readonly collector: string; readonly ledger: number },
  completed: Set<string>,
): Promise<void> {
  const table = TABLES.historyEvents;
  const cutOff = 'collector_id = {collector:String} AND batch_seq > {ledger:UInt64}';
  const rows = await store.query<{ week: string }>(
    `SELECT DISTINCT toString(toMonday(event_time)) AS week FROM ${table} WHERE ${cutOff} ORDER BY week`,
    after,
  );
  const todo = rows.map(({ week }) => week).filter((week) => !completed.has(week));
  for (let from = 0; from < todo.length; from += MAX_WEEKS) {
    const weeks = todo.slice(from, from + MAX_WEEKS);
    await store.command(
      `INSERT INTO ${table} SELECT * FROM ${table}
WHERE ${cutOff} AND toMonday(event_time) IN {weeks:Array(Date)}
SETTINGS insert_deduplicate = 0, max_partitions_per_insert_block = 0`,
      { params: { ...after, weeks } },
    );
    for (const week of weeks) completed.add(week);
  }
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
