import { COLUMNS, REJECT_REASONS } from '../../schemas/rows.ts';
import { TABLES, VIEWS } from '../../schemas/names.ts';
import { SHOWN, type Check, type Query } from './report.ts';

const POLL_KEY = 'gateway, started_at, poll_id';
const HISTORY_KEY = 'event_time, gateway, order_type, external_id, action, occurrence';

/**
 * Columns that say when and by which way a row came, or what was known then: versions of one identity may
 * differ in them.
 */
const OF_ARRIVAL = new Set([
  'external_transaction_id',
  'channel',
  'list_position',
  'span_start',
  'observed_at',
  'source',
  'callback_at',
  'read_span',
]);

const HISTORY_CONTENT = Object.keys(COLUMNS.historyEvents).filter((name) => !OF_ARRIVAL.has(name));
/** A verdict may differ between two reads, since keys are changed; what was signed may not. */
const CALLBACK_CONTENT = ['body_bytes', 'external_id', 'status', 'amount', 'order_type', 'currency'];
const POLL_CONTENT = Object.keys(COLUMNS.polls);

/** Rows of one identity are versions of one thing: whichever wins, it says the same. */
interface Versions {
  readonly table: string;
  readonly key: string;
  readonly name: string;
  /** Columns in which versions must agree. */
  readonly content: readonly string[];
  /** True for a group of rows that say different things. @default one of `content` differs */
  readonly differ?: string;
}

const differIn = (columns: readonly string[]) => {
  const hash = `cityHash64(${columns.map((column) => `ifNull(toString(${column}), '')`).join(', ')})`;
  return `min(${hash}) != max(${hash})`;
};

const VERSIONS: readonly Versions[] = [
  {
    table: TABLES.historyEvents,
    key: HISTORY_KEY,
    name: `concat(gateway, '|', toString(order_type), '|', external_id, ' ', toString(event_time), ' ', action)`,
    content: HISTORY_CONTENT,
  },
  {
    table: TABLES.callbackDeliveries,
    key: 'gateway, content_hash, delivery_id',
    name: `concat(gateway, '|', lower(hex(content_hash)), ' ', delivery_id)`,
    content: CALLBACK_CONTENT,
    // What one read made out and another did not (a decoder was mended meanwhile) is no contradiction.
    differ: CALLBACK_CONTENT.map((column) => `min(${column}) != max(${column})`).join(' OR '),
  },
  {
    table: TABLES.polls,
    key: POLL_KEY,
    name: `concat(gateway, '|', poll_id)`,
    content: POLL_CONTENT,
  },
];

const unknownReasons = `SELECT DISTINCT reason AS name FROM ${TABLES.rejects} WHERE reason NOT IN {reasons:Array(String)}`;

/** Rows that a view shows against identities that its table holds, of what came in before a moment. */
const onceInView = (view: string, table: string, key: string, at: string) => ({
  view,
  sql: `SELECT
    (SELECT count() FROM ${view} WHERE ${at} < fromUnixTimestamp64Micro({until:Int64})) AS shown,
    (SELECT uniqExact(cityHash64(${key})) FROM ${table} WHERE ${at} < fromUnixTimestamp64Micro({until:Int64})) AS held`,
});

const VIEWS_TO_CHECK = [
  onceInView(VIEWS.historyEvents, TABLES.historyEvents, HISTORY_KEY, 'observed_at'),
  onceInView(VIEWS.polls, TABLES.polls, POLL_KEY, 'started_at'),
  onceInView(VIEWS.rejects, TABLES.rejects, 'gateway, reason, reject_id', 'rejected_at'),
  onceInView(VIEWS.watchRequests, TABLES.watchRequests, 'gateway, order_id, request_id', 'received_at'),
];

/** Groups that outgrow this memory go on on the disk. */
const SETTINGS = { max_bytes_before_external_group_by: 2_000_000_000 };

/**
 * Groups by a hash of the key, which is several times faster than by the key. Two keys of one hash look like
 * a difference: only where there is one are the keys themselves grouped.
 */
export async function auditContent(query: Query): Promise<Check> {
  let violations = 0;
  const offenders: string[] = [];
  for (const { table, key, name, content, differ } of VERSIONS) {
    const suspects = `SELECT '' AS name FROM ${table} GROUP BY cityHash64(${key}) HAVING ${differIn(content)}`;
    if ((await list(query, suspects)).violations === 0) continue;
    const exactly = `SELECT any(${name}) AS name FROM ${table} GROUP BY ${key} HAVING ${differ ?? differIn(content)}`;
    const found = await list(query, exactly);
    violations += found.violations;
    offenders.push(...found.offenders);
  }
  return { check: 'no two versions of one thing differ', violations, offenders: offenders.slice(0, SHOWN) };
}

export async function auditViews(query: Query, untilMicros: number): Promise<Check> {
  const offenders: string[] = [];
  let violations = 0;
  for (const { view, sql } of VIEWS_TO_CHECK) {
    const [row] = await query<{ shown: number; held: number }>(sql, { until: untilMicros }, SETTINGS);
    const { shown = 0, held = 0 } = row ?? {};
    violations += Math.abs(shown - held);
    if (shown !== held) offenders.push(`${view}: shows ${shown}, its table holds ${held}`);
  }
  return { check: 'views show each thing once', violations, offenders };
}

export async function auditReasons(query: Query): Promise<Check> {
  const found = await list(query, unknownReasons, { reasons: REJECT_REASONS });
  return { check: 'rejects have a reason of the closed set', ...found };
}

async function list(
  query: Query,
  sql: string,
  params: Readonly<Record<string, unknown>> = {},
): Promise<Omit<Check, 'check'>> {
  const [row] = await query<{ violations: number; offenders: string[] }>(
    `SELECT count() AS violations, groupArray(${SHOWN})(name) AS offenders FROM (${sql})`,
    params,
    SETTINGS,
  );
  return row ?? { violations: 0, offenders: [] };
}
