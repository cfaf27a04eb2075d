import { parseArgs } from 'node:util';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { DATABASE, TABLES, VIEWS } from '../../schemas/names.ts';
import { createMigrator } from '../../store/migrate.ts';
import { createStore } from '../../store/store.ts';
import { withBenchStore } from './bench-store.ts';
import { loadDashboardRows } from './dashboards-load.ts';

/**
 * What finding traces costs at the reader's door: rows read of all that are stored, and milliseconds (median
 * of five). `node test/bench/traces.ts [--rows 1000000] [--json]`. Spans of every order that is closed come
 * on top of the items.
 */

interface Lookup {
  readonly what: string;
  readonly sql: string;
}

interface Figure extends Pick<Lookup, 'what'> {
  readonly readRows: number;
  readonly ms: number;
  readonly spans: number;
}

const { values } = parseArgs({
  options: { rows: { type: 'string', default: '1000000' }, json: { type: 'boolean', default: false } },
});
const HOUR_MS = 3_600_000;
const endMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;

async function main(): Promise<void> {
  const embedded = await withBenchStore();
  try {
    const login = {
      url: embedded.url,
      log: { level: ClickHouseLogLevel.OFF },
      request_timeout: 600_000,
    } as const;
    const store = createStore({ url: embedded.url, ...embedded.writer });
    await createMigrator({ store }).run();
    const writer = createClient({ ...login, ...embedded.writer });
    const progress = (text: string) => console.error(text);
    const { items, orders } = await loadDashboardRows(writer, { rows: Number(values.rows), endMs, progress });
    for (const query of [closeOrdersSql(), ...['settlements_store', 'settlements_by_time_store'].map(merge)])
      await writer.command({ query });
    const reader = createClient({ ...login, ...embedded.reader, database: DATABASE });
    const figures: Figure[] = [];
    for (const lookup of await lookups(reader)) figures.push(await measure(reader, lookup));
    await Promise.all([writer.close(), reader.close(), store.close()]);
    if (values.json) console.log(JSON.stringify({ items, orders, figures }, null, 2));
    else {
      console.log(`${items} items of ${orders} orders`);
      console.table(figures);
    }
  } finally {
    await embedded.stop();
  }
}

function closeOrdersSql(): string {
  return `INSERT INTO ${DATABASE}.${TABLES.settlements}
    (gateway, order_type, external_id, settled_at, kind, status, outcome, reason_group, reason_detail, history_items,
     external_transaction_id, channel, first_event_at, last_event_at, collector_id, batch_seq, deciding_action, amount, currency)
  SELECT gateway, order_type, external_id, max(event_time) + toIntervalMinute(11), 'settled', 'Success', 'succeeded', 'NONE', 'UNSPECIFIED',
    count(), any(external_transaction_id), any(channel), min(event_time), max(event_time), 'collector-1', 1, '4.1.3.00', 100, 'EUR'
  FROM ${DATABASE}.${VIEWS.historyEvents}
  GROUP BY gateway, order_type, external_id
  SETTINGS max_partitions_per_insert_block = 0`;
}

function merge(table: string): string {
  return `OPTIMIZE TABLE ${DATABASE}.${table} FINAL`;
}

/** As Grafana, its data source and people ask. */
async function lookups(reader: ClickHouseClient): Promise<Lookup[]> {
  const result = await reader.query({
    query: `SELECT external_id AS id, trace_id AS trace, toString(span_start) AS at FROM order_timeline
      WHERE external_id IN (SELECT external_id FROM orders WHERE created_at < toDateTime('${iso(endMs - 30 * HOUR_MS)}', 'UTC') ORDER BY created_at DESC LIMIT 1)
      ORDER BY event_time LIMIT 1`,
    format: 'JSONEachRow',
  });
  const [one] = await result.json<{ id: string; trace: string; at: string }>();
  if (one === undefined) throw new Error('no order was loaded');
  const { id, trace, at } = one;
  const times = `otel_traces_trace_id_ts WHERE TraceId = '${trace}'`;
  const hour = (column: string) =>
    `${column} >= toDateTime('${iso(endMs - 30 * HOUR_MS)}', 'UTC') AND ${column} < toDateTime('${iso(endMs - 29 * HOUR_MS)}', 'UTC')`;
  return [
    { what: 'order_trace of an order', sql: `SELECT * FROM order_trace WHERE external_id = '${id}'` },
    { what: 'order_trace by trace id', sql: `SELECT * FROM order_trace WHERE traceID = '${trace}'` },
    { what: 'otel_traces_trace_id_ts by trace id', sql: `SELECT * FROM ${times}` },
    { what: 'otel_traces by trace id alone', sql: `SELECT * FROM otel_traces WHERE TraceId = '${trace}'` },
    {
      what: 'otel_traces by trace id and its time range',
      sql: `WITH (SELECT min(Start) FROM ${times}) AS trace_start, (SELECT max(End) + 1 FROM ${times}) AS trace_end
        SELECT * FROM otel_traces WHERE TraceId = '${trace}' AND Timestamp >= trace_start AND Timestamp <= trace_end`,
    },
    {
      what: 'otel_traces by trace id within a day',
      sql: `SELECT * FROM otel_traces WHERE TraceId = '${trace}' AND Timestamp BETWEEN toDateTime64('${at}', 6, 'UTC') - toIntervalHour(12) AND toDateTime64('${at}', 6, 'UTC') + toIntervalHour(12)`,
    },
    {
      what: 'otel_traces, roots of an hour with an error or longer than a minute',
      sql: `SELECT TraceId, ServiceName, SpanName, Timestamp, Duration FROM otel_traces WHERE ${hour('Timestamp')} AND ParentSpanId = '' AND (StatusCode = 'Error' OR Duration > 60000000000) ORDER BY Timestamp DESC LIMIT 1000`,
    },
    {
      what: 'otel_traces, errors of an hour by service and span name',
      sql: `SELECT ServiceName, SpanName, count() AS spans FROM otel_traces WHERE ${hour('Timestamp')} AND StatusCode = 'Error' GROUP BY ALL`,
    },
    { what: 'items in all, for comparison', sql: 'SELECT count() AS spans FROM history_events' },
  ];
}

const iso = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

async function measure(reader: ClickHouseClient, { what, sql }: Lookup): Promise<Figure> {
  const times: number[] = [];
  let readRows = 0;
  let spans = 0;
  for (let round = 0; round < 5; round += 1) {
    const from = performance.now();
    const result = await reader.query({ query: sql, format: 'JSON' });
    const { rows, statistics } = await result.json<object>();
    times.push(performance.now() - from);
    readRows = statistics?.rows_read ?? 0;
    spans = rows ?? 0;
  }
  return { what, readRows, ms: Math.round(times.toSorted((a, b) => a - b)[2] ?? 0), spans };
}

if (import.meta.main) await main();
