import { JOBS, TABLES } from '../../../schemas/names.ts';
import type { Store } from '../../../store/store.ts';

/** Batches after `from` up to and with `to`. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** Batches read from the ledger in one go at most, however few rows they have. */
const LEDGER_BATCHES = 500;

/**
 * The next batches to export, as windows which follow each other: whole batches each, until they hold
 * `maxRows` history items. Empty when nothing is left. Only batches in the ledger count: those are complete.
 */
export async function nextWindows(
  store: Store,
  collectorId: string,
  doneBatch: number,
  maxRows: number,
): Promise<readonly Window[]> {
  const batches = await store.query<{ seq: number; items: number }>(
    `SELECT batch_seq AS seq, max(history_rows) AS items FROM ${TABLES.ingestLedger}
WHERE collector_id = {collector:String} AND batch_seq > {doneBatch:UInt64}
GROUP BY batch_seq ORDER BY batch_seq LIMIT ${LEDGER_BATCHES}`,
    { collector: collectorId, doneBatch },
  );
  const windows: Window[] = [];
  let from = doneBatch;
  let to: number | null = null;
  let items = 0;
  for (const batch of batches) {
    if (to !== null && items + batch.items > maxRows) {
      windows.push({ from, to });
      from = to;
      items = 0;
    }
    items += batch.items;
    to = batch.seq;
  }
  if (to !== null) windows.push({ from, to });
  return windows;
}

/** Number of the last batch of a collector whose spans were sent; 0 before the first. */
export async function readProgress(store: Store, collectorId: string): Promise<number> {
  const [row] = await store.query<{ doneBatch: number }>(
    `SELECT max(done_batch) AS doneBatch FROM ${TABLES.jobs} WHERE job = {job:String} AND part = {collector:String}`,
    { job: JOBS.spans, collector: collectorId },
  );
  return row?.doneBatch ?? 0;
}

/** Number of the last batch in the ledger; 0 before the first. */
export async function readLastBatch(store: Store, collectorId: string): Promise<number> {
  const [row] = await store.query<{ last: number }>(
    `SELECT max(batch_seq) AS last FROM ${TABLES.ingestLedger} WHERE collector_id = {collector:String}`,
    { collector: collectorId },
  );
  return row?.last ?? 0;
}
