import type { TableKey } from '../../../schemas/names.ts';
import { TABLES } from '../../../schemas/names.ts';
import type { HistoryEventRow, SettlementRow } from '../../../schemas/rows.ts';
import { COLUMNS } from '../../../schemas/rows.ts';
import type { Store } from '../../../store/store.ts';

/** Rows that whole batches of one collector added, each the winning version of its identity. */
export interface SpanRows {
  readonly events: readonly HistoryEventRow[];
  readonly settlements: readonly SettlementRow[];
}

/** Batches after `from` up to and with `to`. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** Batches looked at in one go at most, however few rows they have. */
const WINDOW_BATCHES = 500;

/**
 * The next batches to export: whole ones, until they hold `maxRows` history items. Null when nothing is left.
 * Only batches in the ledger count: those are complete.
 */
export async function nextWindow(
  store: Store,
  collectorId: string,
  cursor: number,
  maxRows: number,
): Promise<Window | null> {
  const batches = await store.query<{ seq: number; items: number }>(
    `SELECT batch_seq AS seq, max(history_rows) AS items FROM ${TABLES.ingestLedger}
WHERE collector_id = {collector:String} AND batch_seq > {cursor:UInt64}
GROUP BY batch_seq ORDER BY batch_seq LIMIT ${WINDOW_BATCHES}`,
    { collector: collectorId, cursor },
  );
  let items = 0;
  let to: number | null = null;
  for (const batch of batches) {
    if (to !== null && items + batch.items > maxRows) break;
    items += batch.items;
    to = batch.seq;
  }
  return to === null ? null : { from: cursor, to };
}

/** Number of the last batch that this exporter has sent; 0 before the first. */
export async function readCursor(store: Store, collectorId: string, exporter: string): Promise<number> {
  const [row] = await store.query<{ cursor: number }>(
    `SELECT max(batch_seq) AS cursor FROM ${TABLES.exportCursor}
WHERE collector_id = {collector:String} AND exporter = {exporter:String}`,
    { collector: collectorId, exporter },
  );
  return row?.cursor ?? 0;
}

/** Number of the last batch in the ledger; 0 before the first. */
export async function readLastBatch(store: Store, collectorId: string): Promise<number> {
  const [row] = await store.query<{ last: number }>(
    `SELECT max(batch_seq) AS last FROM ${TABLES.ingestLedger} WHERE collector_id = {collector:String}`,
    { collector: collectorId },
  );
  return row?.last ?? 0;
}

export async function readRows(store: Store, collectorId: string, window: Window): Promise<SpanRows> {
  const params = { collector: collectorId, from: window.from, to: window.to };
  const [events, settlements] = await Promise.all([
    store.query<HistoryEventRow>(EVENTS_SQL, params, SETTINGS),
    store.query<SettlementRow>(SETTLEMENTS_SQL, params, SETTINGS),
  ]);
  return { events, settlements };
}

/** All items of the orders that have a settlement in the window, whoever stored them. */
export async function readEventsOfSettled(
  store: Store,
  collectorId: string,
  window: Window,
): Promise<readonly HistoryEventRow[]> {
  const params = { collector: collectorId, from: window.from, to: window.to };
  return store.query<HistoryEventRow>(EVENTS_OF_SETTLED_SQL, params, SETTINGS);
}

// Columns keep their names when they are turned into microseconds: the conditions mean the columns, not the
// results. An amount comes as its text: a number would be a binary float.
export const SETTINGS = { prefer_column_name_to_alias: 1, output_format_json_quote_decimals: 1 };

export const ORDER = ['gateway', 'order_type', 'external_id'];

/** The batches of a window. */
export const WINDOW =
  'collector_id = {collector:String} AND batch_seq > {from:UInt64} AND batch_seq <= {to:UInt64}';

const EVENT = [...ORDER, 'event_time', 'action', 'occurrence'];
const EVENTS_SQL = winnersSql('historyEvents', EVENT, 'observed_at');
const EVENTS_OF_SETTLED_SQL = winnersSql('historyEvents', EVENT, 'observed_at', 'settlements');
const SETTLEMENTS_SQL = winnersSql('settlements', ORDER, 'settled_at');

/**
 * The rows of a window which are the first of their identity; with `of`, all such rows of the orders that
 * have a row in that table in the window. The tables keep the version that is earliest by
 * `age`; a later one is a repetition and has been exported, or will be, with the batch of the first. Only the
 * orders of the window are looked up, by the primary key.
 */
function winnersSql(table: TableKey, identity: readonly string[], age: string, of: TableKey = table): string {
  const source = TABLES[table];
  const orders = ORDER.join(', ');
  const key = identity.join(', ');
  const touched = `(${orders}) IN (SELECT ${orders} FROM ${TABLES[of]} WHERE ${WINDOW})`;
  return `SELECT ${selectList(table)}
FROM ${source}
WHERE ${of === table ? WINDOW : touched}
    AND (${key}, ${age}) IN
    (
        SELECT ${key}, min(${age})
        FROM ${source}
        WHERE ${touched}
        GROUP BY ${key}
    )
ORDER BY batch_seq, ${key}
LIMIT 1 BY ${key}`;
}

/** Every column of a table in the form in which it was written: times as microseconds. */
export function selectList(table: TableKey): string {
  const columns: [string, string][] = Object.entries(COLUMNS[table]);
  return columns
    .map(([name, kind]) => (kind.startsWith('micros') ? `toUnixTimestamp64Micro(${name}) AS ${name}` : name))
    .join(', ');
}
