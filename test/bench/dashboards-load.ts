import type { ClickHouseClient } from '@clickhouse/client';
import { REASON_GROUPS, REASONS, RESULTS, STAGES, STATES } from '../../schemas/dictionary.ts';
import { DATABASE, GATEWAY_STATUS_BY_HOUR, TABLES } from '../../schemas/names.ts';
import { COLUMNS, type OrderRow } from '../../schemas/rows.ts';
import { orderRow } from '../support/order-row.ts';

/**
 * Fills a store with rows as a shop's fortnight leaves them: three gateways, a dozen items an order, a day's
 * rise and fall, repeated checks, callbacks, our polls and the collectors' reports. Made inside the engine,
 * slice by slice in the order of time, as they would arrive; random ids, since order ids are.
 */

const DAYS = 14;
const SLICES_PER_DAY = 4;

/** Histories as [weight, [seconds after the start, code][]]; 12 items an order on the weighted average. */
const HISTORIES: readonly (readonly [number, readonly (readonly [number, string])[]])[] = [
  [62, paid(4)],
  [9, declined('4.1.4.63', 4)],
  [5, declined('4.1.4.61', 3)],
  [3, declined('4.1.4.41', 2)],
  [3, declined('4.1.4.00', 5)],
  [4, [...shown(), [70, '3.0.4.54'], [71, '3.0.1.52']]],
  [4, [...shown(), [45, '3.1.1.55'], [50, '3.2.4.56'], [55, '6.1.1.00']]],
  [2, [...created(), [2, '4.2.2.13'], [9, '4.2.2.13'], [60, '4.1.3.00']]],
  [3, [[0, '1.0.0.00'], [0, '1.1.1.00'], [1, '2.2.4.11']]],
  [2, [[0, '1.0.0.00'], [0, '1.2.4.32']]],
  [1, [...shown(), [45, '3.1.1.55'], [61, '5.2.2.16'], [80, '4.1.3.00'], [85, '6.1.1.00']]],
  [1, [[0, '1.0.0.00'], [0, '1.1.1.00'], [1, '2.2.4.22']]],
  [1, [...created(), [8, '4.2.2.18'], [9, '10.2.30.4'], [20, '4.1.3.00']]],
]; // prettier-ignore

type Item = readonly [number, string];
function created(): Item[] {
  return [[0, '1.0.0.00'], [0, '1.1.1.00'], [1, '2.1.1.00']]; // prettier-ignore
}
function shown(): Item[] {
  return [...created(), [2, '3.0.1.00'], [4, '3.0.1.51'], [20, '3.0.1.53']];
}
function checks(count: number): Item[] {
  return Array.from({ length: count }, (_, n): Item => [47 + n * 11, '4.2.2.13']);
}
function paid(repeated: number): Item[] {
  return [...shown(), [45, '3.1.1.55'], ...checks(repeated), [95, '4.1.3.00'], [96, '5.1.3.00'], [98, '6.1.1.00']]; // prettier-ignore
}
function declined(code: string, repeated: number): Item[] {
  return [...shown(), [45, '3.1.1.55'], ...checks(repeated), [95, code], [97, '6.1.1.00']];
}

const weights = HISTORIES.map(([weight]) => weight);
const cumulative = weights.map((_, n) => weights.slice(0, n + 1).reduce((sum, weight) => sum + weight, 0));
const TOTAL = cumulative.at(-1) ?? 1;
const ITEMS_PER_ORDER = HISTORIES.reduce((sum, [weight, items]) => sum + weight * items.length, 0) / TOTAL;

const enumOf = (entries: readonly { code: number; name: string }[], value: string): string =>
  `transform(${value}, [${entries.map(({ code }) => code).join(', ')}], [${entries.map(({ name }) => `'${name}'`).join(', ')}], NULL)`;

