import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decode } from '../../collector/decode/code.ts';
import { itemSpans, rootSpan } from '../../collector/decode/spans.ts';
import { CATALOGUE, ORDER_TYPES, OUTCOMES, REASONS } from '../../schemas/dictionary.ts';
import type { HistoryEventRow, OrderRow, SettlementRow } from '../../schemas/rows.ts';
import type { SpanData } from '../../schemas/span.ts';
import { createStore, type Store } from '../../store/store.ts';
import { historyEvent, NOON, settlement } from '../collector/sinks/support/rows.ts';
import { DATABASE } from '../../schemas/names.ts';
import { type TestStore, withEmbedded } from '../support/embedded.ts';
import { openDatabase } from '../support/migrated-store.ts';
import { closedOrder, orderRow } from '../support/order-row.ts';
import {
  fromOtelRow,
  fromTraceRow,
  inOrderOfIds,
  type OtelRow,
  type ComparableSpan,
  type TraceRow,
} from '../integration/support/comparable-spans.ts';

const WEEK = 7 * 86_400_000_000;
const READ = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };

/** Every failure of the catalogue, and codes of every kind. */
const ACTIONS = [
  ...CATALOGUE.map(({ action }) => action),
  ...REASONS.map(({ code }) => `4.2.2.${String(code).padStart(2, '0')}`),
  '4.2.2.18',
  '2.2.4.69',
  '1.2.3.4',
  '10.0.0.0',
  "it's \\ | a\ncode",
];

const text = fc.constantFrom('', 'p2p', "o'hara", 'naïve\\|x', 'שלום');
const anyItem: fc.Arbitrary<HistoryEventRow> = fc
  .record({
    gateway: fc.constantFrom('acme-eu', 'blue-pay'),
    order_type: fc.constantFrom(...ORDER_TYPES),
    external_id: fc.constantFrom('a', 'b|c', "d'\\e", 'ünïcode'),
    action: fc.constantFrom(...ACTIONS),
    at: fc.integer({ min: -WEEK, max: WEEK }),
    gap: fc.nat(100_000_000),
    late: fc.nat(1_000_000_000),
    occurrence: fc.nat(2),
    external_transaction_id: text,
    channel: text,
    source: fc.constantFrom('schedule', 'callback', 'probe'),
    read_span: fc.constantFrom('', `${READ.traceId}-${READ.spanId}`),
    called: fc.boolean(),
  })
  .map(({ at, gap, late, called, ...row }) => {
    const code = decode(row.action);
    const observed_at = NOON + at + late;
    return historyEvent({
      ...row,
      event_time: NOON + at,
      span_start: NOON + at - gap,
      observed_at,
      callback_at: called ? observed_at - 1_000 : null,
      code_format: code.format,
      stage: code.stage,
      result: code.result,
      state: code.state,
      reason_code: code.reasonCode,
      reason_group: code.reasonGroup,
      reason_detail: code.reasonDetail,
    });
  });

const identity = (row: HistoryEventRow): string =>
  JSON.stringify([row.gateway, row.order_type, row.external_id, row.event_time, row.action, row.occurrence]);
const order = (row: HistoryEventRow | SettlementRow): string =>
  JSON.stringify([row.gateway, row.order_type, row.external_id]);

const rows = [
  ...new Map(fc.sample(anyItem, { numRuns: 400, seed: 14 }).map((row) => [identity(row), row])).values(),
];
/** Every second order is closed. */
const closed = [...new Map(rows.map((row) => [order(row), row])).values()].filter((_, n) => n % 2 === 0);
const roots = closed.map((row, n) =>
  settlement({
    gateway: row.gateway,
    order_type: row.order_type,
    external_id: row.external_id,
    first_event_at: NOON - n,
    deciding_action: [...ACTIONS.slice(0, 4), null, '2.2.4.18', '4.1.4.63'][n % 7] ?? null,
    reason_detail: n % 3 === 0 ? null : 'TIMEOUT',
    outcome: OUTCOMES[n % OUTCOMES.length] ?? null,
    amount: ['100', '0.000000001', '-12.5', '12345678901234567890123456789', null][n % 5] ?? null,
    currency: n % 4 === 0 ? null : 'EUR',
    kind: n % 2 === 0 ? 'settled' : 'abandoned',
    status: n % 5 === 0 ? null : 'Failed',
  }),
);

