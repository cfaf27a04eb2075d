import type { TableKey } from '../../../schemas/names.ts';
import type { EpochMicros, Rows } from '../../../schemas/rows.ts';
import { BATCH_STAMPED } from '../../../schemas/rows.ts';
import type { AnyRow } from '../../../schemas/rows.ts';
import type { ProvenanceSum, RowsByTable } from '../bundle.ts';
import { isEmptyProvenance } from '../bundle.ts';
import type { BatchStamp, FrozenInsert } from '../../../store/frozen-insert.ts';
import { freezeInsert } from '../../../store/frozen-insert.ts';
import type { EncodedRows } from './insert-or-bisect.ts';
import { encodeRows, insertOrBisect } from './insert-or-bisect.ts';
import type { RefusedRow } from './refused-row.ts';
import { rejectRefusedRow } from './refused-row.ts';

/**
 * Facts first, then the rows of orders, which say what of them is stored, then the poller's memory of having
 * seen them, then the ledger: a crash in between costs another poll, never a fact, and a batch in the ledger
 * is complete.
 */
const FACTS: readonly TableKey[] = [
  'historyEvents',
  'settlements',
  'orderClaims',
  'callbackDeliveries',
  'polls',
  'rejects',
  'rejectResolutions',
  'watchRequests',
  'collectorStatus',
  'gatewayStatus',
  'annotations',
  'jobs',
];
const KNOWN: readonly TableKey[] = ['orders'];
const MEMORY: readonly TableKey[] = ['orderWatch'];

/** Tables written at the same time: the embedded engine has two writers. */
const TABLES_AT_ONCE = 2;

/** What was collected for one batch. */
export interface Collected {
  readonly rows: RowsByTable;
  readonly provenance: ProvenanceSum;
}

/** A batch whose bytes no longer change. */
export interface FrozenBatch {
  readonly stamp: BatchStamp;
  /** It gets a row in the ledger, and so a number of its own. */
  readonly inLedger: boolean;
  readonly encoded: ReadonlyMap<TableKey, EncodedRows>;
  readonly provenance: ProvenanceSum;
  readonly rowCount: number;
}

export interface DeliveryReport {
  /** Rows that the store acknowledged, by table. */
  readonly stored: ReadonlyMap<TableKey, number>;
  readonly refused: number;
}

export interface DeliveryTools {
  /** Repeats until the store answers; throws data errors and `stopped`. */
  readonly send: (insert: FrozenInsert) => Promise<void>;
  readonly nowMicros: () => EpochMicros;
}

/** True when the ledger needs to know of these rows: something came in, or rows carry the batch's number. */
export function belongsInLedger({ rows, provenance }: Collected): boolean {
  if (!isEmptyProvenance(provenance)) return true;
  for (const table of rows.keys()) if (BATCH_STAMPED.has(table)) return true;
  return false;
}

/** Stamps and encodes. CPU only: the next batch is frozen while the current one is under way. */
export function freezeBatch(collected: Collected, stamp: BatchStamp, maxRows: number): FrozenBatch {
  const encoded = new Map<TableKey, EncodedRows>();
  let rowCount = 0;
  for (const [table, rows] of collected.rows) {
    rowCount += rows.length;
    encoded.set(table, encodeRows(table, rows, stamp, maxRows));
  }
  return { stamp, inLedger: belongsInLedger(collected), encoded, provenance: collected.provenance, rowCount };
}

/** Writes a batch to its end. Only `stopped` interrupts it. */
export async function deliverBatch(batch: FrozenBatch, tools: DeliveryTools): Promise<DeliveryReport> {
  const stored = new Map<TableKey, number>();
  let refusedRows = 0;

  async function writeTable(table: TableKey): Promise<RefusedRow[]> {
    const encoded = batch.encoded.get(table);
    if (encoded === undefined) return [];
    const refused = [...encoded.refused];
    let sent = 0;
    for (const insert of encoded.inserts) {
      const culprits = await insertOrBisect(insert, batch.stamp, tools.send);
      sent += insert.rows.length - culprits.length;
      refused.push(...culprits);
    }
    add(table, sent);
    return refused;
  }

  async function writeTables(tables: readonly TableKey[]): Promise<void> {
    const refused: RefusedRow[] = [];
    const todo = tables.filter((table) => batch.encoded.has(table)).values();
    const worker = async (): Promise<void> => {
      for (const table of todo) refused.push(...(await writeTable(table)));
    };
    await Promise.all(Array.from({ length: TABLES_AT_ONCE }, worker));
    await writeRejects(refused);
  }

  async function writeRejects(refused: readonly RefusedRow[]): Promise<void> {
    if (refused.length === 0) return;
    const rejectedAt = tools.nowMicros();
    const rows = refused.map((one) => rejectRefusedRow(one, rejectedAt));
    await tools.send(freezeInsert('rejects', rows as unknown as AnyRow[], { stamp: batch.stamp }));
    add('rejects', rows.length);
    refusedRows += rows.length;
  }

  function add(table: TableKey, rows: number): void {
    if (rows > 0) stored.set(table, (stored.get(table) ?? 0) + rows);
  }

  await writeTables(FACTS);
  await writeTables(KNOWN);
  await writeTables(MEMORY);
  if (batch.inLedger)
    await tools.send(freezeInsert('ingestLedger', [ledgerRow(batch, stored, tools.nowMicros())]));
  return { stored, refused: refusedRows };
}

function ledgerRow(
  { stamp, provenance }: FrozenBatch,
  stored: ReadonlyMap<TableKey, number>,
  acknowledgedAt: EpochMicros,
): AnyRow {
  const row: Rows['ingestLedger'] = {
    collector_id: stamp.collectorId,
    batch_seq: stamp.batchSeq,
    acknowledged_at: acknowledgedAt,
    kafka_records: provenance.kafkaRecords,
    http_deliveries: provenance.httpDeliveries,
    watch_requests: provenance.watchRequests,
    replies: provenance.replies,
    history_items: provenance.historyItems,
    callback_rows: stored.get('callbackDeliveries') ?? 0,
    history_rows: stored.get('historyEvents') ?? 0,
    reject_rows: stored.get('rejects') ?? 0,
    coordinates: provenance.coordinates.join(' '),
    hint_coordinates: provenance.hintCoordinates.join(' '),
  };
  return row as unknown as AnyRow;
}