/** @returns how many rows of each kind are there, duplicates included. */
export async function loadDashboardRows(
  writer: ClickHouseClient,
  {
    rows,
    endMs,
    progress,
    days = DAYS,
    areMerged = true,
    failingChecks = 1,
  }: {
    rows: number;
    endMs: number;
    progress: (text: string) => void;
    /** How long the history is. @default 14 */
    days?: number;
    /** As years of merges leave it, and then the last hours once more. @default true */
    areMerged?: boolean;
    /** Of orders whose status is checked, the share 0..1 whose checks fail. @default 1 */
    failingChecks?: number;
  },
): Promise<{ orders: number; items: number }> {
  const orders = Math.round(rows / ITEMS_PER_ORDER);
  const slices = Math.max(1, Math.round(days * SLICES_PER_DAY));
  const sliceS = (days * 86_400) / slices;
  const beginS = Math.floor(endMs / 1000) - days * 86_400;
  for (let slice = 0; slice < slices; slice += 1) {
    const first = Math.floor((orders * slice) / slices);
    const count = Math.floor((orders * (slice + 1)) / slices) - first;
    const source = ordersSql(first, count, beginS + slice * sliceS, sliceS);
    for (const query of statements(source, endMs, failingChecks))
      await writer.command({ query, clickhouse_settings: SETTINGS });
    if (slice % SLICES_PER_DAY === 0) progress(`day ${slice / SLICES_PER_DAY + 1} of ${days}`);
  }
  // As years of merges leave it: each partition one part, in which the table's own order has taken over from
  // the time's.
  for (const table of areMerged ? [...SORTED_BY_ORDER, 'callback_arrivals_store'] : [])
    await writer.command({
      query: `OPTIMIZE TABLE ${DATABASE}.${table} FINAL`,
      clickhouse_settings: SETTINGS,
    });
  progress('merged');
  // A restart reads the last hours again: what is there comes twice, later.
  if (areMerged) await writer.command({ query: againSql(endMs), clickhouse_settings: SETTINGS });
  for (const query of [
    ...reportsSql(endMs, days),
    // The one of reports by hour is merged all day long.
    `OPTIMIZE TABLE ${DATABASE}.${GATEWAY_STATUS_BY_HOUR} FINAL`,
  ])
    await writer.command({ query, clickhouse_settings: SETTINGS });
  return { orders, items: Math.round(orders * ITEMS_PER_ORDER) };
}

const SORTED_BY_ORDER = [TABLES.historyEvents, TABLES.callbackDeliveries, TABLES.polls, 'orders_store'];
const SETTINGS = { async_insert: 0, max_partitions_per_insert_block: '0', optimize_on_insert: 0 } as const;

/** One row an order: who, when (`t`, seconds) and which history. */
function ordersSql(first: number, count: number, fromS: number, lengthS: number): string {
  return `SELECT number AS n, sipHash64(number) AS h,
      arrayElement(['acme-eu', 'acme-eu', 'acme-eu', 'blue-pay', 'blue-pay', 'card-hub'], 1 + h % 6) AS gateway,
      if(intDiv(h, 7) % 5 = 0, 'Withdrawal', 'Deposit') AS order_type,
      toString(reinterpretAsUUID(sipHash128(number))) AS external_id,
      arrayElement(['card', 'card', 'p2p', 'widget'], 1 + intDiv(h, 11) % 4) AS channel,
      ${fromS} + (number - ${first}) * ${lengthS / Math.max(count, 1)} AS t,
      arrayFirstIndex(c -> c > intDiv(h, 101) % ${TOTAL}, [${cumulative.join(', ')}]) AS kind
    FROM numbers(${first}, ${count})`;
}

const CHECK_FAILED = '4.2.2.13';
const INSTEAD = '3.0.1.53';
/** Orders take longer or shorter. */
const SCALE = '(0.5 + (h % 1000) / 700)';

/** Each history, with its failing checks and without: what the collector's fold makes of it. */
const FOLDED: readonly OrderRow[] = HISTORIES.flatMap(([, items]) =>
  [CHECK_FAILED, INSTEAD].map((check) =>
    orderRow(
      {},
      items.map(([second, code]) => ({
        time: second * 1e6,
        action: code === CHECK_FAILED ? check : code,
      })),
    ),
  ),
);