const openOrders = (): OrderRow[] =>
  [...Map.groupBy(rows, order)].flatMap(([key, own]) => {
    const [row] = own;
    if (row === undefined || closed.some((one) => order(one) === key)) return [];
    const { gateway, order_type, external_id, external_transaction_id, channel } = row;
    return orderRow(
      { gateway, order_type, external_id, external_transaction_id, channel },
      own.map(({ event_time: time, action }) => ({ time, action })),
    );
  });

describe('the views of spans', () => {
  let embedded: TestStore;
  let store: Store;
  beforeAll(async () => {
    embedded = await withEmbedded();
    store = await openDatabase(embedded);
    await store.insert('historyEvents', rows);
    await store.insert('orders', [...roots.map(closedOrder), ...openOrders()]);
    // What is stored once more, by a restart, is a repetition: the first of each counts.
    const later = {
      observed_at: NOON + 3 * WEEK,
      source: 'reread',
      span_start: NOON - WEEK,
      callback_at: null,
    };
    await store.insert(
      'historyEvents',
      rows.slice(0, 200).map((row) => ({ ...row, ...later })),
    );
  });
  afterAll(async () => {
    await store.close();
    await embedded.stop();
  });

  const spans = inOrderOfIds([...itemSpans(rows), ...roots.map(rootSpan)].map(asExported));
  const traceTable = async (where = '1'): Promise<ComparableSpan[]> =>
    (await store.query<TraceRow>(`SELECT * FROM order_trace WHERE ${where}`)).map(fromTraceRow);
  const exportersTable = async (where = '1'): Promise<ComparableSpan[]> =>
    (await store.query<OtelRow>(`SELECT * FROM otel_traces WHERE ${where}`)).map(fromOtelRow);

  it('say of every span what is exported, whatever is in it', async () => {
    expect(inOrderOfIds(await exportersTable())).toEqual(spans);
    const shown = await traceTable();
    const open = (span: ComparableSpan) =>
      span.parentSpanId === '' && !('payment.closure' in span.attributes);
    expect(inOrderOfIds(shown.filter((span) => !open(span)))).toEqual(spans);
  });

  it('have a root for an order that is open, as far as it is known', async () => {
    const openOrder = rows.find((row) => !closed.some((one) => order(one) === order(row)));
    if (openOrder === undefined) throw new Error('every order is closed');
    const own = rows.filter((row) => order(row) === order(openOrder));
    const [root, ...others] = (await traceTable(`traceID = '${itemSpans([openOrder])[0]?.traceId}'`)).filter(
      ({ parentSpanId }) => parentSpanId === '',
    );
    expect(others).toEqual([]);
    expect(root).toMatchObject({
      start: Math.min(...own.map(({ event_time }) => event_time)),
      attributes: {
        'payment.history_items': String(own.length),
        'payment.external_id': openOrder.external_id,
      },
    });
    expect(Object.keys(root?.attributes ?? {})).not.toContain('payment.closure');
  });

  it('find a trace by its id, and by its id within its time range', async () => {
    for (const row of closed.slice(0, 3)) {
      const traceId = itemSpans([row])[0]?.traceId;
      const own = spans.filter((span) => span.traceId === traceId);
      expect(inOrderOfIds(await traceTable(`traceID = '${traceId}'`))).toEqual(own);
      expect(inOrderOfIds(await exportersTable(`TraceId = '${traceId}'`))).toEqual(own);
      const [times] = await store.query<{ Start: string; End: string }>(
        `SELECT Start, End FROM otel_traces_trace_id_ts WHERE TraceId = '${traceId}'`,
      );
      const items = own.filter(({ parentSpanId }) => parentSpanId !== '');
      const within = await exportersTable(
        `TraceId = '${traceId}' AND Timestamp >= '${times?.Start}' AND Timestamp <= '${times?.End}'`,
      );
      expect(inOrderOfIds(within.filter(({ parentSpanId }) => parentSpanId !== ''))).toEqual(items);
    }
  });
});

