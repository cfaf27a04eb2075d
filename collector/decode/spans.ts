import type { OrderType } from '../../schemas/dictionary.ts';
import type { HistoryEventRow, SettlementRow } from '../../schemas/rows.ts';
import {
  FAILED,
  FAILURE_MESSAGE,
  ITEM_EVENTS,
  SPAN_ATTRIBUTES,
  SPAN_NAMES,
} from '../../schemas/span-contract.ts';
import type { Reading } from '../../schemas/span-readings.ts';
import { readSpanRef, type SpanData, type SpanEvent } from '../../schemas/span.ts';
import { itemSpanId, rootSpanId, traceId, type OrderIdentity } from './ids.ts';

/** The span of one history item: from the item before it, as first seen, to the item (decision 6). */
export function itemSpan(row: HistoryEventRow): SpanData {
  const order = identityOf(row);
  const read = readSpanRef(row.read_span);
  return {
    traceId: traceId(order),
    spanId: itemSpanId(order, { eventTime: row.event_time, action: row.action, occurrence: row.occurrence }),
    parentSpanId: rootSpanId(order),
    service: row.gateway,
    name: String(SPAN_NAMES.item.of(row)),
    start: row.span_start,
    end: row.event_time,
    error: FAILED.item.of(row) ? failureOf(row.action, row.reason_detail) : null,
    attributes: attributesOf(row, ITEM_ATTRIBUTES),
    events: eventsOf(row),
    links: read === null ? [] : [read],
  };
}

/** The root span of an order: from its first item to its last, sent when the order settles or is given up. */
export function rootSpan(row: SettlementRow): SpanData {
  const order = identityOf(row);
  return {
    traceId: traceId(order),
    spanId: rootSpanId(order),
    parentSpanId: null,
    service: row.gateway,
    name: String(SPAN_NAMES.root.of(row)),
    start: row.first_event_at,
    end: row.last_event_at,
    error: FAILED.root.of(row) ? failureOf(row.deciding_action ?? '', row.reason_detail) : null,
    attributes: attributesOf(row, ROOT_ATTRIBUTES),
    events: [],
    links: [],
  };
}

type Named<Row> = readonly (readonly [name: string, reading: Reading<Row>])[];

const ITEM_ATTRIBUTES: Named<HistoryEventRow> = SPAN_ATTRIBUTES.flatMap(({ name, item }) =>
  item === undefined ? [] : [[name, item]],
);
const ROOT_ATTRIBUTES: Named<SettlementRow> = SPAN_ATTRIBUTES.flatMap(({ name, root }) =>
  root === undefined ? [] : [[name, root]],
);

function attributesOf<Row>(row: Row, named: Named<Row>): SpanData['attributes'] {
  const attributes: Record<string, string | number | boolean> = {};
  for (const [name, reading] of named) {
    const value = reading.of(row);
    if (value !== null && value !== '') attributes[name] = value;
  }
  return attributes;
}

function eventsOf(row: HistoryEventRow): SpanEvent[] {
  const events: SpanEvent[] = [];
  for (const { name, column } of ITEM_EVENTS) {
    const at = row[column];
    if (at !== null) events.push({ at, name });
  }
  return events;
}

const failureOf = (code: string, detail: string | null) => ({ message: FAILURE_MESSAGE.of(code, detail) });

interface OrderColumns {
  readonly gateway: string;
  readonly order_type: string;
  readonly external_id: string;
}

function identityOf(row: OrderColumns): OrderIdentity {
  return { gateway: row.gateway, orderType: row.order_type as OrderType, externalId: row.external_id };
}