/** @param orders with `scale`, and `variant`: the place in FOLDED, from 1 */
function orderRowsSql(orders: string): string {
  const known = new Set(['gateway', 'order_type', 'external_id', 'external_transaction_id', 'channel']);
  const said = new Set([
    'status',
    'amount',
    'amount_source',
    'currency',
    'currency_source',
    'first_seen_at',
    'observed_at',
    'settled_at',
    'abandoned_at',
  ]);
  const time = (micros: unknown): string => (micros === null ? 'NULL' : String(Number(micros) / 1e6));
  const literal = (value: unknown): string =>
    Array.isArray(value)
      ? `[${value.map(literal).join(', ')}]`
      : typeof value === 'string'
        ? `'${value}'`
        : String(value);
  const columns = (Object.entries(COLUMNS.orders) as [keyof OrderRow, string][]).filter(
    ([name]) => !known.has(name) && !said.has(name),
  );
  const values = columns.map(([name, kind]) => {
    const all = FOLDED.map((row) => row[name]);
    if (kind === 'micros?')
      return `toDateTime64(t + arrayElement([${all.map(time).join(', ')}], variant) * scale, 6, 'UTC')`;
    if (kind === 'micros[]') {
      const lists = all.map((list) => `[${(list as readonly number[]).map(time).join(', ')}]`).join(', ');
      return `arrayMap(s -> toDateTime64(t + s * scale${name === 'history.observed_at' ? ' + 2 + h % 9' : ''}, 6, 'UTC'), arrayElement([${lists}], variant))`;
    }
    return `arrayElement([${all.map(literal).join(', ')}], variant)`;
  });
  return `INSERT INTO ${DATABASE}.${TABLES.orders}
      (gateway, order_type, external_id, channel, external_transaction_id, first_seen_at, observed_at, status, amount, amount_source, currency, currency_source,
       ${columns.map(([name]) => name).join(', ')})
    SELECT gateway, order_type, external_id, channel, concat('merchant-', toString(n)), toDateTime64(t + 1, 6, 'UTC'), toDateTime64(t + 110, 6, 'UTC'),
      if(kind = 1, 'Success', 'Failed'), 10 + h % 5000, 'status', 'EUR', 'status',
      ${values.join(',\n      ')}
    FROM (${orders})`;
}

function statements(orders: string, endMs: number, failingChecks: number): string[] {
  const end = `toDateTime64(${endMs / 1000}, 6, 'UTC')`;
  const histories = HISTORIES.map(
    ([, items]) => `[${items.map(([second, code]) => `(toFloat64(${second}), '${code}')`).join(', ')}]`,
  ).join(', ');
  // An item in the place of each check that does not fail, so that there are as many.
  const fails = `(intDiv(h, 1009) % 1000 < ${failingChecks * 1000})`;
  const checked = `if(item.2 = '${CHECK_FAILED}' AND NOT ${fails}, '${INSTEAD}', item.2)`;
  return [
    `INSERT INTO ${DATABASE}.${TABLES.historyEvents}
      (gateway, order_type, external_id, event_time, action, occurrence, external_transaction_id, channel, code_format, stage, result,
       state, reason_code, reason_group, reason_detail, list_position, span_start, observed_at, source, collector_id, batch_seq)
    SELECT gateway, order_type, external_id, event_time, action, 0, concat('merchant-', toString(n)), channel,
      if(v2, 'v2', 'legacy'),
      ${enumOf(STAGES, 'a')}, ${enumOf(RESULTS, 'c')}, ${enumOf(STATES, 'b')}, if(v2, rr, NULL),
      if(v2, multiIf(${REASON_GROUPS.map(({ name, from, to }) => `rr BETWEEN ${from} AND ${to}, '${name}'`).join(', ')}, NULL), NULL),
      if(v2, transform(rr, [${REASONS.map(({ code }) => code).join(', ')}], [${REASONS.map(({ detail }) => `'${detail}'`).join(', ')}], concat('UNKNOWN_', toString(rr))), NULL),
      position, event_time, event_time + toIntervalMillisecond(2000 + h % 9000), 'status', concat('collector-', toString(1 + h % 2)), intDiv(n, 500)
    FROM
    (
      SELECT n, h, gateway, order_type, external_id, channel, ${checked} AS action, position,
        toDateTime64(t + item.1 * ${SCALE}, 6, 'UTC') AS event_time,
        splitByChar('.', action) AS parts, length(parts[4]) = 2 AS v2,
        toUInt8(parts[1]) * v2 AS a, if(v2, toInt8(parts[2]), -1) AS c, if(v2, toInt8(parts[3]), -1) AS b, toUInt8(parts[4]) AS rr
      FROM (SELECT *, arrayElement([${histories}], kind) AS items FROM (${orders}))
      ARRAY JOIN items AS item, arrayEnumerate(items) AS place, range(length(items)) AS position
    )
    WHERE event_time < ${end}`,
    orderRowsSql(
      `SELECT *, ${SCALE} AS scale, 2 * kind - ${fails} AS variant FROM (${orders}) WHERE t + 110 < ${endMs / 1000}`,
    ),
    `INSERT INTO ${DATABASE}.${TABLES.orderClaims} (gateway, order_type, external_id, observed_at, kind, status, amount, currency)
    SELECT gateway, order_type, external_id, toDateTime64(t + 110, 6, 'UTC'), 'status_reply', if(kind = 1, 'Success', 'Failed'), 10 + h % 5000, 'EUR'
    FROM (${orders}) WHERE t + 110 < ${endMs / 1000}`,
    `INSERT INTO ${DATABASE}.${TABLES.callbackDeliveries}
      (gateway, content_hash, delivery_id, received_at, verdict, external_id, status, amount, order_type, currency, source, collector_id, batch_seq)
    SELECT gateway, SHA256(concat(external_id, status)), concat('d-', toString(n), status), toDateTime64(t + later, 6, 'UTC'),
      if(h % 97 = 0, 'mismatch', 'valid'), external_id, status, '10.00', order_type, 'EUR', 'kafka', 'collector-1', intDiv(n, 500)
    FROM (${orders}) ARRAY JOIN ['Processing', 'Success'] AS status, [2, 98] AS later
    WHERE (status = 'Processing' OR kind < 6) AND t + later < ${endMs / 1000}`,
    `INSERT INTO ${DATABASE}.${TABLES.polls}
      (gateway, started_at, poll_id, endpoint, order_type, order_id, id_kind, cause, http_status, outcome, error_type, duration_ms, lateness_ms, collector_id, batch_seq)
    SELECT gateway, toDateTime64(t + later, 6, 'UTC'), concat(toString(n), '-', toString(later)), 'status', order_type, external_id, 'external-id',
      'schedule', if(bad, 503, 200), if(bad, 'unknown', 'ok'), if(bad, 'http_503', ''), 40 + h % 900, h % 700, 'collector-1', intDiv(n, 500)
    FROM (SELECT *, intDiv(h, 13) % 50 = 0 AS bad FROM (${orders})) ARRAY JOIN [2, 7, 22, 67, 160, 340, 730] AS later
    WHERE t + later < ${endMs / 1000}`,
  ];
}