describe("what Grafana's data source asks of the exporter's tables", () => {
  it('is answered: a trace by its id, in milliseconds, and the newest traces of a time range', async () => {
    const embedded = await withEmbedded();
    const store = await openDatabase(embedded, { database: DATABASE });
    try {
      const [item, root] = [historyEvent(), settlement()];
      await store.insert('historyEvents', [item]);
      await store.insert('orders', [closedOrder(root)]);
      const traceId = itemSpans([item])[0]?.traceId;
      const reader = createStore({ ...embedded.reader, url: embedded.url, database: store.database });
      // The statements of its query builder, with the columns of OpenTelemetry.
      const byId = await reader.query(
        `WITH '${traceId}' AS trace_id,
          (SELECT min(Start) FROM otel_traces_trace_id_ts WHERE TraceId = trace_id) AS trace_start,
          (SELECT max(End) + 1 FROM otel_traces_trace_id_ts WHERE TraceId = trace_id) AS trace_end
        SELECT TraceId AS traceID, SpanId AS spanID, ParentSpanId AS parentSpanID, ServiceName AS serviceName, SpanName AS operationName,
          multiply(toUnixTimestamp64Nano(Timestamp), 0.000001) AS startTime, multiply(Duration, 0.000001) AS duration,
          arrayMap(key -> map('key', key, 'value', SpanAttributes[key]), mapKeys(SpanAttributes)) AS tags,
          if(StatusCode IN ('Error', 'STATUS_CODE_ERROR'), 2, 0) AS statusCode,
          arrayMap((name, at, attributes) -> tuple(name, toString(toUnixTimestamp64Milli(at)), arrayMap(key -> map('key', key, 'value', attributes[key]), mapKeys(attributes))),
            Events.Name, Events.Timestamp, Events.Attributes) AS logs
        FROM otel_traces WHERE traceID = trace_id AND Timestamp >= trace_start AND Timestamp <= trace_end ORDER BY parentSpanID DESC LIMIT 1000`,
      );
      expect(byId).toMatchObject([
        {
          startTime: NOON / 1000,
          duration: 250,
          statusCode: 2,
          logs: [['payment.item_read', String(NOON / 1000 + 2000), []]],
        },
        { startTime: NOON / 1000, duration: 250, operationName: 'payment Deposit' },
      ]);
      const newest = await reader.query(
        `SELECT TraceId AS traceID, ServiceName AS serviceName, SpanName AS operationName, Timestamp AS startTime, multiply(Duration, 0.000001) AS duration
        FROM otel_traces WHERE Timestamp >= fromUnixTimestamp64Milli(${NOON / 1000 - 1}) AND Timestamp <= fromUnixTimestamp64Milli(${NOON / 1000 + 1})
          AND ParentSpanId = '' AND Duration > 0 ORDER BY Timestamp DESC, Duration DESC LIMIT 1000`,
      );
      expect(newest).toMatchObject([{ traceID: traceId, serviceName: 'acme-eu', duration: 250 }]);
      await reader.close();
    } finally {
      await store.close();
      await embedded.stop();
    }
  });
});

/** A span as the collector exports it. */
function asExported(span: SpanData): ComparableSpan {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId ?? '',
    service: [span.service, 'gatewatch'],
    name: span.name,
    start: span.start,
    duration: span.end - span.start,
    failed: span.error !== null,
    message: span.error?.message ?? '',
    attributes: Object.fromEntries(
      Object.entries(span.attributes).map(([name, value]) => [name, String(value)]),
    ),
    events: span.events.map(({ name, at }) => [name, Math.floor(at / 1000)] as const),
    links: span.links.map(({ traceId, spanId }) => `${traceId}-${spanId}`),
  };
}
