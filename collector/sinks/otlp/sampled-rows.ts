import { FINDING_TABLES, TABLES } from '../../../schemas/names.ts';
import type { HistoryEventRow, SettlementRow } from '../../../schemas/rows.ts';
import type { Sampling } from '../../../schemas/sampling.ts';
import type { Store } from '../../../store/store.ts';
import type { SpanRows } from './stored-rows.ts';
import { ORDER, readEventsOfSettled, readRows, selectList, SETTINGS, WINDOW } from './stored-rows.ts';
import type { Window } from './windows.ts';

/** Decides about the trace of an order that has settled; null: it is left out. Pure. */
export type Sampler = (order: {
  readonly settlement: SettlementRow;
  readonly hasFinding: boolean;
}) => Sampling | null;

/** Rows of traces that are exported alike. */
export interface SampledRows {
  readonly sampling: Sampling;
  readonly rows: SpanRows;
}

export interface SampledWindow {
  readonly groups: readonly SampledRows[];
  /** Traces that were decided about in this window. */
  readonly kept: number;
  readonly leftOut: number;
}

/**
 * Rows to export when not all traces are. A trace is decided about when its order first settles: until then
 * its items wait in the store, then all of them go out. Items that come later follow their trace.
 */
export async function readSampledRows(
  store: Store,
  collectorId: string,
  window: Window,
  sampler: Sampler,
): Promise<SampledWindow> {
  const params = { collector: collectorId, from: window.from, to: window.to };
  const [rows, whole, settled] = await Promise.all([
    readRows(store, collectorId, window),
    readEventsOfSettled(store, collectorId, window),
    store.query<SettledRow>(SETTLED_SQL, params, SETTINGS),
  ]);
  const groups = new Map<
    string,
    { sampling: Sampling; events: HistoryEventRow[]; settlements: SettlementRow[] }
  >();
  const groupOf = (sampling: Sampling) => {
    const found = groups.get(sampling.traceState) ?? { sampling, events: [], settlements: [] };
    groups.set(sampling.traceState, found);
    return found;
  };
  const decided = new Map(
    settled.map((row) => {
      const sampling = sampler({ settlement: row, hasFinding: row.has_finding === 1 });
      return [keyOf(row), { row, sampling }];
    }),
  );
  const settlements = rows.settlements.slice();
  const now = new Map(settlements.map((row) => [keyOf(row), decided.get(keyOf(row))?.sampling ?? null]));
  for (const row of settlements) {
    const sampling = now.get(keyOf(row));
    if (sampling) groupOf(sampling).settlements.push(row);
  }
  for (const row of whole) {
    const sampling = now.get(keyOf(row));
    if (sampling) groupOf(sampling).events.push(row);
  }
  for (const row of rows.events.slice()) {
    const known = decided.get(keyOf(row));
    // It waits for its order, or is among the whole of it above.
    if (known === undefined || known.sampling === null || now.has(keyOf(row))) continue;
    if (known.row.collector_id === collectorId && known.row.batch_seq > window.to) continue;
    groupOf(known.sampling).events.push(row);
  }
  const kept = [...now.values()].filter((sampling) => sampling !== null).length;
  return {
    groups: [...groups.values()].map(({ sampling, ...some }) => ({ sampling, rows: some })),
    kept,
    leftOut: now.size - kept,
  };
}

interface SettledRow extends SettlementRow {
  readonly collector_id: string;
  readonly batch_seq: number;
  readonly has_finding: number;
}

interface OrderColumns {
  readonly gateway: string;
  readonly order_type: string;
  readonly external_id: string;
}

const keyOf = ({ gateway, order_type, external_id }: OrderColumns): string =>
  `${gateway}|${order_type}|${external_id}`;

/**
 * Findings are stored some minutes after the instant that they name, as sources are compared every five: only
 * those count that were surely there when the order settled, so that the answer stays the same.
 */
const FINDINGS_AGE_S = 600;

const ORDERS = ORDER.join(', ');
const TOUCHED = `SELECT ${ORDERS} FROM ${TABLES.historyEvents} WHERE ${WINDOW}
    UNION DISTINCT SELECT ${ORDERS} FROM ${TABLES.settlements} WHERE ${WINDOW}`;

/** The first settlement of each order of a window, whoever stored it. */
const SETTLED_SQL = `SELECT ${selectList('settlements')}, collector_id, batch_seq,
    (${ORDERS}) IN
    (
        SELECT f.gateway, f.order_type, f.external_id
        FROM ${FINDING_TABLES.findings} AS f
        INNER JOIN ${TABLES.settlements} AS s USING (${ORDERS})
        WHERE (${ORDERS}) IN (${TOUCHED})
        GROUP BY ALL
        HAVING min(f.found_at) + INTERVAL ${FINDINGS_AGE_S} SECOND <= min(s.settled_at)
    ) AS has_finding
FROM ${TABLES.settlements}
WHERE (${ORDERS}) IN (${TOUCHED})
ORDER BY ${ORDERS}, ${TABLES.settlements}.settled_at
LIMIT 1 BY ${ORDERS}`;