function againSql(endMs: number): string {
  const columns =
    'gateway, order_type, external_id, event_time, action, occurrence, external_transaction_id, channel, code_format, stage, result, ' +
    'state, reason_code, reason_group, reason_detail, list_position, span_start';
  return `INSERT INTO ${DATABASE}.${TABLES.historyEvents} (${columns}, observed_at, source, collector_id, batch_seq)
    SELECT ${columns}, observed_at + toIntervalMinute(3), source, 'collector-1', batch_seq + 1000000
    FROM ${DATABASE}.${TABLES.historyEvents} WHERE event_time >= toDateTime64(${endMs / 1000 - 3 * 3600}, 6, 'UTC')`;
}

function reportsSql(endMs: number, days: number): string[] {
  const reports = `SELECT toDateTime64(${endMs / 1000} - number * 15, 6, 'UTC') AS at FROM numbers(${Math.round(days * 5760)})`;
  return [
    `INSERT INTO ${DATABASE}.${TABLES.gatewayStatus}
      (gateway, collector_id, reported_at, watermark_at, watched_orders, due_orders, circuits_open, last_reply_at,
       requests_per_second, requests_per_second_limit, requests_in_flight, concurrency_limit)
    SELECT gateway, collector, at, at - toIntervalMillisecond(700), 900, 3, 0, at, 2 + toSecond(at) % 9, 50, toSecond(at) % 7, 16
    FROM (${reports}) ARRAY JOIN ['acme-eu', 'blue-pay', 'card-hub', 'acme-eu', 'blue-pay', 'card-hub'] AS gateway,
      ['collector-1', 'collector-1', 'collector-1', 'collector-2', 'collector-2', 'collector-2'] AS collector`,
    `INSERT INTO ${DATABASE}.${TABLES.collectorStatus}
      (collector_id, reported_at, version, started_at, consumer_lag, last_progress_at, watched_orders, due_orders, lateness_p99_ms,
       circuits_open, rejects_total, duplicates_total, retries_total, spans_exported_total, span_backlog, memory_bytes)
    SELECT collector, at, '0.1.0', toDateTime64(${endMs / 1000 - days * 86_400}, 6, 'UTC'), 3, at, 1300, 4, 320, 0, 5, 70, 0, 100000, 2, 300000000
    FROM (${reports}) ARRAY JOIN ['collector-1', 'collector-2'] AS collector`,
    `INSERT INTO ${DATABASE}.${TABLES.rejects} (gateway, reason, reject_id, rejected_at, source)
    SELECT 'acme-eu', 'reply_truncated', toString(number), toDateTime64(${endMs / 1000} - number * 600, 6, 'UTC'), 'status' FROM numbers(2000)`,
  ];
}
