import type { TableKey } from '../../schemas/names.ts';
import type { AnyRow, RowBundle } from '../../schemas/rows.ts';
import type { Provenance } from '../../schemas/sink.ts';

export type RowsByTable = Map<TableKey, AnyRow[]>;

export interface ProvenanceSum {
  kafkaRecords: number;
  httpDeliveries: number;
  watchRequests: number;
  replies: number;
  historyItems: number;
  readonly coordinates: string[];
  readonly hintCoordinates: string[];
}

/** Number of rows in all tables of a bundle. */
export function countRows(bundle: RowBundle): number {
  let rows = 0;
  for (const list of Object.values(bundle)) rows += list.length;
  return rows;
}

/** Appends the rows of `bundle` to those collected so far, keeping the order within each table. */
export function appendRows(into: RowsByTable, bundle: RowBundle): void {
  for (const [table, rows] of Object.entries(bundle) as [TableKey, readonly AnyRow[]][]) {
    if (rows.length === 0) continue;
    const collected = into.get(table);
    if (collected === undefined) into.set(table, [...rows]);
    else for (const row of rows) collected.push(row);
  }
}

export function emptyProvenance(): ProvenanceSum {
  return {
    kafkaRecords: 0,
    httpDeliveries: 0,
    watchRequests: 0,
    replies: 0,
    historyItems: 0,
    coordinates: [],
    hintCoordinates: [],
  };
}

export function addProvenance(sum: ProvenanceSum, more: Provenance | undefined): void {
  if (more === undefined) return;
  sum.kafkaRecords += more.kafkaRecords ?? 0;
  sum.httpDeliveries += more.httpDeliveries ?? 0;
  sum.watchRequests += more.watchRequests ?? 0;
  sum.replies += more.replies ?? 0;
  sum.historyItems += more.historyItems ?? 0;
  for (const one of more.coordinates ?? []) sum.coordinates.push(one);
  for (const one of more.hintCoordinates ?? []) sum.hintCoordinates.push(one);
}

/** True when nothing came in with these bundles, e.g. a report of the collector about itself. */
export function isEmptyProvenance(sum: ProvenanceSum): boolean {
  const { kafkaRecords, httpDeliveries, watchRequests, replies, historyItems, coordinates } = sum;
  return kafkaRecords + httpDeliveries + watchRequests + replies + historyItems + coordinates.length === 0;
}
