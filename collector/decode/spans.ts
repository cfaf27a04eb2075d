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
import { readSpanRef, type Attributes, type SpanData, type SpanEvent } from '../../schemas/span.ts';
import { itemSpanId, rootSpanId, traceId, type OrderIdentity } from './ids.ts';
import { sharing } from './sharing.ts';

/**
 * The spans of history items: each from the item before it, as first seen, to the item (decision 6). What
 * items of one order have in common is computed once, and so is what follows from a code.
 */
export function itemSpans(rows: readonly HistoryEventRow[]): SpanData[] {
  const orderOf = sharing(ORDER_COLUMNS, (row: HistoryEventRow) => {
    const identity = identityOf(row);
    return {
      identity,
      traceId: traceId(identity),
      rootSpanId: rootSpanId(identity),
      attributes: attributesOf(row, ORDER_ATTRIBUTES),
    };
  });
  const saidBy = sharing(ITEM_COLUMNS, (row: HistoryEventRow) => ({
    name: String(SPAN_NAMES.item.of(row)),
    error: FAILED.item.of(row) ? failureOf(row.action, row.reason_detail) : null,
    attributes: attributesOf(row, ITEM_ATTRIBUTES),
  }));
  return rows.map((row) => {
    const order = orderOf(row);
    const said = saidBy(row);
    const read = readSpanRef(row.read_span);
    return {
      traceId: order.traceId,
      spanId: itemSpanId(order.identity, {
        eventTime: row.event_time,
        action: row.action,
        occurrence: row.occurrence,
      }),
      parentSpanId: order.rootSpanId,
      service: row.gateway,
      name: said.name,
      start: row.span_start,
      end: row.event_time,
      error: said.error,
      attributes: { ...order.attributes, ...said.attributes },
      events: eventsOf(row),
      links: read === null ? [] : [read],
    };
  });
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

/** What all items of an order have in common; the id first, which distinguishes most orders. */
const ORDER_COLUMNS = [
  'external_id',
  'gateway',
  'order_type',
  'external_transaction_id',
  'channel',
] as const satisfies readonly (keyof HistoryEventRow)[];

const isOfOrder = ({ columns }: Reading<HistoryEventRow>): boolean =>
  columns.every((column) => (ORDER_COLUMNS as readonly string[]).includes(column));
const ON_ITEMS: Named<HistoryEventRow> = SPAN_ATTRIBUTES.flatMap(({ name, item }) =>
  item === undefined ? [] : [[name, item]],
);
const ORDER_ATTRIBUTES = ON_ITEMS.filter(([, reading]) => isOfOrder(reading));
const ITEM_ATTRIBUTES = ON_ITEMS.filter(([, reading]) => !isOfOrder(reading));
/** All that the name, the status and those attributes follow from. */
const ITEM_COLUMNS: readonly (keyof HistoryEventRow)[] = [
  ...new Set<keyof HistoryEventRow>([
    'action',
    'reason_detail',
    ...SPAN_NAMES.item.columns,
    ...FAILED.item.columns,
    ...ITEM_ATTRIBUTES.flatMap(([, { columns }]) => columns),
  ]),
];
const ROOT_ATTRIBUTES: Named<SettlementRow> = SPAN_ATTRIBUTES.flatMap(({ name, root }) =>
  root === undefined ? [] : [[name, root]],
);

function attributesOf<Row>(row: Row, named: Named<Row>): Attributes {
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
