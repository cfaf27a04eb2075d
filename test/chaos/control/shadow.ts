import type { Arm } from '../arm.ts';

/**
 * The control beside the run: each insert that ClickHouse applies is written a second time into plain tables,
 * which know neither the identity of a row nor the token of an insert. The same faults must leave duplicates
 * there.
 */
const STATEMENTS = [
  'CREATE DATABASE IF NOT EXISTS chaos',
  `CREATE TABLE IF NOT EXISTS chaos.history (identity UInt64) ENGINE = MergeTree ORDER BY tuple()`,
  `CREATE MATERIALIZED VIEW IF NOT EXISTS chaos.history_of TO chaos.history AS
SELECT cityHash64(gateway, toString(order_type), external_id, event_time, action, occurrence) AS identity
FROM gatewatch.history_events_store`,
  `CREATE TABLE IF NOT EXISTS chaos.callbacks (identity UInt64) ENGINE = MergeTree ORDER BY tuple()`,
  `CREATE MATERIALIZED VIEW IF NOT EXISTS chaos.callbacks_of TO chaos.callbacks AS
SELECT cityHash64(gateway, content_hash, delivery_id) AS identity FROM gatewatch.callback_deliveries_store`,
];

/** Needs the schema to be in place. */
export async function installShadow(arm: Arm): Promise<void> {
  for (const statement of STATEMENTS) await arm.query(statement);
}

export interface Shadow {
  readonly historyRows: number;
  readonly historyDuplicates: number;
  readonly callbackRows: number;
  readonly callbackDuplicates: number;
}

/** What would have been counted twice without the protection. */
export async function readShadow(arm: Arm): Promise<Shadow> {
  const of = async (table: string) => {
    const [row] = await arm.query<{ rows: number; twice: number }>(
      `SELECT count() AS rows, count() - uniqExact(identity) AS twice FROM chaos.${table}`,
    );
    return { rows: row?.rows ?? 0, twice: row?.twice ?? 0 };
  };
  const [history, callbacks] = [await of('history'), await of('callbacks')];
  return {
    historyRows: history.rows,
    historyDuplicates: history.twice,
    callbackRows: callbacks.rows,
    callbackDuplicates: callbacks.twice,
  };
}
