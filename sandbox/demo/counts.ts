import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the views say at one moment. */
export interface Counts {
  readonly orders: number;
  readonly polls: number;
  readonly callbacks: number;
  readonly callbackDeliveries: number;
  readonly mismatches: number;
  readonly historyEvents: number;
  readonly undecodedCodes: number;
  readonly settledOrders: number;
  readonly failures: number;
  readonly rejects: number;
}

/** One statement over the public views, run with the reader's rights. */
export const COUNTS_SQL = `SELECT
  (SELECT count() FROM gatewatch.orders) AS orders,
  (SELECT count() FROM gatewatch.polls) AS polls,
  (SELECT count() FROM gatewatch.callbacks) AS callbacks,
  (SELECT sum(deliveries) FROM gatewatch.callbacks) AS callbackDeliveries,
  (SELECT countIf(verdict = 'mismatch') FROM gatewatch.callbacks) AS mismatches,
  (SELECT count() FROM gatewatch.history_events) AS historyEvents,
  (SELECT countIf(code_format != 'v2') FROM gatewatch.history_events) AS undecodedCodes,
  (SELECT countIf(settled_at IS NOT NULL) FROM gatewatch.orders) AS settledOrders,
  (SELECT countIf(outcome = 'technical_failure') FROM gatewatch.orders) AS failures,
  (SELECT count() FROM gatewatch.rejects) AS rejects
FORMAT JSONEachRow`;

/** Asks the store as an analyst does: over ClickHouse's HTTP interface, as the reader. */
export async function readCounts(store: string, dataDir: string): Promise<Counts> {
  const password = readFileSync(join(dataDir, 'reader.secret'), 'utf8').trim();
  const settings = 'output_format_json_quote_64bit_integers=0';
  const headers = { 'x-clickhouse-user': 'gatewatch_reader', 'x-clickhouse-key': password };
  const reply = await fetch(`${store}/?${settings}`, { method: 'POST', headers, body: COUNTS_SQL });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`the store answered ${reply.status}: ${text.slice(0, 300)}`);
  return JSON.parse(text) as Counts;
}
