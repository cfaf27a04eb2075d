import type { TableKey } from '../../../schemas/names.ts';
import { ITEMS_BY_TIME, TABLES } from '../../../schemas/names.ts';
import type { HistoryEventRow, SettlementRow } from '../../../schemas/rows.ts';
import { COLUMNS } from '../../../schemas/rows.ts';
import type { SqlParams, Store } from '../../../store/store.ts';
import type { Window } from './windows.ts';

/** Rows that spans are made of. */
export interface SpanRows {
  readonly events: readonly HistoryEventRow[];
  readonly settlements: readonly SettlementRow[];
}

/** Rows that whole batches of one collector added, each the winning version of its identity. */
export interface StoredRows {
  readonly events: ReadRows<HistoryEventRow>;
  readonly settlements: ReadRows<SettlementRow>;
}

/**
 * Rows as they were read, which are whole columns. A row is made when it is asked for, so that few of them
 * are there at once: collecting them all took longer than anything else that is done with them.
 */
export interface ReadRows<Row> {
  readonly count: number;
  /** Rows from `from` to before `to`, or to the end. */
  slice(from?: number, to?: number): Row[];
}

/**
 * How repetitions are found: `by_time` asks the table by time, which has them side by side, `exact` the table
 * itself, where each order is elsewhere: several times the work, and more the more there is. Both have the
 * same: what a kill kept out of the table by time, the sink puts there before it writes anything new.
 */
export type LookUp = 'by_time' | 'exact';

export async function readRows(
  store: Store,
  collectorId: string,
  window: Window,
  lookUp: LookUp = 'by_time',
): Promise<StoredRows> {
  const params = { collector: collectorId, from: window.from, to: window.to };
  const exactly = () => readTable<HistoryEventRow>(store, EVENTS_SQL, params);
  const [events, settlements] = await Promise.all([
    lookUp === 'exact' ? exactly() : readFirsts(store, params).then((firsts) => firsts ?? exactly()),
    readTable<SettlementRow>(store, SETTLEMENTS_SQL, params),
  ]);
  return { events, settlements };
}

/** The items of a window; null when one of them may be a repetition, or is not to be found by time. */
async function readFirsts(store: Store, params: SqlParams): Promise<ReadRows<HistoryEventRow> | null> {
  const { is_first: isFirst = [], ...columns } = await readColumns(store, FIRSTS_SQL, params);
  return isFirst.every((value) => value === 1) ? rowsOf(columns) : null;
}

/** All items of the orders that have a settlement in the window, whoever stored them. */
export async function readEventsOfSettled(
  store: Store,
  collectorId: string,
  window: Window,
): Promise<readonly HistoryEventRow[]> {
  const params = { collector: collectorId, from: window.from, to: window.to };
  return (await readTable<HistoryEventRow>(store, EVENTS_OF_SETTLED_SQL, params)).slice();
}

const readTable = async <Row>(store: Store, sql: string, params: SqlParams): Promise<ReadRows<Row>> =>
  rowsOf(await readColumns(store, sql, params));

type ColumnValues = Readonly<Record<string, readonly unknown[]>>;

/** Whole columns: writing and reading the names with each row takes as long as all else about it. */
async function readColumns(store: Store, sql: string, params: SqlParams): Promise<ColumnValues> {
  return JSON.parse(await store.queryText(sql, 'JSONColumns', params, SETTINGS)) as ColumnValues;
}

function rowsOf<Row>(columns: ColumnValues): ReadRows<Row> {
  const all = Object.entries(columns);
  const count = all[0]?.[1].length ?? 0;
  const rowAt = (index: number): Row => {
    const row: Record<string, unknown> = {};
    for (const [name, values] of all) row[name] = values[index];
    return row as Row;
  };
  return {
    count,
    slice: (from = 0, to = count) =>
      Array.from({ length: Math.max(0, Math.min(to, count) - from) }, (_, index) => rowAt(from + index)),
  };
}

// Columns keep their names when they are turned into microseconds: the conditions mean the columns, not the
// results. An amount comes as its text: a number would be a binary float.
export const SETTINGS = { prefer_column_name_to_alias: 1, output_format_json_quote_decimals: 1 };

export const ORDER = ['gateway', 'order_type', 'external_id'];

/** The batches of a window. */
export const WINDOW =
  'collector_id = {collector:String} AND batch_seq > {from:UInt64} AND batch_seq <= {to:UInt64}';

const EVENT = [...ORDER, 'event_time', 'action', 'occurrence'];
const EVENT_KEY = EVENT.join(', ');
/** The first version of each identity that the table by time has at the instants of the window. */
const FIRSTS_BY_TIME = `SELECT ${EVENT_KEY}, min(observed_at)
        FROM ${ITEMS_BY_TIME}
        WHERE event_time IN (SELECT event_time FROM ${TABLES.historyEvents} WHERE ${WINDOW})
        GROUP BY ${EVENT_KEY}`;
const FIRSTS_SQL = `SELECT ${selectList('historyEvents')},
    (${EVENT_KEY}, observed_at) IN
    (
        ${FIRSTS_BY_TIME}
    ) AS is_first
FROM ${TABLES.historyEvents}
WHERE ${WINDOW}
ORDER BY batch_seq, ${EVENT_KEY}
LIMIT 1 BY ${EVENT_KEY}, is_first`;
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
