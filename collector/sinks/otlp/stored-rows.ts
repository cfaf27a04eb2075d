import type { TableKey } from '../../../schemas/names.ts';
import { TABLES } from '../../../schemas/names.ts';
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

export async function readRows(store: Store, collectorId: string, window: Window): Promise<StoredRows> {
  const params = { collector: collectorId, from: window.from, to: window.to };
  const [events, settlements] = await Promise.all([
    readTable<HistoryEventRow>(store, EVENTS_SQL, params),
    readTable<SettlementRow>(store, SETTLEMENTS_SQL, params),
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
const EVENTS = TABLES.historyEvents;
const SETTLED = TABLES.settlements;

const EVENTS_SQL = winnersSql({
  table: 'historyEvents',
  identity: EVENT,
  age: 'observed_at',
  wanted: WINDOW,
  near: `event_time IN (SELECT event_time FROM ${EVENTS} WHERE ${WINDOW})`,
});
const ORDERS = ORDER.join(', ');
const OF_WINDOW = `(${ORDERS}) IN (SELECT ${ORDERS} FROM ${SETTLED} WHERE ${WINDOW})`;
const OF_SETTLED = `event_time >= (SELECT min(first_event_at) FROM ${SETTLED} WHERE ${WINDOW})
 AND ${OF_WINDOW}`;
const EVENTS_OF_SETTLED_SQL = winnersSql({
  table: 'historyEvents',
  identity: EVENT,
  age: 'observed_at',
  wanted: OF_SETTLED,
  near: OF_SETTLED,
});
const SETTLEMENTS_SQL = winnersSql({
  table: 'settlements',
  identity: ORDER,
  age: 'settled_at',
  wanted: WINDOW,
  near: OF_WINDOW,
});

interface Winners {
  readonly table: TableKey;
  readonly identity: readonly string[];
  readonly age: string;
  /** Condition on the rows that are asked for. */
  readonly wanted: string;
  /** Condition on rows among which all versions of these are, by the sorting key of the table. */
  readonly near: string;
}

/**
 * The rows that are wanted and are the first of their identity. The tables keep the version that is earliest
 * by `age`; a later one is a repetition and has been exported, or will be, with the batch of the first.
 */
function winnersSql({ table, identity, age, wanted, near }: Winners): string {
  const key = identity.join(', ');
  return `SELECT ${selectList(table)}
FROM ${TABLES[table]}
WHERE ${wanted}
    AND (${key}, ${age}) IN
    (
        SELECT ${key}, min(${age})
        FROM ${TABLES[table]}
        WHERE ${near}
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
