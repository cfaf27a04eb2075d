import type { RetentionConfig } from '../schemas/config.ts';
import type { TableKey } from '../schemas/names.ts';
import { FINDING_TABLES, GATEWAY_STATUS_BY_HOUR, TABLES } from '../schemas/names.ts';
import type { Store } from './store.ts';

/** Days that rows are kept, by kind; 0 keeps them for ever. */
export interface RetentionDays {
  /** History items and settlements, by event time and settling time. @default 400 */
  historyDays: number;
  /** Folded facts of orders, by first sight. @default 400 */
  ordersDays: number;
  /** @default 400 */
  callbacksDays: number;
  /** @default 30 */
  pollsDays: number;
  /** @default 90 */
  rejectsDays: number;
  /** Reports of the collectors about themselves and their gateways. @default 30 */
  statusDays: number;
  /** @default 400 */
  annotationsDays: number;
  /** Watched orders, counted from their last change: long after they settled. @default 400 */
  watchDays: number;
  /** One row a batch. @default 400 */
  ledgerDays: number;
}

export const DEFAULT_RETENTION_DAYS: RetentionDays = {
  historyDays: 400,
  ordersDays: 400,
  callbacksDays: 400,
  pollsDays: 30,
  rejectsDays: 90,
  statusDays: 30,
  annotationsDays: 400,
  watchDays: 400,
  ledgerDays: 400,
};

/**
 * Days by kind of row, from the settings: what belongs to an order's history is kept as long as the history.
 */
export function retentionDays(config: RetentionConfig): RetentionDays {
  const { historyDays, pollsDays, rejectsDays, statusDays } = config;
  return {
    historyDays,
    ordersDays: historyDays,
    callbacksDays: historyDays,
    pollsDays,
    rejectsDays,
    statusDays,
    annotationsDays: historyDays,
    watchDays: historyDays,
    ledgerDays: historyDays,
  };
}

/** Which column counts the age of a table's rows. */
const AGE: readonly {
  readonly table: string;
  readonly column: string;
  readonly days: keyof RetentionDays;
}[] = [
  { table: TABLES.historyEvents, column: 'event_time', days: 'historyDays' },
  { table: TABLES.settlements, column: 'settled_at', days: 'historyDays' },
  { table: TABLES.orders, column: 'first_seen_at', days: 'ordersDays' },
  { table: TABLES.callbackDeliveries, column: 'received_at', days: 'callbacksDays' },
  { table: TABLES.orderClaims, column: 'observed_at', days: 'pollsDays' },
  { table: FINDING_TABLES.findings, column: 'found_at', days: 'historyDays' },
  { table: 'callback_arrivals_store', column: 'received_at', days: 'callbacksDays' },
  { table: TABLES.polls, column: 'started_at', days: 'pollsDays' },
  { table: TABLES.rejects, column: 'rejected_at', days: 'rejectsDays' },
  { table: TABLES.rejectResolutions, column: 'resolved_at', days: 'rejectsDays' },
  { table: TABLES.watchRequests, column: 'received_at', days: 'watchDays' },
  { table: TABLES.collectorStatus, column: 'reported_at', days: 'statusDays' },
  { table: TABLES.gatewayStatus, column: 'reported_at', days: 'statusDays' },
  { table: GATEWAY_STATUS_BY_HOUR, column: 'hour', days: 'statusDays' },
  { table: TABLES.annotations, column: 'starts_at', days: 'annotationsDays' },
  { table: TABLES.alertStates, column: 'changed_at', days: 'annotationsDays' },
  { table: TABLES.alertSilences, column: 'created_at', days: 'annotationsDays' },
  { table: TABLES.alertEvaluations, column: 'as_of', days: 'historyDays' },
  { table: TABLES.orderWatch, column: 'updated_at', days: 'watchDays' },
  { table: TABLES.ingestLedger, column: 'acknowledged_at', days: 'ledgerDays' },
];

/** Tables that no retention touches: one row for each part of a job, setting or key. */
export const KEPT_FOR_EVER: ReadonlySet<TableKey> = new Set<TableKey>([
  'jobs',
  'alertSettings',
  'fingerprintKeys',
]);

/**
 * The ALTER statements that bring the tables' TTLs to what is configured; none when they are there already.
 * @param definitions by name, of tables that may have to be made first
 */
export async function planRetention(
  store: Store,
  configured: Partial<RetentionDays>,
  definitions: ReadonlyMap<string, string>,
): Promise<string[]> {
  const retention = { ...DEFAULT_RETENTION_DAYS, ...configured };
  const stored = await storedEngines(store);
  const statements: string[] = [];
  for (const { table, column, days } of AGE) {
    const wanted = retention[days];
    const definition = stored.get(table) ?? definitions.get(table);
    if (definition === undefined || wanted === daysIn(definition)) continue;
    // Without materialize, existing parts follow when they merge: altering a large table must not rewrite it
    // at start.
    const settings = 'SETTINGS materialize_ttl_after_modify = 0';
    statements.push(
      wanted === 0
        ? `ALTER TABLE ${table} REMOVE TTL`
        : `ALTER TABLE ${table} MODIFY TTL toDateTime(${column}) + toIntervalDay(${wanted}) ${settings}`,
    );
  }
  return statements;
}

/** Days of the TTL in a table's definition; 0: none, or one of another form. */
const daysIn = (definition: string): number =>
  Number(/\bTTL .*toIntervalDay\((\d+)\)/.exec(definition)?.[1] ?? 0);

async function storedEngines(store: Store): Promise<ReadonlyMap<string, string>> {
  const tables = await store.query<{ name: string; definition: string }>(
    'SELECT name, engine_full AS definition FROM system.tables WHERE database = {database:String}',
    { database: store.database },
    { database: 'system' },
  );
  return new Map(tables.map(({ name, definition }) => [name, definition]));
}
